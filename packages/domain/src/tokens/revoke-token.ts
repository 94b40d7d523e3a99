import { OPERATOR } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { changesBetween, record } from '../events.ts'
import type { Needs } from '../ports.ts'

/**
 * Revokes a token at the operator's word, which holds for the very next request.
 *
 * @throws DomainError `not_found` (no such token, or revoked already).
 */
export async function revokeToken(ports: Needs<'transact' | 'now'>, id: number): Promise<void> {
  await ports.transact(async (stores) => {
    const revoked_at = ports.now().toISOString()
    if (!(await stores.tokens.revoke(id, revoked_at))) throw new DomainError('not_found')
    const changes = changesBetween({}, { revoked_at })
    await record(ports, stores, OPERATOR, { type: 'token.revoked', record: id, changes })
  })
}
