import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import type { Action } from '../access/policy.ts'
import { DomainError } from '../errors.ts'
import type { Stores } from '../ports.ts'
import type { StoredThreatBlocker } from './threat-blocker.ts'

/** Names a threat blocker: its id, or its `atb_key`. */
export type ThreatBlockerRef = number | string

/**
 * Finds an active threat blocker on which the caller may perform the action. Also what can be refused before the body
 * of an edit or an upload is read.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function findThreatBlocker(
  stores: Pick<Stores, 'threatBlockers' | 'organizations' | 'members'>,
  caller: Caller,
  ref: ThreatBlockerRef,
  action: Action,
): Promise<StoredThreatBlocker> {
  const blocker =
    typeof ref === 'number'
      ? await stores.threatBlockers.findActive(ref)
      : await stores.threatBlockers.findActiveByKey(ref)
  if (!blocker) throw new DomainError('not_found')
  await authorize(stores, caller, blocker.organization.id, action)
  return blocker
}
