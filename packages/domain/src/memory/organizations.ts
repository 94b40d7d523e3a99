import type { Organization } from '../organizations/organization.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import { fold } from '../values.ts'
import { bytesOf, pageOf } from './page-of.ts'
import { activeOrganization, copy, type OrganizationRow, type State } from './state.ts'

export function memoryOrganizations(state: State): OrganizationStore {
  return {
    async insert(organization) {
      const id = state.nextId('organizations')
      state.organizations.set(id, copy({ id, ...organization, removed_at: null }))
      return id
    },

    async findActive(id) {
      const row = activeOrganization(state, id)
      return row && toOrganization(row)
    },

    async isActive(id) {
      return activeOrganization(state, id) !== undefined
    },

    // Units of work run one at a time here, so that each holds every lock.
    async lock(id) {
      return activeOrganization(state, id) !== undefined
    },

    async listActive(ids, { name, sectors, industries }, page) {
      const rows = [...state.organizations.values()]
        .filter(({ id, removed_at }) => ids.includes(id) && removed_at === null)
        .filter((row) => name === undefined || fold(row.name).includes(fold(name)))
        .filter((row) => sectors === undefined || row.sectors.some((sector) => sectors.includes(sector)))
        .filter((row) => industries === undefined || row.industries.some((industry) => industries.includes(industry)))
      const { total, data } = pageOf(rows, page, ({ description, sectors, industries, contacts, domains, ips }) =>
        bytesOf(description, sectors, industries, contacts, domains, ips),
      )
      return { total, data: data.map(toOrganization) }
    },

    async update(id, edit) {
      const row = activeOrganization(state, id)
      if (!row) return undefined
      const edited = { ...row, ...copy(edit) }
      state.organizations.set(id, edited)
      return toOrganization(edited)
    },

    async remove(id, at) {
      const row = activeOrganization(state, id)
      if (!row) return undefined
      state.organizations.set(id, { ...row, removed_at: at })
      return toOrganization(row)
    },
  }
}

function toOrganization({ removed_at: _, ...organization }: OrganizationRow): Organization {
  return copy(organization)
}
