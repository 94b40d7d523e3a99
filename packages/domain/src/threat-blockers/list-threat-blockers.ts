import * as v from 'valibot'
import { organizationsFor } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { type Page, pageEntries } from '../page.ts'
import { object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { Id } from '../values.ts'
import { withChecks } from './check.ts'
import { Service, type ThreatBlocker } from './threat-blocker.ts'
import { THREAT_BLOCKER_ORDER } from './threat-blocker-store.ts'

/** Page and filters of the list of threat blockers. */
export const ThreatBlockerQuery = object({
  ...pageEntries(THREAT_BLOCKER_ORDER, '-id'),
  organization: v.optional(Id),
  /** Those on which this service is enabled. */
  service: v.optional(Service),
})

/**
 * Lists the threat blockers of the organizations that the caller belongs to.
 *
 * @param input see `ThreatBlockerQuery`.
 * @throws DomainError `invalid`.
 */
export async function listThreatBlockers(
  ports: Needs<'threatBlockers' | 'members' | 'traffic' | 'now'>,
  caller: Caller,
  input: unknown = {},
): Promise<Page<ThreatBlocker>> {
  const { limit, offset, order, organization, service } = parse(ThreatBlockerQuery, input)
  const organizations = await organizationsFor(ports, caller, 'threat_blocker.read', organization)
  const page = await ports.threatBlockers.listActive(organizations, { service }, { limit, offset, order })
  return { total: page.total, data: await withChecks(ports, page.data) }
}
