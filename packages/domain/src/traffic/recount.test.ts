import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { aWorld } from '../testing/world.ts'
import { createThreatBlocker } from '../threat-blockers/create-threat-blocker.ts'
import { readThreatBlocker } from '../threat-blockers/read-threat-blocker.ts'
import { BUCKETS, readStatistics } from './read-statistics.ts'
import { uploadTraffic } from './upload-traffic.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A request, and how a log writes its time. */
type Sent = { time: number; malicious: boolean; offset: number }

/** Around the world's present, around both changes to and from daylight-saving time, before 1970, and far in the future. */
const moments = fc
  .tuple(
    fc.constantFrom(
      '2026-03-01T12:00Z',
      '2026-03-29T01:00Z',
      '2025-10-26T01:00Z',
      '1969-12-31T23:30Z',
      '9998-06-01T00:00Z',
    ),
    fc.integer({ min: -40 * DAY, max: 40 * DAY }),
  )
  .map(([around, distance]) => Date.parse(around) + distance)

const lines = fc.record<Sent>({
  time: moments,
  malicious: fc.boolean(),
  offset: fc.constantFrom(0, 60, 120, -300, 345),
})

function written({ time, malicious, offset }: Sent, index: number) {
  const local = new Date(time + offset * 60_000).toISOString().slice(0, -1)
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((n) =>
    `${n}`.padStart(2, '0'),
  )
  return {
    timestamp: `${local}${offset < 0 ? '-' : '+'}${hours}:${minutes}`,
    verdict: malicious ? 'blocked' : 'ok',
    index,
  }
}

async function* contentOf(value: unknown): AsyncGenerator<Uint8Array> {
  yield Buffer.from(JSON.stringify(value))
}

/** The requests by units of `length` milliseconds. */
function recount(sent: Sent[], length: number): Map<number, { total: number; malicious: number }> {
  const units = new Map<number, { total: number; malicious: number }>()
  for (const { time, malicious } of sent) {
    const start = Math.floor(time / length) * length
    const unit = units.get(start) ?? { total: 0, malicious: 0 }
    units.set(start, { total: unit.total + 1, malicious: unit.malicious + (malicious ? 1 : 0) })
  }
  return units
}

test('charts and statistics are what a recount of all lines gives, in whatever order and files they came', async () => {
  const uploads = fc.array(fc.array(lines, { maxLength: 12 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(uploads, fc.constantFrom(...BUCKETS), moments, async (files, bucket, until) => {
      const { ports, as, organization } = await aWorld()
      const fields = { organization, device_id: 'd', email: 'soc@acme.example', type: 'series', services: [] }
      const id = await createThreatBlocker(ports, as.owner, fields)
      const distinct = new Map(files.map((file) => [JSON.stringify(file.map(written)), file]))
      // A file that is sent again counts once.
      for (const file of [...files, ...files.slice(0, 1)]) {
        await uploadTraffic(ports, as.owner, id, { file_name: 'a.json', content: contentOf(file.map(written)) })
      }
      const sent = [...distinct.values()].flat()

      const { check } = await readThreatBlocker(ports, as.viewer, id)
      const hours = recount(sent, HOUR)
      const newest = Math.max(...hours.keys())
      const chart = sent.length === 0 ? [] : Array.from({ length: 24 }, (_, index) => newest - (23 - index) * HOUR)
      expect(check.chart_stat).toEqual(
        chart.map((start) => ({
          bucket_start: start / 1000,
          bucket_end: start / 1000 + 3600,
          total_requests: hours.get(start)?.total ?? 0,
          malicious_requests: hours.get(start)?.malicious ?? 0,
        })),
      )
      const days = [...recount(sent, DAY)].toSorted(([a], [b]) => a - b).slice(-30)
      expect(check.web_stat).toEqual(
        days.map(([start, { total, malicious }]) => ({
          datetime: new Date(start).toISOString(),
          waf_protection: Math.round((malicious / total) * 10_000) / 100,
          total_managed_requests: total,
        })),
      )

      const to = new Date(until).toISOString()
      const from = new Date(until - 30 * HOUR).toISOString()
      const statistics = await readStatistics(ports, as.viewer, id, { from, to, bucket })
      const units = recount(sent, bucket * 1000)
      const wrong = statistics.buckets.filter(({ bucket_start, total_requests, malicious_requests }) => {
        const { total = 0, malicious = 0 } = units.get(bucket_start * 1000) ?? {}
        return total_requests !== total || malicious_requests !== malicious
      })
      expect(wrong).toEqual([])
      const covered = (statistics.buckets.at(0)?.bucket_start ?? 0) * 1000 <= until - 30 * HOUR
      expect([covered, (statistics.buckets.at(-1)?.bucket_end ?? 0) * 1000 > until]).toEqual([true, true])
    }),
    { numRuns: 60 },
  )
})
