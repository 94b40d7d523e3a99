import { OPERATOR } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'

/**
 * Revokes a token at the operator's word, which holds for the very next request.
 *
 * @throws DomainError `not_found` (no such token, or revoked already).
 */
export async function revokeToken(ports: Needs<'transact' | 'now'>, id: number): Promise<void> {
  await ports.transact(async (stores) => {
    if (!(await stores.tokens.revoke(id, ports.now().toISOString()))) throw new DomainError('not_found')
    await record(ports, stores, OPERATOR, { type: 'token.revoked', record: id })
  })
}
