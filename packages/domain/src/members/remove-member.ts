import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'
import { keepAnOwner } from './edit-member.ts'
import type { MemberPath, MemberReference } from './member.ts'

/**
 * Soft-removes a person from an organization, which takes their access at once and voids a pending invitation.
 *
 * @throws DomainError `not_found` (organization, or no member), `forbidden`, `conflict` (the last owner).
 */
export async function removeMember(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  path: MemberPath,
): Promise<MemberReference> {
  return ports.transact(async (stores) => {
    const { organization, user } = path
    await stores.organizations.lock(organization)
    await authorize(stores, caller, organization, 'member.remove')
    const role = await stores.members.roleOf(organization, user)
    if (!role) throw new DomainError('not_found')
    await keepAnOwner(stores, organization, role)
    await stores.members.remove(organization, user, ports.now().toISOString())
    await stores.invitations.forgetCodes(organization, user)
    await record(ports, stores, caller, {
      type: 'member.removed',
      organization,
      record: user,
      changes: { role: [role, undefined] },
    })
    return { organization, user }
  })
}
