import type { CounterStore } from '../counters/counter-store.ts'
import type { State } from './state.ts'

export function memoryCounters(state: State): CounterStore {
  return {
    async add(tallies) {
      return tallies.map(({ name, start, count }) => {
        const key = JSON.stringify([name, start])
        const sum = { name, start, count: (state.counters.get(key)?.count ?? 0) + count }
        state.counters.set(key, sum)
        return { ...sum }
      })
    },

    async forget(before) {
      for (const [key, { start }] of state.counters) if (start < before) state.counters.delete(key)
    },
  }
}
