import mitt, { type Emitter } from 'mitt'
import type { Actor } from './access/caller.ts'
import { OPERATOR } from './access/caller.ts'
import { noticeOf } from './notifications/notices.ts'
import type { Needs, Stores } from './ports.ts'

/** Everything that can change, in the past tense. */
export type EventType =
  | 'user.registered'
  | 'token.issued'
  | 'token.revoked'
  | 'organization.created'
  | 'organization.edited'
  | 'organization.removed'
  | 'member.added'
  | 'member.role_changed'
  | 'member.removed'
  | 'invitation.accepted'
  | 'invitation.undeliverable'
  | 'threat_blocker.created'
  | 'threat_blocker.edited'
  | 'threat_blocker.removed'
  | 'traffic.uploaded'
  | 'threat_feed.added'
  | 'threat_feed.refreshed'
  | 'threat_feed.refresh_failed'
  | 'threat_feed.removed'
  | 'cloud_defense.imported'
  | 'vpn_profile.created'
  | 'vpn_profile.removed'
  | 'security_framework.created'
  | 'security_framework.edited'
  | 'security_framework.removed'
  | 'evidence.attached'
  | 'evidence.due'
  | 'assessment.imported'

/** What changed: field to its old and new value; undefined where there was or is none. Never a secret. */
export type Changes = { [field: string]: [before: unknown, after: unknown] }

/** What a use case says happened. */
export type Happening = {
  type: EventType
  /** The organization it happened in, if any. */
  organization?: number
  /** Id of the record it happened to. */
  record: number | string
  changes?: Changes
  /** What a reader of the audit trail or of a notification needs beside the changes. */
  details?: { [key: string]: string | number }
}

/** A happening with its author and time: one row of the audit trail. */
export type DomainEvent = Required<Omit<Happening, 'organization' | 'record'>> & {
  organization: number | null
  record: string
  /** The person who did it; null for the operator at the command line and for the service itself. */
  user_id: string | null
  /** Id of the token it was done with, if any. */
  token: number | null
  /** ISO 8601, UTC. */
  datetime: string
}

/** The audit trail. Rows are appended in the transaction of the change they tell of, and never edited. */
export type EventStore = {
  append(event: DomainEvent): Promise<void>
  /** Events of one organization, oldest first. */
  listOf(organization: number): Promise<DomainEvent[]>
}

/**
 * Writes what happened into the running transaction: the row of the audit trail and the notifications it causes, so
 * that they commit or roll back with the change.
 */
export async function record(
  ports: Needs<'now'>,
  stores: Pick<Stores, 'events' | 'notifications' | 'members'>,
  actor: Actor,
  happening: Happening,
): Promise<void> {
  const event: DomainEvent = {
    type: happening.type,
    organization: happening.organization ?? null,
    record: String(happening.record),
    user_id: actor === OPERATOR ? null : actor.user,
    token: actor === OPERATOR ? null : (actor.token ?? null),
    datetime: ports.now().toISOString(),
    changes: happening.changes ?? {},
    details: happening.details ?? {},
  }
  await stores.events.append(event)
  const notice = noticeOf(event)
  if (!notice || event.organization === null) return
  const everybody =
    'person' in notice.to ? [notice.to.person] : await stores.members.withRoles(event.organization, notice.to.roles)
  const people = everybody.filter((user) => 'person' in notice.to || user !== event.user_id)
  const { to: _, ...content } = notice
  await stores.notifications.insert(people, { ...content, organization: event.organization, datetime: event.datetime })
}

/** The fields in which two states of a record differ; undefined for one that is only in the other state. */
export function changesBetween(before: object, after: object): Changes {
  const old = new Map<string, unknown>(Object.entries(before))
  const changed = new Map<string, [unknown, unknown]>()
  for (const [field, value] of Object.entries(after)) {
    if (JSON.stringify(old.get(field)) !== JSON.stringify(value)) changed.set(field, [old.get(field), value])
    old.delete(field)
  }
  for (const [field, value] of old) changed.set(field, [value, undefined])
  return Object.fromEntries(changed)
}

/** Committed events, for who wants to be woken by them. Nothing that must not be lost may live in a listener. */
export type EventBus = Emitter<{ event: DomainEvent }>

export function createEventBus(): EventBus {
  return mitt<{ event: DomainEvent }>()
}

/**
 * Calls `handler` with every committed event of these types. mitt runs handlers inside the publisher and ignores their
 * promises, so both are kept apart from it here; what a handler throws goes to `onError`.
 *
 * @returns a function that ends the subscription.
 */
export function subscribe(
  bus: EventBus,
  types: readonly EventType[],
  handler: (event: DomainEvent) => unknown,
  onError: (error: unknown) => void,
): () => void {
  const listener = (event: DomainEvent) => {
    if (types.includes(event.type)) void Promise.resolve(event).then(handler).catch(onError)
  }
  bus.on('event', listener)
  return () => bus.off('event', listener)
}
