import { authorizeOwn } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { conflict } from '../errors.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { storeNewToken } from './issue-token.ts'
import { type IssuedToken, NewOwnToken } from './token.ts'

/** Tokens that a person may have at the same time, neither revoked nor expired, for them to issue another. */
export const MAX_LIVE_TOKENS = 100

/**
 * Issues another API token for the caller.
 *
 * @param input see `NewOwnToken`.
 * @returns the token, whose secret is shown this once.
 * @throws DomainError `forbidden` (a narrowed token), `invalid` (also an expiry that has passed, and an organization that
 *   the caller is no member of), `conflict` (100 live tokens already).
 */
export async function issueOwnToken(
  ports: Needs<'transact' | 'now' | 'randomBytes' | 'newSha256'>,
  caller: Caller,
  input: unknown,
): Promise<IssuedToken> {
  authorizeOwn(caller, 'token.issue')
  const wanted = parse(NewOwnToken, input)
  return ports.transact(async (stores) => {
    await stores.users.lock([caller.user])
    if ((await stores.tokens.countLive(caller.user, ports.now().toISOString())) >= MAX_LIVE_TOKENS) {
      throw conflict('', `A person has at most ${MAX_LIVE_TOKENS} tokens; revoke one first`)
    }
    return storeNewToken(ports, stores, caller, { ...wanted, user_id: caller.user })
  })
}
