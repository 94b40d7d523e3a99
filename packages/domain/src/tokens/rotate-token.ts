import type { Caller } from '../access/caller.ts'
import { conflict, DomainError } from '../errors.ts'
import { record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { findOwnToken } from './find-own-token.ts'
import { newTokenSecret } from './issue-token.ts'
import { type IssuedToken, Rotation } from './token.ts'

const DAY = 24 * 60 * 60 * 1000

/**
 * Gives a token of the caller's a new secret. It stays the same token: its id, name, expiry and narrowing are kept, and to
 * revoke it ends both secrets. The secret of before works for the overlap that is asked for, and no longer than the token;
 * one from a rotation before that works no more. Rotations at the same time come one after the other, so that a token
 * never has more than these two secrets.
 *
 * @param input see `Rotation`.
 * @returns the token, whose new secret is shown this once.
 * @throws DomainError `not_found` (also when revoked, or another person's), `forbidden` (a narrowed token, and not this
 *   one), `invalid`, `conflict` (the token has expired).
 */
export async function rotateToken(
  ports: Needs<'transact' | 'now' | 'randomBytes' | 'newSha256'>,
  caller: Caller,
  id: number,
  input: unknown = {},
): Promise<IssuedToken> {
  return ports.transact(async (stores) => {
    await stores.users.lock([caller.user])
    const before = await findOwnToken(stores, caller, id)
    const { overlap_days } = parse(Rotation, input)
    const now = ports.now()
    const { expires_at } = before
    if (expires_at !== null && expires_at <= now.toISOString()) throw conflict('', 'The token has expired')
    const { token, ...secret } = newTokenSecret(ports)
    const overlapUntil = overlap_days === 0 ? null : earlier(new Date(now.getTime() + overlap_days * DAY), expires_at)
    if (!(await stores.tokens.rotate(id, secret, overlapUntil))) throw new DomainError('not_found')
    await record(ports, stores, caller, {
      type: 'token.rotated',
      record: id,
      changes: { prefix: [before.prefix, secret.prefix] },
      details: { overlap_days },
    })
    return { ...before, prefix: secret.prefix, token }
  })
}

/**
 * What can be refused before a body is read.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function permitRotateToken(ports: Needs<'tokens'>, caller: Caller, id: number): Promise<void> {
  await findOwnToken(ports, caller, id)
}

function earlier(time: Date, expires_at: string | null): string {
  const text = time.toISOString()
  return expires_at !== null && expires_at < text ? expires_at : text
}
