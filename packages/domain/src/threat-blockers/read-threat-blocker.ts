import type { Caller } from '../access/caller.ts'
import type { Needs } from '../ports.ts'
import { withCheck } from './check.ts'
import { findThreatBlocker, type ThreatBlockerRef } from './find-threat-blocker.ts'
import type { ThreatBlocker } from './threat-blocker.ts'

/**
 * Reads one threat blocker, by id or `atb_key`.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function readThreatBlocker(
  ports: Needs<'threatBlockers' | 'organizations' | 'members' | 'traffic' | 'now'>,
  caller: Caller,
  ref: ThreatBlockerRef,
): Promise<ThreatBlocker> {
  return withCheck(ports, await findThreatBlocker(ports, caller, ref, 'threat_blocker.read'))
}
