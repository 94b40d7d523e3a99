import type { TokenStore } from '../tokens/token-store.ts'
import { copy, type State } from './state.ts'

export function memoryTokens(state: State): TokenStore {
  return {
    async insert(token) {
      const id = state.nextId('tokens')
      state.tokens.set(id, copy({ id, ...token, last_used_at: null, revoked_at: null }))
      return id
    },

    async findByHash(hash) {
      const row = [...state.tokens.values()].find((token) => token.hash === hash && token.revoked_at === null)
      if (!row) return undefined
      const { id, user_id, expires_at, last_used_at } = row
      return { id, user_id, expires_at, last_used_at }
    },

    async list() {
      return [...state.tokens.values()].map(({ hash: _, ...token }) => copy(token))
    },

    async revoke(id, at) {
      const row = state.tokens.get(id)
      if (row?.revoked_at !== null) return false
      state.tokens.set(id, { ...row, revoked_at: at })
      return true
    },

    async touch(id, at) {
      const row = state.tokens.get(id)
      if (row) state.tokens.set(id, { ...row, last_used_at: at })
    },
  }
}
