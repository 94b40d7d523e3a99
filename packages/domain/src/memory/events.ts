import type { EventStore } from '../events.ts'
import { copy, type State } from './state.ts'

export function memoryEvents(state: State): EventStore {
  return {
    async append(event) {
      state.events.set(state.nextId('events'), copy(event))
    },

    async listOf(organization) {
      return copy([...state.events.values()].filter((event) => event.organization === organization))
    },
  }
}
