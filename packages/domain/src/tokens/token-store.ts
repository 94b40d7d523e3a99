import type { Narrowing } from '../access/policy.ts'
import type { Page, PageRequest } from '../page.ts'
import type { OwnToken } from './token.ts'

/** Fields that a person's tokens can be ordered by. */
export const TOKEN_ORDER = ['id', 'name', 'created_at'] as const

/** An API token as it is stored. */
export type Token = OwnToken & {
  /** The person it stands for (UUID). */
  user_id: string
  revoked_at: string | null
}

/** A token to be stored, as the SHA-256 of its text in hexadecimal. */
export type NewToken = Omit<Token, 'id' | 'last_used_at' | 'revoked_at'> & { hash: string }

/** What a request that shows a secret is let in by. `expires_at` is when that secret stops to work, null for never. */
export type FoundToken = Pick<Token, 'id' | 'user_id' | 'expires_at' | 'last_used_at'> & Narrowing

/** API tokens, of which only the hash is known. A token has one secret, and for a while after a rotation two. */
export type TokenStore = {
  /** Stores the token and returns its id (integer >= 1). */
  insert(token: NewToken): Promise<number>
  /** The token that is not revoked whose present secret, or the one before, has this hash; expired or not. */
  findByHash(hash: string): Promise<FoundToken | undefined>
  /** The token of this id that is not revoked, expired or not. */
  find(id: number): Promise<Token | undefined>
  /** All tokens, revoked ones included, oldest first. */
  list(): Promise<Token[]>
  /** The person's tokens that are not revoked, expired ones included; with `only`, that one or none. */
  listOf(user: string, page: PageRequest<(typeof TOKEN_ORDER)[number]>, only?: number): Promise<Page<Token>>
  /** How many of the person's tokens are neither revoked nor expired at `now`. */
  countLive(user: string, now: string): Promise<number>
  /**
   * Gives the token a new secret. The present one works until `overlapUntil`, or from now on not at all where that is
   * null; one from a rotation before works no more. False if there is no such token, or it is revoked.
   */
  rotate(id: number, secret: { hash: string; prefix: string }, overlapUntil: string | null): Promise<boolean>
  /** False if there is none, or it is revoked already. */
  revoke(id: number, at: string): Promise<boolean>
  /** Notes that the token was used at `at`, unless a use after `since` is noted already; says whether it did. */
  touch(id: number, at: string, since: string): Promise<boolean>
}
