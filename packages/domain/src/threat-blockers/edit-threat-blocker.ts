import type { Caller } from '../access/caller.ts'
import { changesBetween, record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { requireVersion } from '../version.ts'
import { withCheck } from './check.ts'
import { findThreatBlocker, type ThreatBlockerRef } from './find-threat-blocker.ts'
import { editableState, type ThreatBlocker, ThreatBlockerEdit } from './threat-blocker.ts'

/**
 * Edits a threat blocker: what `input` names is replaced, the rest stays.
 *
 * @param expected versions of which the blocker must be in one, see `editableState`.
 * @throws DomainError `not_found`, `forbidden`, `invalid` (with the failing paths), `outdated`.
 */
export async function editThreatBlocker(
  ports: Needs<'transact' | 'now' | 'newSha256' | 'nextTurn'>,
  caller: Caller,
  ref: ThreatBlockerRef,
  input: unknown,
  expected?: readonly string[],
): Promise<ThreatBlocker> {
  return ports.transact(async (stores) => {
    const { id } = await findThreatBlocker(stores, caller, ref, 'threat_blocker.edit')
    const edit = parse(ThreatBlockerEdit, input)
    await stores.threatBlockers.lock(id)
    const before = await findThreatBlocker(stores, caller, id, 'threat_blocker.edit')
    await requireVersion(ports, editableState(before), expected)
    await stores.threatBlockers.update(id, edit)
    const after = await findThreatBlocker(stores, caller, id, 'threat_blocker.edit')
    await record(ports, stores, caller, {
      type: 'threat_blocker.edited',
      organization: after.organization.id,
      record: after.id,
      changes: changesBetween(before, after),
    })
    return withCheck({ ...stores, now: ports.now }, after)
  })
}
