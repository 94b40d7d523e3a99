import type { RequestCount, TrafficStore } from '../threat-blockers/traffic-store.ts'
import type { TrafficUpload } from '../threat-blockers/traffic-upload.ts'
import { compare, pageOf } from './page-of.ts'
import { copy, type State, type TrafficUploadRow } from './state.ts'

const HOUR = 3600
const DAY = 24 * HOUR

export function memoryTraffic(state: State): TrafficStore {
  function uploadsOf(threatBlocker: number): TrafficUploadRow[] {
    return [...state.trafficUploads.values()].filter((row) => row.threat_blocker === threatBlocker)
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

    async addHours(threatBlocker, hours) {
      const before = state.trafficHours.get(threatBlocker) ?? []
      state.trafficHours.set(threatBlocker, sumsBy(HOUR, [...before, ...hours]))
    },

    async counts(threatBlockers) {
      const found = new Map<number, { hours: RequestCount[]; days: RequestCount[] }>()
      for (const id of threatBlockers) {
        const all = state.trafficHours.get(id)
        const newest = all?.at(-1)
        if (!all || !newest) continue
        const hours = all.filter(({ start }) => start > newest.start - DAY)
        found.set(id, copy({ hours, days: sumsBy(DAY, all).slice(-30) }))
      }
      return found
    },
  }
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

function toUpload({ threat_blocker: _, ...upload }: TrafficUploadRow): TrafficUpload {
  return copy(upload)
}
