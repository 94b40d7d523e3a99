import type { DocumentStore } from '../security-frameworks/document-store.ts'
import { copy, isActive, type State } from './state.ts'

export function memoryDocuments(state: State): DocumentStore {
  return {
    async insert(document) {
      state.documents.set(state.nextId('documents'), copy(document))
    },

    async sizeOf(organization) {
      const documents = [...state.documents.values()].filter((document) => document.organization === organization)
      return documents.reduce((sum, { size }) => sum + size, 0)
    },

    async findActive({ organization, framework, control, name }) {
      const row = state.securityFrameworks.get(framework)
      if (row?.organization !== organization || !isActive(state, row)) return undefined
      const document = [...state.documents.values()].find(
        (candidate) => candidate.framework === framework && candidate.control === control && candidate.name === name,
      )
      return document && copy(document)
    },
  }
}
