import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { conflict, DomainError, invalid } from '../errors.ts'
import { record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs, Stores } from '../ports.ts'
import { INVITATION_CAPS, type InvitationCaps, oweInvitation } from './invitation.ts'
import { MemberInput, type MemberPath, type MemberReference, NOT_REGISTERED } from './member.ts'
import { register } from './register-user.ts'
import { NewUser, type User } from './user.ts'

/**
 * Adds a person to an organization and owes them one invitation, which is sent after the commit.
 *
 * @param path `user` is a registered person's UUID, or `'0'`: then `input.email` says who, and somebody who is not yet
 *   registered is, with the address as user name.
 * @param input see `MemberInput`; `role` defaults to `viewer`. An `email` beside a UUID is checked and ignored.
 * @param caps what bounds the number of invitations, see `InvitationCaps`.
 * @throws DomainError `not_found` (organization or person), `forbidden`, `invalid`, `conflict` (already a member),
 *   `too_many_requests` (a cap is reached).
 */
export async function addMember(
  ports: Needs<'transact' | 'now' | 'newUuid' | 'randomBytes' | 'newSha256'>,
  caller: Caller,
  path: MemberPath,
  input: unknown,
  caps: Partial<InvitationCaps> = INVITATION_CAPS,
): Promise<MemberReference> {
  return ports.transact(async (stores) => {
    await stores.organizations.lock(path.organization)
    await authorize(stores, caller, path.organization, 'member.add')
    const named = await findNamedUser(stores, path.user)
    const { email, role = 'viewer' } = parse(MemberInput, input)
    const user = named ?? (await findOrRegister(ports, stores, caller, email))
    const { organization } = path
    const membership = await stores.members.insert({ organization, user: user.id, role })
    if (membership === undefined) throw conflict('email', 'Already a member of this organization')
    await oweInvitation(ports, stores, caller, { membership, organization, user: user.id }, caps)
    await record(ports, stores, caller, {
      type: 'member.added',
      organization,
      record: user.id,
      changes: { role: [undefined, role] },
      details: { role, email: user.email },
    })
    return { organization, user: user.id }
  })
}

/**
 * What can be refused before a body is read: the organization, the right to add, the person that the path names.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function permitAddMember(
  ports: Needs<'organizations' | 'members' | 'users'>,
  caller: Caller,
  path: MemberPath,
): Promise<void> {
  await authorize(ports, caller, path.organization, 'member.add')
  await findNamedUser(ports, path.user)
}

async function findNamedUser(stores: Pick<Stores, 'users'>, id: string): Promise<User | undefined> {
  if (id === NOT_REGISTERED) return undefined
  const user = await stores.users.find(id)
  if (!user) throw new DomainError('not_found')
  return user
}

async function findOrRegister(
  ports: Needs<'now' | 'newUuid'>,
  stores: Stores,
  caller: Caller,
  email: string | undefined,
): Promise<User> {
  if (email === undefined) throw invalid('email', 'Required when the person is not named by id')
  const user =
    (await stores.users.findByEmail(email)) ??
    (await register(ports, stores, caller, parse(NewUser, { email }))) ??
    // Registered by somebody else between the two.
    (await stores.users.findByEmail(email))
  if (!user) throw new DomainError('unavailable')
  return user
}
