import type { Role } from '../access/policy.ts'
import type { OrganizationSummary } from '../organizations/organization.ts'
import type { Page, PageRequest } from '../page.ts'
import type { Member } from './member.ts'

/** Fields that members can be ordered by. */
export const MEMBER_ORDER = ['username', 'email', 'first_name', 'last_name', 'role'] as const

/** Which members a list holds; what is undefined does not narrow it. */
export type MemberFilter = {
  role?: Role | undefined
  /** Case-insensitive substring of user name, e-mail address, first or last name. */
  search?: string | undefined
}

/**
 * Memberships: who belongs to which organization, in which role. At most one active one for a person and
 * organization. Those of a removed organization are not active.
 */
export type MemberStore = {
  /** Stores the membership and returns its id (integer >= 1); undefined if the person already has an active one. */
  insert(membership: { organization: number; user: string; role: Role }): Promise<number | undefined>
  /** Id of the person's active membership. */
  find(organization: number, user: string): Promise<number | undefined>
  /** The person's role in an active organization. */
  roleOf(organization: number, user: string): Promise<Role | undefined>
  /** Active organizations in which the person has one of these roles, ascending. */
  organizationsOf(user: string, roles: Role[]): Promise<number[]>
  /** The person's memberships in active organizations, by organization id ascending. */
  membershipsOf(user: string): Promise<{ organization: OrganizationSummary; role: Role }[]>
  /** Ids of the organization's members that have one of these roles, ascending. */
  withRoles(organization: number, roles: Role[]): Promise<string[]>
  /** Ties break on the person's id. */
  listActive(
    organization: number,
    filter: MemberFilter,
    page: PageRequest<(typeof MEMBER_ORDER)[number]>,
  ): Promise<Page<Member>>
  /** False if the person has no active membership. */
  setRole(organization: number, user: string, role: Role): Promise<boolean>
  /** Marks the membership removed at `at` (ISO) and returns its role; undefined if there is no active one. */
  remove(organization: number, user: string, at: string): Promise<Role | undefined>
}
