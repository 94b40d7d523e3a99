import type { NewThreat, Threat } from '../traffic/threat.ts'
import { type Judgement, SLOT, type SlotCount } from '../traffic/traffic-reading.ts'
import type { RequestCount, TrafficCounts, TrafficStore } from '../traffic/traffic-store.ts'
import type { TrafficUpload } from '../traffic/traffic-upload.ts'
import { compare, pageOf } from './page-of.ts'
import { activeOrganization, copy, isActive, type State, type ThreatRow, type TrafficUploadRow } from './state.ts'

const HOUR = 3600
const DAY = 24 * HOUR

export function memoryTraffic(state: State): TrafficStore {
  function uploadsOf(threatBlocker: number): TrafficUploadRow[] {
    return [...state.trafficUploads.values()].filter((row) => row.threat_blocker === threatBlocker)
  }
  function threatsOf(threatBlocker: number): ThreatRow[] {
    return [...state.threats.values()].filter((row) => row.threat_blocker === threatBlocker)
  }
  function uploadsIn(organization: number): TrafficUploadRow[] {
    return [...state.trafficUploads.values()].filter(
      (row) => state.threatBlockers.get(row.threat_blocker)?.organization === organization,
    )
  }
  function outdated(version: number, since: string): TrafficUploadRow[] {
    return [...state.trafficUploads.values()].filter((row) => {
      const blocker = state.threatBlockers.get(row.threat_blocker)
      const isOld = row.raw !== null && row.received >= since && row.judgement.version < version
      return isOld && blocker !== undefined && isActive(state, blocker)
    })
  }
  /** The first active organization with finds that nobody was told of, and nothing left to judge. */
  function untold(version: number, since: string): number | undefined {
    const busy = new Set(
      outdated(version, since).map((row) => state.threatBlockers.get(row.threat_blocker)?.organization),
    )
    const idle = [...state.organizations.keys()].filter((id) => activeOrganization(state, id) && !busy.has(id))
    return idle.toSorted(compare).find((id) => uploadsIn(id).some((row) => row.untold > 0))
  }
  return {
    async insertUpload(upload) {
      if (uploadsOf(upload.threat_blocker).some(({ sha256 }) => sha256 === upload.sha256)) return undefined
      const id = state.nextId('trafficUploads')
      const { judgement, ...plain } = upload
      const later = { found_later: 0, untold: 0, lease_until: null }
      state.trafficUploads.set(id, { id, ...copy(plain), ...later, judgement: copyOf(judgement) })
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

    async rawSizeOf(organization) {
      const uploads = [...state.trafficUploads.values()].filter(
        ({ threat_blocker }) => state.threatBlockers.get(threat_blocker)?.organization === organization,
      )
      return uploads.reduce((sum, { raw }) => sum + (raw?.size ?? 0), 0)
    },

    async forgetRaw(before) {
      for (const row of state.trafficUploads.values()) {
        if (row.raw && row.received < before) state.trafficUploads.set(row.id, { ...row, raw: null })
      }
    },

    async hasOutdated(version, since, now) {
      return outdated(version, since).some((row) => isFree(row, now)) || untold(version, since) !== undefined
    },

    async leaseOutdated(version, since, now, leaseUntil) {
      const [row] = outdated(version, since)
        .filter((upload) => isFree(upload, now))
        .toSorted((a, b) => compare(b.received, a.received) || compare(b.id, a.id))
      const blocker = row && state.threatBlockers.get(row.threat_blocker)
      if (!row?.raw || !blocker) return undefined
      state.trafficUploads.set(row.id, { ...row, lease_until: leaseUntil })
      const { id, threat_blocker, raw, judgement } = row
      return { id, threat_blocker, services: [...blocker.services], raw: copy(raw), judgement: copyOf(judgement) }
    },

    async finishJudging(upload, leaseUntil, judgement, found) {
      const row = state.trafficUploads.get(upload)
      if (row?.lease_until !== leaseUntil) return false
      state.trafficUploads.set(upload, {
        ...row,
        lease_until: null,
        judgement: copyOf(judgement),
        malicious: row.malicious + found,
        found_later: row.found_later + found,
        untold: row.untold + found,
      })
      return true
    },

    async takeFoundLater(version, since) {
      const organization = untold(version, since)
      if (organization === undefined) return undefined
      const rows = uploadsIn(organization).filter((row) => row.untold > 0)
      for (const row of rows) state.trafficUploads.set(row.id, { ...row, untold: 0 })
      return { organization, uploads: rows.length, requests: rows.reduce((sum, row) => sum + row.untold, 0) }
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
        found.set(id, { hours: ofChart.map(toCount), days: sumsBy(DAY, hours).slice(-30).map(toCount) })
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
  const requests = before.requests + threat.requests
  const found_later = before.found_later + threat.found_later
  return { ...threat, requests, found_later, first_seen, last_seen, snapshot }
}

/** The counts added up by units of `seconds`, oldest first. */
function sumsBy(seconds: number, counts: RequestCount[]): RequestCount[] {
  const sums = new Map<number, RequestCount>()
  for (const count of counts) {
    const start = Math.floor(count.start / seconds) * seconds
    const { total, malicious, found_later } = sums.get(start) ?? { total: 0, malicious: 0, found_later: 0 }
    sums.set(start, {
      start,
      total: total + count.total,
      malicious: malicious + count.malicious,
      found_later: found_later + count.found_later,
    })
  }
  return [...sums.values()].toSorted((a, b) => compare(a.start, b.start))
}

function toCount({ start, total, malicious }: SlotCount): SlotCount {
  return { start, total, malicious }
}

function isFree({ lease_until }: TrafficUploadRow, now: string): boolean {
  return lease_until === null || lease_until <= now
}

function copyOf({ version, malicious_lines }: Judgement): Judgement {
  return { version, malicious_lines: malicious_lines.slice() }
}

function toUpload(row: TrafficUploadRow): TrafficUpload {
  const { threat_blocker: _, raw: _raw, judgement: _judgement, untold: _untold, lease_until: _lease, ...upload } = row
  return copy(upload)
}

function toThreat({ threat_blocker: _, ...threat }: ThreatRow): Threat {
  return copy(threat)
}
