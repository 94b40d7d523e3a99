import * as v from 'valibot'
import { type Actor, OPERATOR } from '../access/caller.ts'
import { DomainError, invalid } from '../errors.ts'
import { record } from '../events.ts'
import { object, parse } from '../parse.ts'
import type { Needs, Stores } from '../ports.ts'
import { Name, Timestamp } from '../values.ts'
import { hashSecret, newSecret, TOKEN_PREFIX } from './secret.ts'

/** What it takes to issue a token: whose it is (UUID or e-mail address), its name, and when it expires, if it does. */
export const NewTokenInput = object({
  user: Name,
  name: v.optional(Name, 'token'),
  expires_at: v.optional(v.nullable(Timestamp), null),
})

/** Characters of a token that may be shown later: its prefix and the next six. */
const SHOWN = TOKEN_PREFIX.length + 6

/**
 * Issues an API token at the operator's word.
 *
 * @param input see `NewTokenInput`.
 * @returns its id, and the token, which is shown this once.
 * @throws DomainError `invalid` (also an expiry that has passed), `not_found` (no such person).
 */
export async function issueToken(
  ports: Needs<'transact' | 'now' | 'randomBytes' | 'newSha256'>,
  input: unknown,
): Promise<{ id: number; token: string }> {
  const wanted = parse(NewTokenInput, input)
  if (wanted.expires_at !== null && wanted.expires_at <= ports.now().toISOString()) {
    throw invalid('expires_at', 'Must lie in the future')
  }
  return ports.transact(async (stores) => {
    const user = wanted.user.includes('@')
      ? await stores.users.findByEmail(wanted.user)
      : await stores.users.find(wanted.user.toLowerCase())
    if (!user) throw new DomainError('not_found')
    return storeNewToken(ports, stores, OPERATOR, { ...wanted, user: user.id })
  })
}

/** Makes a token and stores its hash in a running transaction. */
export async function storeNewToken(
  ports: Needs<'now' | 'randomBytes' | 'newSha256'>,
  stores: Stores,
  actor: Actor,
  wanted: { user: string; name: string; expires_at: string | null },
): Promise<{ id: number; token: string }> {
  const token = newSecret(ports, TOKEN_PREFIX)
  const id = await stores.tokens.insert({
    user_id: wanted.user,
    name: wanted.name,
    prefix: token.slice(0, SHOWN),
    hash: hashSecret(ports, token),
    created_at: ports.now().toISOString(),
    expires_at: wanted.expires_at,
  })
  await record(ports, stores, actor, { type: 'token.issued', record: id, details: { user: wanted.user } })
  return { id, token }
}
