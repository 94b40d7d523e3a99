/** An API token as it is stored: everything but the token itself. */
export type Token = {
  id: number
  /** The person it stands for (UUID). */
  user_id: string
  name: string
  /** The first characters, by which its owner recognises it. */
  prefix: string
  created_at: string
  /** Null for a token that does not expire. */
  expires_at: string | null
  last_used_at: string | null
  revoked_at: string | null
}

export type NewToken = Pick<Token, 'user_id' | 'name' | 'prefix' | 'created_at' | 'expires_at'> & { hash: string }

/** API tokens, of which only the hash is known. */
export type TokenStore = {
  /** Stores the token and returns its id (integer >= 1). */
  insert(token: NewToken): Promise<number>
  /** The token with this hash that is not revoked, expired or not. */
  findByHash(hash: string): Promise<Pick<Token, 'id' | 'user_id' | 'expires_at' | 'last_used_at'> | undefined>
  /** All tokens, revoked ones included, oldest first. */
  list(): Promise<Token[]>
  /** False if there is none, or it is revoked already. */
  revoke(id: number, at: string): Promise<boolean>
  /** Notes that the token was used at `at`. */
  touch(id: number, at: string): Promise<void>
}
