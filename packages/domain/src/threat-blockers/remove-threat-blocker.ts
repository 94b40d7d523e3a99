import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { record, removalOf } from '../events.ts'
import type { Needs } from '../ports.ts'
import { requireVersion } from '../version.ts'
import { withCheck } from './check.ts'
import { findThreatBlocker, type ThreatBlockerRef } from './find-threat-blocker.ts'
import { editableState, type ThreatBlocker } from './threat-blocker.ts'

/**
 * Soft-removes a threat blocker.
 *
 * @param expected versions of which the blocker must be in one, see `editableState`.
 * @returns the removed configuration.
 * @throws DomainError `not_found` (also when already removed), `forbidden`, `outdated`.
 */
export async function removeThreatBlocker(
  ports: Needs<'transact' | 'now' | 'newSha256' | 'nextTurn'>,
  caller: Caller,
  ref: ThreatBlockerRef,
  expected?: readonly string[],
): Promise<ThreatBlocker> {
  return ports.transact(async (stores) => {
    const { id } = await findThreatBlocker(stores, caller, ref, 'threat_blocker.remove')
    await stores.threatBlockers.lock(id)
    const blocker = await findThreatBlocker(stores, caller, id, 'threat_blocker.remove')
    await requireVersion(ports, editableState(blocker), expected)
    if (!(await stores.threatBlockers.remove(blocker.id, ports.now().toISOString()))) throw new DomainError('not_found')
    await record(ports, stores, caller, {
      type: 'threat_blocker.removed',
      organization: blocker.organization.id,
      record: blocker.id,
      changes: removalOf(blocker),
      details: { device_id: blocker.device_id },
    })
    return withCheck({ ...stores, now: ports.now }, blocker)
  })
}
