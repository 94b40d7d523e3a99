import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { creationOf, record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { NewVpnProfile } from './vpn-profile.ts'

/**
 * Creates a VPN profile in an organization the caller manages.
 *
 * @param input see `NewVpnProfile`.
 * @returns id of the new profile, an integer >= 1.
 * @throws DomainError `invalid` (with the failing paths), `not_found` (no such organization), `forbidden`.
 */
export async function createVpnProfile(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  input: unknown,
): Promise<number> {
  const profile = parse(NewVpnProfile, input)
  return ports.transact(async (stores) => {
    const { organization, email } = profile
    await authorize(stores, caller, organization, 'vpn_profile.create')
    const stored = { ...profile, user_id: caller.user, created_at: ports.now().toISOString() }
    const id = await stores.vpnProfiles.insert(stored)
    await record(ports, stores, caller, {
      type: 'vpn_profile.created',
      organization,
      record: id,
      changes: creationOf(stored),
      details: { email },
    })
    return id
  })
}
