import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { record, removalOf } from '../events.ts'
import type { Needs } from '../ports.ts'
import { requireVersion } from '../version.ts'
import type { Organization } from './organization.ts'

/**
 * Soft-removes an organization, which hides all that belongs to it.
 *
 * @param expected versions of which the organization must be in one.
 * @returns the removed organization.
 * @throws DomainError `not_found` (also when already removed), `forbidden` (no owner), `outdated`.
 */
export async function removeOrganization(
  ports: Needs<'transact' | 'now' | 'newSha256' | 'nextTurn'>,
  caller: Caller,
  id: number,
  expected?: readonly string[],
): Promise<Organization> {
  return ports.transact(async (stores) => {
    await stores.organizations.lock(id)
    await authorize(stores, caller, id, 'organization.remove')
    const removed = await stores.organizations.remove(id, ports.now().toISOString())
    if (!removed) throw new DomainError('not_found')
    await stores.invitations.forgetCodes(id)
    // What was removed is what was there: the lock is held.
    await requireVersion(ports, removed, expected)
    const changes = removalOf(removed)
    await record(ports, stores, caller, { type: 'organization.removed', organization: id, record: id, changes })
    return removed
  })
}
