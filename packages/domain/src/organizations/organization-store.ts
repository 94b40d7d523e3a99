import type { Page, PageRequest } from '../page.ts'
import type { NewOrganization, Organization, OrganizationEdit } from './organization.ts'

/** Fields that organizations can be ordered by. */
export const ORGANIZATION_ORDER = ['id', 'name', 'number_employees'] as const

/** Which organizations to list; every part given must hold. */
export type OrganizationFilter = {
  /** Case-insensitive substring of the name, `%` and `_` literally. */
  name?: string | undefined
  /** At least one of these; an empty array matches nothing. */
  sectors?: string[] | undefined
  industries?: string[] | undefined
}

/** Organizations. "Active" = not soft-removed; only `remove` ever returns a removed one. */
export type OrganizationStore = {
  /** Stores the record and returns its new id (integer >= 1). */
  insert(organization: NewOrganization): Promise<number>
  findActive(id: number): Promise<Organization | undefined>
  isActive(id: number): Promise<boolean>
  /**
   * Takes the organization's lock until the transaction ends, so that a rule over its members can read and then write.
   * False if there is no active organization of that id.
   */
  lock(id: number): Promise<boolean>
  /** Active ones among `ids`. `total` counts all matches, not the page; no ids match nothing. */
  listActive(
    ids: number[],
    filter: OrganizationFilter,
    page: PageRequest<(typeof ORGANIZATION_ORDER)[number]>,
  ): Promise<Page<Organization>>
  /** Replaces what `edit` names and returns the result; undefined if absent or removed. */
  update(id: number, edit: OrganizationEdit): Promise<Organization | undefined>
  /** Marks the record removed at `at` (ISO) and returns it; undefined if absent or already removed. */
  remove(id: number, at: string): Promise<Organization | undefined>
}
