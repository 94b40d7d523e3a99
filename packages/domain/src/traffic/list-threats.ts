import * as v from 'valibot'
import type { Caller } from '../access/caller.ts'
import { type Page, pageEntries } from '../page.ts'
import { object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { findThreatBlocker, type ThreatBlockerRef } from '../threat-blockers/find-threat-blocker.ts'
import { periodEntries } from '../values.ts'
import { THREAT_KINDS, type Threat } from './threat.ts'
import { THREAT_ORDER } from './traffic-store.ts'

/** Page and filters of the list of a blocker's threats; `from` and `to` ask for those seen in that period. */
export const ThreatQuery = object({
  ...pageEntries(THREAT_ORDER, '-last_seen'),
  ...periodEntries('from', 'to'),
  kind: v.optional(v.picklist(THREAT_KINDS)),
})

/**
 * Lists what was malicious in the traffic of one blocker, with the reason for each.
 *
 * @param input see `ThreatQuery`.
 * @throws DomainError `not_found`, `forbidden`, `invalid`.
 */
export async function listThreats(
  ports: Needs<'threatBlockers' | 'organizations' | 'members' | 'traffic'>,
  caller: Caller,
  ref: ThreatBlockerRef,
  input: unknown = {},
): Promise<Page<Threat>> {
  const blocker = await findThreatBlocker(ports, caller, ref, 'traffic.read')
  const { limit, offset, order, ...filter } = parse(ThreatQuery, input)
  return ports.traffic.listThreats(blocker.id, filter, { limit, offset, order })
}
