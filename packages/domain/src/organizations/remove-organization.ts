import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'
import type { Organization } from './organization.ts'

/**
 * Soft-removes an organization, which hides all that belongs to it.
 *
 * @returns the removed organization.
 * @throws DomainError `not_found` (also when already removed), `forbidden` (no owner).
 */
export async function removeOrganization(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  id: number,
): Promise<Organization> {
  return ports.transact(async (stores) => {
    await stores.organizations.lock(id)
    await authorize(stores, caller, id, 'organization.remove')
    const removed = await stores.organizations.remove(id, ports.now().toISOString())
    if (!removed) throw new DomainError('not_found')
    await record(ports, stores, caller, { type: 'organization.removed', organization: id, record: id })
    return removed
  })
}
