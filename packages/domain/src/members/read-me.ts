import { authorizeOwn, membershipsFor } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import type { Role } from '../access/policy.ts'
import { DomainError } from '../errors.ts'
import type { OrganizationSummary } from '../organizations/organization.ts'
import type { Needs } from '../ports.ts'
import type { User } from './user.ts'

/** The caller, with the organizations they belong to, as far as their token reaches, and their role in each. */
export type Me = User & { organizations: (OrganizationSummary & { role: Role })[] }

/**
 * Reads who the caller is.
 *
 * @throws DomainError `forbidden`, `not_found` (whoever called is not registered).
 */
export async function readMe(ports: Needs<'users' | 'members'>, caller: Caller): Promise<Me> {
  authorizeOwn(caller, 'me.read')
  const user = await ports.users.find(caller.user)
  if (!user) throw new DomainError('not_found')
  const memberships = await membershipsFor(ports, caller)
  return { ...user, organizations: memberships.map(({ organization, role }) => ({ ...organization, role })) }
}
