import type { NewThreat, Threat } from '../traffic/threat.ts'
import { SLOT } from '../traffic/traffic-reading.ts'
import type { RequestCount, TrafficCounts, TrafficStore } from '../traffic/traffic-store.ts'
import type { TrafficUpload } from '../traffic/traffic-upload.ts'
import { compare, pageOf } from './page-of.ts'
import { copy, type State, type ThreatRow, type TrafficUploadRow } from './state.ts'

const HOUR = 3600
const DAY = 24 * HOUR

export function memoryTraffic(state: State): TrafficStore {
  function uploadsOf(threatBlocker: number): TrafficUploadRow[] {
    return [...state.trafficUploads.values()].filter((row) => row.threat_blocker === threatBlocker)
  }
  function threatsOf(threatBlocker: number): ThreatRow[] {
    return [...state.threats.values()].filter((row) => row.threat_blocker === threatBlocker)
  }
  return {
    async insertUpload(upload) {
      if (uploadsOf(upload.threat_blocker).some(({ sha256 }) => sha256 === upload.sha256)) return undefined
      const id = state.nextId('trafficUploads')
      state.trafficUploads.set(id, copy({ id, ...upload }))
      return id
    },

    async findUpload(threatBlocker, id) {
      const row = uploadsOf(threatBlocker).find((upload) => upload.id === id)
      return row && toUpload(row)
    },

    async findUploadBySha256(threatBlocker, sha256) {
      const row = uploadsOf(threatBlocker).find((upload) => upload.sha256 === sha256)
      return row && toUpload(row)
    },

    async listUploads(threatBlocker, page) {
      const { total, data } = pageOf(uploadsOf(threatBlocker), page)
      return { total, data: data.map(toUpload) }
    },

    async findRaw(threatBlocker, id) {
      const raw = uploadsOf(threatBlocker).find((upload) => upload.id === id)?.raw
      return raw ? copy(raw) : undefined
    },

    async forgetRaw(before) {
      for (const row of state.trafficUploads.values()) {
        if (row.raw && row.received < before) state.trafficUploads.set(row.id, { ...row, raw: null })
      }
    },

    async addSlots(threatBlocker, slots) {
      const before = state.trafficSlots.get(threatBlocker) ?? []
      state.trafficSlots.set(threatBlocker, sumsBy(SLOT, [...before, ...slots]))
    },

    async counts(threatBlockers) {
      const found = new Map<number, TrafficCounts>()
      for (const id of threatBlockers) {
        const hours = sumsBy(HOUR, state.trafficSlots.get(id) ?? [])
        const newest = hours.at(-1)
        if (!newest) continue
        const ofChart = hours.filter(({ start }) => start > newest.start - DAY)
        found.set(id, { hours: ofChart, days: sumsBy(DAY, hours).slice(-30) })
      }
      return found
    },

    async statistics(threatBlockers, from, to, seconds) {
      const slots = threatBlockers.flatMap((id) => state.trafficSlots.get(id) ?? [])
      return sumsBy(
        seconds,
        slots.filter(({ start }) => start >= from && start < to),
      )
    },

    async addThreats(threatBlocker, threats) {
      const known = new Map(threatsOf(threatBlocker).map((row) => [keyOf(row), row]))
      for (const threat of threats) {
        const same = known.get(keyOf(threat))
        const id = same?.id ?? state.nextId('threats')
        const row = { ...together(threat, same), id, threat_blocker: threatBlocker }
        known.set(keyOf(threat), row)
        state.threats.set(id, row)
      }
    },

    async listThreats(threatBlocker, { kind, from = '', to = '~' }, page) {
      const matching = threatsOf(threatBlocker)
        .filter((row) => kind === undefined || row.kind === kind)
        .filter((row) => row.last_seen >= from && row.first_seen <= to)
      const { total, data } = pageOf(matching, page)
      return { total, data: data.map(toThreat) }
    },
  }
}

/** What one threat is told from another by. */
function keyOf({ kind, value, feed, entry, verdict }: NewThreat): string {
  return JSON.stringify([kind, value, feed, entry, verdict])
}

function together(threat: NewThreat, before: NewThreat | undefined): NewThreat {
  if (!before) return threat
  const [first_seen = '', last_seen = ''] = [before.first_seen, before.last_seen, threat.first_seen, threat.last_seen]
    .toSorted()
    .filter((_, index) => index === 0 || index === 3)
  const snapshot = Math.max(before.snapshot, threat.snapshot)
  return { ...threat, requests: before.requests + threat.requests, first_seen, last_seen, snapshot }
}

/** The counts added up by units of `seconds`, oldest first. */
function sumsBy(seconds: number, counts: RequestCount[]): RequestCount[] {
  const sums = new Map<number, RequestCount>()
  for (const count of counts) {
    const start = Math.floor(count.start / seconds) * seconds
    const { total, malicious } = sums.get(start) ?? { total: 0, malicious: 0 }
    sums.set(start, { start, total: total + count.total, malicious: malicious + count.malicious })
  }
  return [...sums.values()].toSorted((a, b) => compare(a.start, b.start))
}

function toUpload({ threat_blocker: _, raw: _raw, ...upload }: TrafficUploadRow): TrafficUpload {
  return copy(upload)
}

function toThreat({ threat_blocker: _, ...threat }: ThreatRow): Threat {
  return copy(threat)
}
