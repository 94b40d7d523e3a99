import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'
import { withCheck } from './check.ts'
import { findThreatBlocker, type ThreatBlockerRef } from './find-threat-blocker.ts'
import type { ThreatBlocker } from './threat-blocker.ts'

/**
 * Soft-removes a threat blocker.
 *
 * @returns the removed configuration.
 * @throws DomainError `not_found` (also when already removed), `forbidden`.
 */
export async function removeThreatBlocker(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  ref: ThreatBlockerRef,
): Promise<ThreatBlocker> {
  return ports.transact(async (stores) => {
    const blocker = await findThreatBlocker(stores, caller, ref, 'threat_blocker.remove')
    if (!(await stores.threatBlockers.remove(blocker.id, ports.now().toISOString()))) throw new DomainError('not_found')
    await record(ports, stores, caller, {
      type: 'threat_blocker.removed',
      organization: blocker.organization.id,
      record: blocker.id,
      details: { device_id: blocker.device_id },
    })
    return withCheck({ ...stores, now: ports.now }, blocker)
  })
}
