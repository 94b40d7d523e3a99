import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { record, removalOf } from '../events.ts'
import type { Needs } from '../ports.ts'
import { requireVersion } from '../version.ts'
import type { VpnProfile } from './vpn-profile.ts'

/**
 * Soft-removes a VPN profile; only whoever created it may, while still a member.
 *
 * @param expected versions of which the profile must be in one.
 * @returns the removed profile.
 * @throws DomainError `not_found` (also when already removed), `forbidden`, `outdated`.
 */
export async function removeVpnProfile(
  ports: Needs<'transact' | 'now' | 'newSha256' | 'nextTurn'>,
  caller: Caller,
  id: number,
  expected?: readonly string[],
): Promise<VpnProfile> {
  return ports.transact(async (stores) => {
    const profile = await stores.vpnProfiles.findActive(id)
    if (!profile) throw new DomainError('not_found')
    const organization = profile.organization.id
    await authorize(stores, caller, organization, 'vpn_profile.remove')
    if (profile.user_id !== caller.user) throw new DomainError('forbidden')
    await requireVersion(ports, profile, expected)
    if (!(await stores.vpnProfiles.remove(id, ports.now().toISOString()))) throw new DomainError('not_found')
    await record(ports, stores, caller, {
      type: 'vpn_profile.removed',
      organization,
      record: id,
      changes: removalOf(profile),
      details: { email: profile.email },
    })
    return profile
  })
}
