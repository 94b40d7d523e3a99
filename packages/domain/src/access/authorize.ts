import { DomainError } from '../errors.ts'
import type { MemberStore } from '../members/member-store.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import type { Caller } from './caller.ts'
import { type Action, mayPerform, type Role, rolesThatMay } from './policy.ts'

/**
 * Lets the caller go on if their role in the organization permits the action, and returns that role.
 *
 * @throws DomainError `not_found` (no such organization, or removed), `forbidden` (no member, or role too weak).
 */
export async function authorize(
  stores: { organizations: Pick<OrganizationStore, 'isActive'>; members: Pick<MemberStore, 'roleOf'> },
  caller: Caller,
  organization: number,
  action: Action,
): Promise<Role> {
  const role = await stores.members.roleOf(organization, caller.user)
  if (role && mayPerform(role, action)) return role
  if (!role && !(await stores.organizations.isActive(organization))) throw new DomainError('not_found')
  throw new DomainError('forbidden')
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
  return only === undefined ? all : all.filter((id) => id === only)
}
