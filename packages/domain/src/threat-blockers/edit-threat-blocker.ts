import type { Caller } from '../access/caller.ts'
import { changesBetween, record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { withCheck } from './check.ts'
import { findThreatBlocker, type ThreatBlockerRef } from './find-threat-blocker.ts'
import { type ThreatBlocker, ThreatBlockerEdit } from './threat-blocker.ts'

/**
 * Edits a threat blocker: what `input` names is replaced, the rest stays.
 *
 * @throws DomainError `not_found`, `forbidden`, `invalid` (with the failing paths).
 */
export async function editThreatBlocker(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  ref: ThreatBlockerRef,
  input: unknown,
): Promise<ThreatBlocker> {
  return ports.transact(async (stores) => {
    const before = await findThreatBlocker(stores, caller, ref, 'threat_blocker.edit')
    const edit = parse(ThreatBlockerEdit, input)
    await stores.threatBlockers.update(before.id, edit)
    const after = await findThreatBlocker(stores, caller, before.id, 'threat_blocker.edit')
    await record(ports, stores, caller, {
      type: 'threat_blocker.edited',
      organization: after.organization.id,
      record: after.id,
      changes: changesBetween(before, after),
    })
    return withCheck({ ...stores, now: ports.now }, after)
  })
}
