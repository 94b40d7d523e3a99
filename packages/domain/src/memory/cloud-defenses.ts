import type { CloudDefense } from '../cloud-defenses/cloud-defense.ts'
import type { CloudDefenseStore } from '../cloud-defenses/cloud-defense-store.ts'
import { bytesOf, pageOf } from './page-of.ts'
import { type CloudDefenseRow, copy, isActive, type State, summaryOf } from './state.ts'

export function memoryCloudDefenses(state: State): CloudDefenseStore {
  return {
    async insert(defense) {
      const id = state.nextId('cloudDefenses')
      state.cloudDefenses.set(id, copy({ id, ...defense }))
      return id
    },

    async findActive(id) {
      const row = state.cloudDefenses.get(id)
      return row && isActive(state, row) ? toCloudDefense(state, row) : undefined
    },

    async listActive(organizations, { service }, page) {
      const rows = [...state.cloudDefenses.values()]
        .filter((row) => organizations.includes(row.organization) && isActive(state, row))
        .filter(({ services }) => service === undefined || services.some((enabled) => enabled === service))
      const { total, data } = pageOf(rows, page, ({ check, services }) => bytesOf(check, services))
      return { total, data: data.map((row) => toCloudDefense(state, row)) }
    },
  }
}

function toCloudDefense(state: State, row: CloudDefenseRow): CloudDefense {
  return copy({ ...row, organization: summaryOf(state, row.organization) })
}
