import * as v from 'valibot'
import { organizationsFor } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { type Page, pageEntries } from '../page.ts'
import { object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { Id } from '../values.ts'
import type { VpnProfile } from './vpn-profile.ts'
import { VPN_PROFILE_ORDER } from './vpn-profile-store.ts'

/** Page and filters of the list of VPN profiles. */
export const VpnProfileQuery = object({
  ...pageEntries(VPN_PROFILE_ORDER, '-id'),
  organization: v.optional(Id),
})

/**
 * Lists the VPN profiles of the organizations that the caller belongs to.
 *
 * @param input see `VpnProfileQuery`.
 * @throws DomainError `invalid`.
 */
export async function listVpnProfiles(
  ports: Needs<'vpnProfiles' | 'members'>,
  caller: Caller,
  input: unknown = {},
): Promise<Page<VpnProfile>> {
  const { limit, offset, order, organization } = parse(VpnProfileQuery, input)
  const organizations = await organizationsFor(ports, caller, 'vpn_profile.read', organization)
  return ports.vpnProfiles.listActive(organizations, { limit, offset, order })
}
