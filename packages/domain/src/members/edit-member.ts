import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import type { Role } from '../access/policy.ts'
import { conflict, DomainError, invalid } from '../errors.ts'
import { record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs, Stores } from '../ports.ts'
import { MemberInput, type MemberPath, type MemberReference, NOT_REGISTERED } from './member.ts'

/**
 * Changes a member's role; without `role` nothing changes.
 *
 * @param path `user` is the member's UUID, or `'0'`: then `input.email` says who. Nobody is registered here.
 * @throws DomainError `not_found` (organization, or no member), `forbidden`, `invalid`, `conflict` (the last owner).
 */
export async function editMember(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  path: MemberPath,
  input: unknown,
): Promise<MemberReference> {
  return ports.transact(async (stores) => {
    const { organization } = path
    await stores.organizations.lock(organization)
    await authorize(stores, caller, organization, 'member.edit')
    if (path.user !== NOT_REGISTERED) await findRole(stores, organization, path.user)
    const { email, role } = parse(MemberInput, input)
    const user = path.user === NOT_REGISTERED ? await findByEmail(stores, email) : path.user
    const before = await findRole(stores, organization, user)
    if (role === undefined || role === before) return { organization, user }
    await keepAnOwner(stores, organization, before, role)
    await stores.members.setRole(organization, user, role)
    await record(ports, stores, caller, {
      type: 'member.role_changed',
      organization,
      record: user,
      changes: { role: [before, role] },
      details: { role },
    })
    return { organization, user }
  })
}

/**
 * What can be refused before a body is read: the organization, the right to edit, the member that the path names.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function permitEditMember(
  ports: Needs<'organizations' | 'members'>,
  caller: Caller,
  path: MemberPath,
): Promise<void> {
  await authorize(ports, caller, path.organization, 'member.edit')
  if (path.user !== NOT_REGISTERED) await findRole(ports, path.organization, path.user)
}

async function findRole(stores: Pick<Stores, 'members'>, organization: number, user: string): Promise<Role> {
  const role = await stores.members.roleOf(organization, user)
  if (!role) throw new DomainError('not_found')
  return role
}

async function findByEmail(stores: Stores, email: string | undefined): Promise<string> {
  if (email === undefined) throw invalid('email', 'Required when the person is not named by id')
  const user = await stores.users.findByEmail(email)
  if (!user) throw new DomainError('not_found')
  return user.id
}

/**
 * An organization always keeps an owner (decisions.md §3). Asked under the organization's lock, so that two owners who
 * demote or remove each other at once cannot both succeed.
 *
 * @throws DomainError `conflict`.
 */
export async function keepAnOwner(stores: Stores, organization: number, before: Role, after?: Role): Promise<void> {
  if (before !== 'owner' || after === 'owner') return
  const owners = await stores.members.withRoles(organization, ['owner'])
  if (owners.length <= 1) throw conflict(after ? 'role' : '', 'An organization keeps at least one owner')
}
