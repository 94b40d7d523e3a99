import { OPERATOR } from '../access/caller.ts'
import { conflict, DomainError } from '../errors.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'
import type { RemovableKind, RemovedRecord } from './removed-record.ts'

/**
 * Undoes a soft-removal at the operator's word. With an organization comes back all that belongs to it, but what was
 * removed by itself.
 *
 * @param id of the record; of a member the id of the membership.
 * @throws DomainError `not_found` (no such record, or not removed), `conflict` (its organization is removed, or the
 *   person is a member again).
 */
export async function restoreRecord(
  ports: Needs<'transact' | 'now'>,
  kind: RemovableKind,
  id: number,
): Promise<RemovedRecord> {
  return ports.transact(async (stores) => {
    const removed = await stores.removedRecords.find(kind, id)
    if (!removed) throw new DomainError('not_found')
    const { organization, removed_at } = removed
    // The lock keeps a member from being added, and the organization from being removed, at the same time.
    if (kind !== 'organization' && !(await stores.organizations.lock(organization))) {
      throw conflict('', `Organization ${organization}, which it belongs to, is removed itself; restore that first`)
    }
    if (kind === 'member' && (await stores.members.roleOf(organization, removed.record))) {
      throw conflict('', `${removed.name} is a member of organization ${organization} again`)
    }
    if (!(await stores.removedRecords.restore(kind, id))) throw new DomainError('not_found')
    await record(ports, stores, OPERATOR, {
      type: `${kind}.restored`,
      organization,
      record: removed.record,
      changes: { removed_at: [removed_at, undefined] },
      details: { name: removed.name },
    })
    return removed
  })
}
