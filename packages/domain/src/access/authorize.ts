import { DomainError } from '../errors.ts'
import type { MemberStore } from '../members/member-store.ts'
import type { OrganizationSummary } from '../organizations/organization.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import type { Caller } from './caller.ts'
import { type Action, mayPerform, type Narrowing, type OwnAction, type Role, reaches, rolesThatMay } from './policy.ts'

/** What a token reaches that is not narrowed; also where a program vouches for the person itself. */
const UNNARROWED: Narrowing = { access: 'full', organizations: null }

/** Whether the caller may perform the action on this organization, where their role is `role`. */
export function isPermitted(caller: Caller, role: Role, organization: number, action: Action): boolean {
  return mayPerform(role, action) && reaches(narrowingOf(caller), action, organization)
}

/**
 * Lets the caller go on if their role in the organization permits the action, and their token reaches it; returns that
 * role.
 *
 * @throws DomainError `not_found` (no such organization, or removed), `forbidden` (no member, role too weak, or a token
 *   narrowed to less).
 */
export async function authorize(
  stores: { organizations: Pick<OrganizationStore, 'isActive'>; members: Pick<MemberStore, 'roleOf'> },
  caller: Caller,
  organization: number,
  action: Action,
): Promise<Role> {
  const role = await stores.members.roleOf(organization, caller.user)
  if (role && isPermitted(caller, role, organization, action)) return role
  if (!role && !(await stores.organizations.isActive(organization))) throw new DomainError('not_found')
  throw new DomainError('forbidden')
}

/**
 * Lets the caller go on with what takes no role, if their token reaches it.
 *
 * @returns the organizations that the token is held to, whose records alone it may touch; null for no such bound.
 * @throws DomainError `forbidden` (a token narrowed to less).
 */
export function authorizeOwn(caller: Caller, action: OwnAction): Narrowing['organizations'] {
  const narrowing = narrowingOf(caller)
  if (!reaches(narrowing, action)) throw new DomainError('forbidden')
  return narrowing.organizations
}

/**
 * The active organizations in which the caller may perform the action: what a list covers. With `only`, that one or
 * none: a filter that names an organization of others gives an empty list (decisions.md §2).
 */
export async function organizationsFor(
  stores: { members: Pick<MemberStore, 'organizationsOf'> },
  caller: Caller,
  action: Action,
  only?: number,
): Promise<number[]> {
  const all = await stores.members.organizationsOf(caller.user, rolesThatMay(action))
  return all.filter((id) => (only === undefined || id === only) && reaches(narrowingOf(caller), action, id))
}

/** The caller's memberships in active organizations that their token reaches, by organization id ascending. */
export async function membershipsFor(
  stores: { members: Pick<MemberStore, 'membershipsOf'> },
  caller: Caller,
): Promise<{ organization: OrganizationSummary; role: Role }[]> {
  const all = await stores.members.membershipsOf(caller.user)
  return all.filter(({ organization, role }) => isPermitted(caller, role, organization.id, 'organization.read'))
}

function narrowingOf({ narrowing = UNNARROWED }: Caller): Narrowing {
  return narrowing
}
