import type { Page, PageRequest } from '../page.ts'
import type { CloudDefense, NewCloudDefense } from './cloud-defense.ts'

/** Fields that cloud defenses can be ordered by; `organization` by its id. */
export const CLOUD_DEFENSE_ORDER = ['id', 'fqdn', 'email', 'organization'] as const

/** Cloud defense configurations of active organizations. */
export type CloudDefenseStore = {
  /** Stores the record and returns its new id (integer >= 1). */
  insert(defense: NewCloudDefense): Promise<number>
  findActive(id: number): Promise<CloudDefense | undefined>
  /** Records of these organizations. `total` counts all matches, not the page; no ids match nothing. */
  listActive(
    organizations: number[],
    filter: { service?: string | undefined },
    page: PageRequest<(typeof CLOUD_DEFENSE_ORDER)[number]>,
  ): Promise<Page<CloudDefense>>
}
