import type { Page, PageRequest } from '../page.ts'
import type { NewThreatBlocker, StoredThreatBlocker, ThreatBlockerEdit } from './threat-blocker.ts'

/** Fields that threat blockers can be ordered by; `organization` by its id. */
export const THREAT_BLOCKER_ORDER = ['id', 'device_id', 'type', 'email', 'organization'] as const

/** Threat blocker configurations of active organizations. "Active" = not soft-removed; only `remove` ever returns a removed one. */
export type ThreatBlockerStore = {
  /** Stores the record, with an empty plugin and no addresses, and returns its new id (integer >= 1). */
  insert(blocker: NewThreatBlocker & { atb_key: string; created_at: string }): Promise<number>
  findActive(id: number): Promise<StoredThreatBlocker | undefined>
  findActiveByKey(atbKey: string): Promise<StoredThreatBlocker | undefined>
  /** Active records of these organizations. `total` counts all matches, not the page; `[]` matches nothing. */
  listActive(
    organizations: number[],
    filter: { service?: string | undefined },
    page: PageRequest<(typeof THREAT_BLOCKER_ORDER)[number]>,
  ): Promise<Page<StoredThreatBlocker>>
  /** Ids of the active records of these organizations, ascending. */
  idsOf(organizations: number[]): Promise<number[]>
  /** Replaces what `edit` names; false if absent or removed. */
  update(id: number, edit: ThreatBlockerEdit): Promise<boolean>
  /** Takes the blocker's lock until the transaction ends; false if there is no active one. */
  lock(id: number): Promise<boolean>
  /** Marks the record removed at `at` (ISO); false if absent or already removed. */
  remove(id: number, at: string): Promise<boolean>
}
