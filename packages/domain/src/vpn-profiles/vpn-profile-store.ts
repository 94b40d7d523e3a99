import type { Page, PageRequest } from '../page.ts'
import type { NewVpnProfile, VpnProfile } from './vpn-profile.ts'

/** Fields that VPN profiles can be ordered by; `organization` by its id. */
export const VPN_PROFILE_ORDER = ['id', 'created_at', 'email', 'organization'] as const

/** VPN profiles of active organizations. "Active" = not soft-removed; only `remove` ever returns a removed one. */
export type VpnProfileStore = {
  /** Stores the record and returns its new id (integer >= 1). */
  insert(profile: NewVpnProfile & { user_id: string; created_at: string }): Promise<number>
  findActive(id: number): Promise<VpnProfile | undefined>
  /** Active records of these organizations. `total` counts all matches, not the page; no ids match nothing. */
  listActive(organizations: number[], page: PageRequest<(typeof VPN_PROFILE_ORDER)[number]>): Promise<Page<VpnProfile>>
  /** Marks the record removed at `at` (ISO); false if absent or already removed. */
  remove(id: number, at: string): Promise<boolean>
}
