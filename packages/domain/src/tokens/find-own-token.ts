import { authorizeOwn } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Stores } from '../ports.ts'
import type { OwnToken } from './token.ts'
import type { Token } from './token-store.ts'

/**
 * Finds a token of the caller's that they may rotate or revoke. A narrowed token may do so with itself alone, so that it
 * can neither widen itself nor shut out its person's other ones.
 *
 * @throws DomainError `not_found` (also when revoked, or another person's), `forbidden`.
 */
export async function findOwnToken(stores: Pick<Stores, 'tokens'>, caller: Caller, id: number): Promise<OwnToken> {
  const token = await stores.tokens.find(id)
  if (token?.user_id !== caller.user) throw new DomainError('not_found')
  if (id !== caller.token) authorizeOwn(caller, 'token.change')
  return ownTokenOf(token)
}

/** The token as its owner sees it. */
export function ownTokenOf({ user_id: _user, revoked_at: _revoked, ...token }: Token): OwnToken {
  return token
}
