import type { RemovableKind, RemovedRecord } from '../removed-records/removed-record.ts'
import type { RemovedRecordStore } from '../removed-records/removed-record-store.ts'
import type { State } from './state.ts'

type Row = { id: number; removed_at: string | null }

export function memoryRemovedRecords(state: State): RemovedRecordStore {
  function rowsOf(kind: RemovableKind): Map<number, Row> {
    if (kind === 'organization') return state.organizations
    if (kind === 'member') return state.memberships
    if (kind === 'threat_blocker') return state.threatBlockers
    if (kind === 'vpn_profile') return state.vpnProfiles
    return state.securityFrameworks
  }
  function find(kind: RemovableKind, id: number): RemovedRecord | undefined {
    const removed_at = rowsOf(kind).get(id)?.removed_at
    return typeof removed_at === 'string' ? { kind, id, ...describe(state, kind, id), removed_at } : undefined
  }
  return {
    async list(kind, { after, limit, before }) {
      return [...rowsOf(kind).keys()]
        .filter((id) => id > after)
        .toSorted((a, b) => a - b)
        .flatMap((id) => find(kind, id) ?? [])
        .filter(({ removed_at }) => before === undefined || removed_at < before)
        .slice(0, limit)
    },

    async find(kind, id) {
      return find(kind, id)
    },

    async restore(kind, id) {
      const row = rowsOf(kind).get(id)
      if (typeof row?.removed_at !== 'string') return false
      rowsOf(kind).set(id, { ...row, removed_at: null })
      return true
    },

    // All at once: here nobody waits for the rest.
    async purge(kind, id, before) {
      const removed = find(kind, id)
      if (!removed || removed.removed_at >= before) return undefined
      const counts = new Map<string, number>()
      const files: number[] = []
      const erase = <Key, Value>(what: string, rows: Map<Key, Value>, belongs: (row: Value, key: Key) => boolean) => {
        for (const [key, row] of rows) {
          if (!belongs(row, key)) continue
          rows.delete(key)
          counts.set(what, (counts.get(what) ?? 0) + 1)
        }
      }
      const inside: Record<RemovableKind, (id: number) => void> = {
        organization(id) {
          for (const other of ['member', 'threat_blocker', 'vpn_profile', 'security_framework'] as const) {
            for (const [inner, row] of rowsOf(other)) {
              if ((row as Row & { organization: number }).organization === id) inside[other](inner)
            }
          }
          const belongs = ({ organization }: { organization: number }) => organization === id
          erase('notification', state.notifications, belongs)
          erase('assessment', state.assessments, belongs)
          erase('cloud_defense', state.cloudDefenses, belongs)
          erase('organization', state.organizations, (row) => row.id === id)
        },
        member(id) {
          const { organization, user } = state.memberships.get(id) ?? {}
          erase('invitation', state.invitations, ({ membership }) => membership === id)
          erase('member', state.memberships, (row) => row.id === id)
          const isKnown = [...state.memberships.values()].some(
            (row) => row.organization === organization && row.user === user,
          )
          if (isKnown) return
          erase('notification', state.notifications, (row) => row.organization === organization && row.user === user)
        },
        threat_blocker(id) {
          erase('threat', state.threats, ({ threat_blocker }) => threat_blocker === id)
          const slots = state.trafficSlots.get(id)?.length ?? 0
          if (slots > 0) counts.set('traffic_slot', (counts.get('traffic_slot') ?? 0) + slots)
          state.trafficSlots.delete(id)
          for (const { threat_blocker, raw } of state.trafficUploads.values()) {
            if (threat_blocker === id && raw) files.push(raw.file)
          }
          erase('traffic_upload', state.trafficUploads, ({ threat_blocker }) => threat_blocker === id)
          erase('threat_blocker', state.threatBlockers, (row) => row.id === id)
        },
        vpn_profile(id) {
          erase('vpn_profile', state.vpnProfiles, (row) => row.id === id)
        },
        security_framework(id) {
          for (const { framework, file } of state.documents.values()) if (framework === id) files.push(file)
          erase('document', state.documents, ({ framework }) => framework === id)
          const controls = state.securityFrameworks.get(id)?.security_frameworks.length ?? 0
          if (controls > 0) counts.set('control', (counts.get('control') ?? 0) + controls)
          erase('told', state.toldDue, (_, key) => key.startsWith(`${id}:`))
          counts.delete('told')
          erase('security_framework', state.securityFrameworks, (row) => row.id === id)
        },
      }
      inside[kind](id)
      return { isDone: true, counts: Object.fromEntries(counts), files }
    },
  }
}

function describe(
  state: State,
  kind: RemovableKind,
  id: number,
): Pick<RemovedRecord, 'organization' | 'record' | 'name'> {
  const record = String(id)
  const blocker = state.threatBlockers.get(id)
  const profile = state.vpnProfiles.get(id)
  const framework = state.securityFrameworks.get(id)
  const member = state.memberships.get(id)
  if (kind === 'threat_blocker' && blocker)
    return { organization: blocker.organization, record, name: blocker.device_id }
  if (kind === 'vpn_profile' && profile) return { organization: profile.organization, record, name: profile.email }
  if (kind === 'security_framework' && framework) {
    return { organization: framework.organization, record, name: framework.title }
  }
  if (kind === 'member' && member) {
    return { organization: member.organization, record: member.user, name: state.users.get(member.user)?.email ?? '' }
  }
  return { organization: id, record, name: state.organizations.get(id)?.name ?? '' }
}
