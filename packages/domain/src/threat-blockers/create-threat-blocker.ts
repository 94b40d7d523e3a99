import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { creationOf, record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { NewThreatBlocker } from './threat-blocker.ts'

/**
 * Registers a threat blocker for an organization the caller manages.
 *
 * @param input what the installer knows, see `NewThreatBlocker`; the `atb_key` (UUID v4) is made here.
 * @returns id of the new configuration, an integer >= 1.
 * @throws DomainError `invalid` (with the failing paths), `not_found` (no such organization), `forbidden` (role too weak).
 */
export async function createThreatBlocker(
  ports: Needs<'transact' | 'now' | 'newUuid'>,
  caller: Caller,
  input: unknown,
): Promise<number> {
  const blocker = parse(NewThreatBlocker, input)
  return ports.transact(async (stores) => {
    const { organization, device_id } = blocker
    await authorize(stores, caller, organization, 'threat_blocker.create')
    const stored = { ...blocker, atb_key: ports.newUuid(), created_at: ports.now().toISOString() }
    const id = await stores.threatBlockers.insert(stored)
    await record(ports, stores, caller, {
      type: 'threat_blocker.created',
      organization,
      record: id,
      changes: creationOf(stored),
      details: { device_id },
    })
    return id
  })
}
