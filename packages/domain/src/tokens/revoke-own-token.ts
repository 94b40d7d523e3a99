import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { changesBetween, record } from '../events.ts'
import type { Needs } from '../ports.ts'
import { findOwnToken } from './find-own-token.ts'
import type { OwnToken } from './token.ts'

/**
 * Revokes a token of the caller's, which holds for the very next request, with any of its secrets.
 *
 * @returns the revoked token.
 * @throws DomainError `not_found` (also when revoked, or another person's), `forbidden` (a narrowed token, and not this
 *   one).
 */
export async function revokeOwnToken(ports: Needs<'transact' | 'now'>, caller: Caller, id: number): Promise<OwnToken> {
  return ports.transact(async (stores) => {
    const token = await findOwnToken(stores, caller, id)
    const revoked_at = ports.now().toISOString()
    if (!(await stores.tokens.revoke(id, revoked_at))) throw new DomainError('not_found')
    const changes = changesBetween({}, { revoked_at })
    await record(ports, stores, caller, { type: 'token.revoked', record: id, changes })
    return token
  })
}
