import type { Caller } from '../access/caller.ts'
import type { Role } from '../access/policy.ts'
import { DomainError } from '../errors.ts'
import type { OrganizationSummary } from '../organizations/organization.ts'
import type { Needs } from '../ports.ts'
import type { User } from './user.ts'

/** The caller, with the organizations they belong to and their role in each. */
export type Me = User & { organizations: (OrganizationSummary & { role: Role })[] }

/** Reads who the caller is. */
export async function readMe(ports: Needs<'users' | 'members'>, caller: Caller): Promise<Me> {
  const user = await ports.users.find(caller.user)
  if (!user) throw new DomainError('not_found')
  const memberships = await ports.members.membershipsOf(caller.user)
  return { ...user, organizations: memberships.map(({ organization, role }) => ({ ...organization, role })) }
}
