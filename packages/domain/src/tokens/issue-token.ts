import { type Actor, OPERATOR } from '../access/caller.ts'
import { ROLES } from '../access/policy.ts'
import { DomainError, invalid } from '../errors.ts'
import { changesBetween, record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs, Stores } from '../ports.ts'
import { hashSecret, newSecret, TOKEN_PREFIX } from './secret.ts'
import { type IssuedToken, NewTokenInput } from './token.ts'
import type { NewToken } from './token-store.ts'

/** Characters of a token that may be shown later: its prefix and the next six. */
const SHOWN = TOKEN_PREFIX.length + 6

/**
 * Issues an API token at the operator's word.
 *
 * @param input see `NewTokenInput`.
 * @returns the token, whose secret is shown this once.
 * @throws DomainError `invalid` (also an expiry that has passed, and an organization that the person is no member of),
 *   `not_found` (no such person).
 */
export async function issueToken(
  ports: Needs<'transact' | 'now' | 'randomBytes' | 'newSha256'>,
  input: unknown,
): Promise<IssuedToken> {
  const { user: named, ...wanted } = parse(NewTokenInput, input)
  return ports.transact(async (stores) => {
    const user = named.includes('@')
      ? await stores.users.findByEmail(named)
      : await stores.users.find(named.toLowerCase())
    if (!user) throw new DomainError('not_found')
    return storeNewToken(ports, stores, OPERATOR, { ...wanted, user_id: user.id })
  })
}

/** What is asked of a new token. */
export type WantedToken = Pick<NewToken, 'user_id' | 'name' | 'expires_at' | 'access' | 'organizations'>

/**
 * Makes a token and stores its hash in a running transaction.
 *
 * @throws DomainError `invalid` (an expiry that has passed, an organization that the person is no member of).
 */
export async function storeNewToken(
  ports: Needs<'now' | 'randomBytes' | 'newSha256'>,
  stores: Stores,
  actor: Actor,
  wanted: WantedToken,
): Promise<IssuedToken> {
  const created_at = ports.now().toISOString()
  const { user_id, name, access, expires_at } = wanted
  if (expires_at !== null && expires_at <= created_at) throw invalid('expires_at', 'Must lie in the future')
  const organizations = await namedOrganizations(stores, wanted)
  const { token, ...secret } = newTokenSecret(ports)
  const shown = { name, access, organizations, created_at, expires_at }
  const id = await stores.tokens.insert({ ...shown, ...secret, user_id })
  await record(ports, stores, actor, {
    type: 'token.issued',
    record: id,
    changes: changesBetween({}, { name, access, organizations, expires_at }),
    details: { user: user_id },
  })
  return { id, ...shown, prefix: secret.prefix, last_used_at: null, token }
}

/** A new secret, with what is stored of it. */
export function newTokenSecret(ports: Needs<'randomBytes' | 'newSha256'>): {
  token: string
  hash: string
  prefix: string
} {
  const token = newSecret(ports, TOKEN_PREFIX)
  return { token, hash: hashSecret(ports, token), prefix: token.slice(0, SHOWN) }
}

/** The organizations that a token is to be held to, each once. */
async function namedOrganizations(stores: Stores, { user_id, organizations }: WantedToken): Promise<number[] | null> {
  if (organizations === null) return null
  const theirs = new Set(await stores.members.organizationsOf(user_id, [...ROLES]))
  const problems = organizations.flatMap((id, index) =>
    theirs.has(id) ? [] : [{ path: `organizations.${index}`, message: 'The person is no member of this organization' }],
  )
  if (problems.length > 0) throw new DomainError('invalid', problems)
  return [...new Set(organizations)]
}
