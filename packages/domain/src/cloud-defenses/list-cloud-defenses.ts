import * as v from 'valibot'
import { organizationsFor } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { type Page, pageEntries } from '../page.ts'
import { object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { Id } from '../values.ts'
import { type CloudDefense, CloudService } from './cloud-defense.ts'
import { CLOUD_DEFENSE_ORDER } from './cloud-defense-store.ts'

/** Page and filters of the list of cloud defenses. */
export const CloudDefenseQuery = object({
  ...pageEntries(CLOUD_DEFENSE_ORDER, '-id'),
  organization: v.optional(Id),
  /** Those on which this service is enabled. */
  service: v.optional(CloudService),
})

/**
 * Lists the cloud defenses of the organizations that the caller belongs to.
 *
 * @param input see `CloudDefenseQuery`.
 * @throws DomainError `invalid`.
 */
export async function listCloudDefenses(
  ports: Needs<'cloudDefenses' | 'members'>,
  caller: Caller,
  input: unknown = {},
): Promise<Page<CloudDefense>> {
  const { limit, offset, order, organization, service } = parse(CloudDefenseQuery, input)
  const organizations = await organizationsFor(ports, caller, 'cloud_defense.read', organization)
  return ports.cloudDefenses.listActive(organizations, { service }, { limit, offset, order })
}
