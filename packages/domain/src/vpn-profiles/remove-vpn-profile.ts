import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'
import type { VpnProfile } from './vpn-profile.ts'

/**
 * Soft-removes a VPN profile; only whoever created it may, while still a member.
 *
 * @returns the removed profile.
 * @throws DomainError `not_found` (also when already removed), `forbidden`.
 */
export async function removeVpnProfile(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  id: number,
): Promise<VpnProfile> {
  return ports.transact(async (stores) => {
    const profile = await stores.vpnProfiles.findActive(id)
    if (!profile) throw new DomainError('not_found')
    const organization = profile.organization.id
    await authorize(stores, caller, organization, 'vpn_profile.remove')
    if (profile.user_id !== caller.user) throw new DomainError('forbidden')
    if (!(await stores.vpnProfiles.remove(id, ports.now().toISOString()))) throw new DomainError('not_found')
    await record(ports, stores, caller, {
      type: 'vpn_profile.removed',
      organization,
      record: id,
      details: { email: profile.email },
    })
    return profile
  })
}
