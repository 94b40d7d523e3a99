import type { AnswerStore } from '../answers/answer-store.ts'
import type { State } from './state.ts'

export function memoryAnswers(state: State): AnswerStore {
  function find(id: string, since: string): Uint8Array | undefined {
    const row = state.answers.get(id)
    return row?.sealed && row.claimed_at >= since ? row.sealed.slice() : undefined
  }
  return {
    async claim(id, at, since) {
      const sealed = find(id, since)
      if (!sealed) state.answers.set(id, { sealed: null, claimed_at: at })
      return sealed
    },

    async keep(id, sealed) {
      const row = state.answers.get(id)
      if (row) state.answers.set(id, { ...row, sealed: sealed.slice() })
    },

    find: async (id, since) => find(id, since),

    async forget(before) {
      for (const [id, { claimed_at }] of state.answers) if (claimed_at < before) state.answers.delete(id)
    },
  }
}
