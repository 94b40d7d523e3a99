import type { Token, TokenStore } from '../tokens/token-store.ts'
import { pageOf } from './page-of.ts'
import { copy, type State, type TokenRow } from './state.ts'

export function memoryTokens(state: State): TokenStore {
  function valid(): TokenRow[] {
    return [...state.tokens.values()].filter((row) => row.revoked_at === null)
  }
  /** Makes the changes, unless the token is not there or revoked. */
  function change(id: number, changes: (row: TokenRow) => Partial<TokenRow>): boolean {
    const row = state.tokens.get(id)
    if (row?.revoked_at !== null) return false
    state.tokens.set(id, { ...row, ...changes(row) })
    return true
  }
  return {
    async insert(token) {
      const id = state.nextId('tokens')
      const unused = { last_used_at: null, revoked_at: null, previous_hash: null, previous_expires_at: null }
      state.tokens.set(id, copy({ id, ...token, ...unused }))
      return id
    },

    async findByHash(hash) {
      const row = valid().find((token) => token.hash === hash || token.previous_hash === hash)
      if (!row) return undefined
      const { id, user_id, last_used_at, access, organizations } = row
      const expires_at = row.hash === hash ? row.expires_at : row.previous_expires_at
      return copy({ id, user_id, expires_at, last_used_at, access, organizations })
    },

    async find(id) {
      const row = valid().find((token) => token.id === id)
      return row && toToken(row)
    },

    async list() {
      return [...state.tokens.values()].map(toToken)
    },

    async listOf(user, page, only) {
      const rows = valid().filter((row) => row.user_id === user && (only === undefined || row.id === only))
      const { total, data } = pageOf(rows, page)
      return { total, data: data.map(toToken) }
    },

    async countLive(user, now) {
      return valid().filter((row) => row.user_id === user && (row.expires_at === null || row.expires_at > now)).length
    },

    async rotate(id, secret, overlapUntil) {
      return change(id, ({ hash }) => ({
        ...secret,
        previous_hash: overlapUntil === null ? null : hash,
        previous_expires_at: overlapUntil,
      }))
    },

    async revoke(id, at) {
      return change(id, () => ({ revoked_at: at }))
    },

    async touch(id, at, since) {
      const row = state.tokens.get(id)
      if (!row || (row.last_used_at !== null && row.last_used_at > since)) return false
      state.tokens.set(id, { ...row, last_used_at: at })
      return true
    },
  }
}

function toToken({ hash: _hash, previous_hash: _previous, previous_expires_at: _until, ...token }: TokenRow): Token {
  return copy(token)
}
