import type { User } from '../members/user.ts'
import type { UserStore } from '../members/user-store.ts'
import { fold } from '../values.ts'
import { compare } from './page-of.ts'
import { copy, type State } from './state.ts'

export function memoryUsers(state: State): UserStore {
  function withEmail(email: string): User | undefined {
    return [...state.users.values()].find((user) => fold(user.email) === fold(email))
  }
  return {
    async insert(user) {
      if (withEmail(user.email)) return false
      state.users.set(user.id, copy(user))
      return true
    },

    async find(id) {
      const user = state.users.get(id)
      return user && copy(user)
    },

    async findByEmail(email) {
      const user = withEmail(email)
      return user && copy(user)
    },

    async update(id, edit) {
      const user = state.users.get(id)
      if (user) state.users.set(id, { ...user, ...copy(edit) })
    },

    // Units run one after the other.
    async lock() {},

    async list() {
      return copy([...state.users.values()].toSorted((a, b) => compare(a.email, b.email)))
    },

    async isEmpty() {
      return state.users.size === 0
    },
  }
}
