import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Needs } from '../ports.ts'
import type { VpnProfile } from './vpn-profile.ts'

/**
 * Reads one VPN profile.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function readVpnProfile(
  ports: Needs<'vpnProfiles' | 'organizations' | 'members'>,
  caller: Caller,
  id: number,
): Promise<VpnProfile> {
  const profile = await ports.vpnProfiles.findActive(id)
  if (!profile) throw new DomainError('not_found')
  await authorize(ports, caller, profile.organization.id, 'vpn_profile.read')
  return profile
}
