import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { conflict, DomainError } from '../errors.ts'
import { changesBetween, record } from '../events.ts'
import type { Needs } from '../ports.ts'
import { INVITATION_CAPS, type InvitationCaps, oweInvitation } from './invitation.ts'
import type { MemberPath, MemberReference } from './member.ts'

/**
 * Sends a member their invitation again, with a new code in the place of the one of before, which works no more, expired
 * or not. The mail goes out after the commit.
 *
 * @param path `user` is the member's UUID.
 * @param caps what bounds the number of invitations, see `InvitationCaps`.
 * @throws DomainError `not_found` (organization, or no member), `forbidden`, `conflict` (accepted already, or never
 *   invited, as whoever created the organization), `too_many_requests` (a cap is reached).
 */
export async function renewInvitation(
  ports: Needs<'transact' | 'now' | 'newUuid' | 'randomBytes' | 'newSha256'>,
  caller: Caller,
  path: MemberPath,
  caps: Partial<InvitationCaps> = INVITATION_CAPS,
): Promise<MemberReference> {
  return ports.transact(async (stores) => {
    const { organization, user } = path
    await stores.organizations.lock(organization)
    await authorize(stores, caller, organization, 'member.invite')
    const membership = await stores.members.find(organization, user)
    if (membership === undefined) throw new DomainError('not_found')
    const replaced_at = ports.now().toISOString()
    if (!(await stores.invitations.replace(membership, replaced_at))) {
      throw conflict('', 'There is no invitation that this member has not accepted yet')
    }
    await oweInvitation(ports, stores, caller, { membership, organization, user }, caps)
    const changes = changesBetween({}, { replaced_at })
    await record(ports, stores, caller, { type: 'invitation.renewed', organization, record: user, changes })
    return { organization, user }
  })
}
