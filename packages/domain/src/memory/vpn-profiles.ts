import type { VpnProfile } from '../vpn-profiles/vpn-profile.ts'
import type { VpnProfileStore } from '../vpn-profiles/vpn-profile-store.ts'
import { pageOf } from './page-of.ts'
import { copy, isActive, type State, summaryOf, type VpnProfileRow } from './state.ts'

export function memoryVpnProfiles(state: State): VpnProfileStore {
  function find(id: number): VpnProfileRow | undefined {
    const row = state.vpnProfiles.get(id)
    return row && isActive(state, row) ? row : undefined
  }
  return {
    async insert(profile) {
      const id = state.nextId('vpnProfiles')
      state.vpnProfiles.set(id, copy({ id, ...profile, removed_at: null }))
      return id
    },

    async findActive(id) {
      const row = find(id)
      return row && toVpnProfile(state, row)
    },

    async listActive(organizations, page) {
      const rows = [...state.vpnProfiles.values()].filter(
        (row) => organizations.includes(row.organization) && isActive(state, row),
      )
      const { total, data } = pageOf(rows, page)
      return { total, data: data.map((row) => toVpnProfile(state, row)) }
    },

    async remove(id, at) {
      const row = find(id)
      if (!row) return false
      state.vpnProfiles.set(id, { ...row, removed_at: at })
      return true
    },
  }
}

function toVpnProfile(state: State, { removed_at: _, ...row }: VpnProfileRow): VpnProfile {
  return copy({ ...row, organization: summaryOf(state, row.organization) })
}
