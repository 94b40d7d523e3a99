import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Needs } from '../ports.ts'
import { hashSecret, isSecret, TOKEN_PREFIX } from './secret.ts'

/** A token's last use is noted at most once in this many milliseconds. */
const TOUCH_EVERY = 60_000

/**
 * Says who sent this API token, and how far it is narrowed. A text of the wrong form or checksum costs no look-up.
 *
 * @returns the caller, and whether the token's last use is due to be noted with `noteTokenUse`.
 * @throws DomainError `unauthenticated` (unknown, revoked, expired).
 */
export async function authenticate(
  ports: Needs<'tokens' | 'now' | 'newSha256'>,
  text: string,
): Promise<Caller & { token: number; useIsDue: boolean }> {
  if (!isSecret(ports, TOKEN_PREFIX, text)) throw new DomainError('unauthenticated')
  const token = await ports.tokens.findByHash(hashSecret(ports, text))
  const now = ports.now()
  if (!token || (token.expires_at !== null && token.expires_at <= now.toISOString())) {
    throw new DomainError('unauthenticated')
  }
  const useIsDue = token.last_used_at === null || now.getTime() - Date.parse(token.last_used_at) > TOUCH_EVERY
  const { access, organizations } = token
  return { user: token.user_id, token: token.id, narrowing: { access, organizations }, useIsDue }
}

/**
 * Notes that a token was used, unless that was noted within the last minute, by whatever process; called beside a request,
 * never on its path.
 */
export async function noteTokenUse(ports: Needs<'transact' | 'now'>, token: number): Promise<void> {
  const now = ports.now()
  const since = new Date(now.getTime() - TOUCH_EVERY).toISOString()
  await ports.transact((stores) => stores.tokens.touch(token, now.toISOString(), since))
}
