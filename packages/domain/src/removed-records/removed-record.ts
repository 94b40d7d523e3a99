import type { EventType } from '../events.ts'

/** Kinds of record that are soft-removed, and so can be restored or purged; what holds others comes first. */
export const REMOVABLE_KINDS = [
  'organization',
  'member',
  'threat_blocker',
  'vpn_profile',
  'security_framework',
] as const satisfies (EventType extends infer Type ? (Type extends `${infer Kind}.purged` ? Kind : never) : never)[]
/** One of `REMOVABLE_KINDS`. */
export type RemovableKind = (typeof REMOVABLE_KINDS)[number]

/** A record that was soft-removed. */
export type RemovedRecord = {
  kind: RemovableKind
  id: number
  organization: number
  /** What the audit trail calls it: the id, or the person's for a member. */
  record: string
  /** What a person knows it by: a name, title or address. */
  name: string
  /** ISO 8601, UTC. */
  removed_at: string
}
