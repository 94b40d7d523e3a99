import type { StoredThreatBlocker } from '../threat-blockers/threat-blocker.ts'
import type { ThreatBlockerStore } from '../threat-blockers/threat-blocker-store.ts'
import { bytesOf, compare, pageOf } from './page-of.ts'
import { copy, isActive, type State, summaryOf, type ThreatBlockerRow } from './state.ts'

export function memoryThreatBlockers(state: State): ThreatBlockerStore {
  function active(): ThreatBlockerRow[] {
    return [...state.threatBlockers.values()].filter((row) => isActive(state, row))
  }
  function find(id: number): ThreatBlockerRow | undefined {
    const row = state.threatBlockers.get(id)
    return row && isActive(state, row) ? row : undefined
  }
  return {
    async insert(blocker) {
      const id = state.nextId('threatBlockers')
      const unset = { plugin: { name: 'none', config: {} }, endpoint: '', privateIP: '', removed_at: null }
      state.threatBlockers.set(id, copy({ id, ...blocker, ...unset }))
      return id
    },

    async findActive(id) {
      const row = find(id)
      return row && toThreatBlocker(state, row)
    },

    async findActiveByKey(atbKey) {
      const row = active().find(({ atb_key }) => atb_key === atbKey)
      return row && toThreatBlocker(state, row)
    },

    async listActive(organizations, { service }, page) {
      const rows = active()
        .filter(({ organization }) => organizations.includes(organization))
        .filter(({ services }) => service === undefined || services.some((enabled) => enabled === service))
      const { total, data } = pageOf(rows, page, ({ plugin }) => bytesOf(plugin))
      return { total, data: data.map((row) => toThreatBlocker(state, row)) }
    },

    async idsOf(organizations) {
      return active()
        .filter(({ organization }) => organizations.includes(organization))
        .map(({ id }) => id)
        .toSorted((a, b) => a - b)
    },

    lock: async (id) => find(id) !== undefined,

    async update(id, edit) {
      const row = find(id)
      if (!row) return false
      state.threatBlockers.set(id, { ...row, ...copy(edit) })
      return true
    },

    async remove(id, at) {
      const row = find(id)
      if (!row) return false
      state.threatBlockers.set(id, { ...row, removed_at: at })
      return true
    },
  }
}

function toThreatBlocker(state: State, { removed_at: _, ...row }: ThreatBlockerRow): StoredThreatBlocker {
  const received = [...state.trafficUploads.values()]
    .filter((upload) => upload.threat_blocker === row.id)
    .map((upload) => upload.received)
  const vpns = [...state.vpnProfiles.values()].filter(({ organization }) => organization === row.organization)
  return copy({
    ...row,
    organization: summaryOf(state, row.organization),
    last_upload_at: received.toSorted(compare).at(-1) ?? null,
    has_vpn: vpns.some((profile) => isActive(state, profile)),
  })
}
