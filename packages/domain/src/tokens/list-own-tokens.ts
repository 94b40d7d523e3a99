import { authorizeOwn } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { type Page, pageEntries } from '../page.ts'
import { object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { ownTokenOf } from './find-own-token.ts'
import type { OwnToken } from './token.ts'
import { TOKEN_ORDER } from './token-store.ts'

/** Page of the list of one's own tokens. */
export const TokenQuery = object(pageEntries(TOKEN_ORDER, '-id'))

/**
 * Lists the caller's own tokens that are not revoked, expired ones included. A token that is held to organizations sees
 * itself alone, since the others may name other organizations.
 *
 * @param input see `TokenQuery`.
 * @throws DomainError `forbidden`, `invalid`.
 */
export async function listOwnTokens(
  ports: Needs<'tokens'>,
  caller: Caller,
  input: unknown = {},
): Promise<Page<OwnToken>> {
  const isHeld = authorizeOwn(caller, 'token.read') !== null
  const { total, data } = await ports.tokens.listOf(
    caller.user,
    parse(TokenQuery, input),
    isHeld ? caller.token : undefined,
  )
  return { total, data: data.map(ownTokenOf) }
}
