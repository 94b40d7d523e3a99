import * as v from 'valibot'
import { organizationsFor } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { invalid } from '../errors.ts'
import { described, object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { findThreatBlocker, type ThreatBlockerRef } from '../threat-blockers/find-threat-blocker.ts'
import { ChartStat } from '../threat-blockers/threat-blocker.ts'
import { Count, Id, MAX_TIME, MIN_TIME, periodEntries, Timestamp } from '../values.ts'

/** Lengths of a bucket, in seconds: five minutes, an hour, a UTC day. */
export const BUCKETS = [300, 3600, 86_400] as const

/** Buckets that one answer may have. */
const MAX_BUCKETS = 10_000

const DAY = 86_400

/** Period and bucket of statistics: the last 24 hours by the hour, unless said otherwise. */
export const StatisticsQuery = object({
  ...periodEntries('from', 'to'),
  bucket: v.optional(v.pipe(v.number(), v.metadata({ type: 'integer', enum: BUCKETS }), v.picklist(BUCKETS)), 3600),
})

/** The same, for all of the caller's organizations, or for one. */
export const AllStatisticsQuery = object({ ...StatisticsQuery.entries, organization: v.optional(Id) })

const FoundLater = described(Count, 'Among the malicious: requests that were not known as such at first.')

/** Requests counted in one bucket. */
export const StatisticsBucket = object({ ...ChartStat.entries, found_later: FoundLater })

/** Requests over a period, in contiguous buckets. */
export const Statistics = object({
  from: described(Timestamp, 'Start of the period that is covered: the one asked for, widened to whole buckets.'),
  to: described(Timestamp, 'End of the period that is covered, exclusive.'),
  bucket: described(v.picklist(BUCKETS), 'Length of a bucket in seconds.'),
  total_requests: Count,
  malicious_requests: Count,
  found_later: FoundLater,
  buckets: v.array(StatisticsBucket),
})
export type Statistics = v.InferOutput<typeof Statistics>

/**
 * Counts the requests that one blocker saw.
 *
 * @param input see `StatisticsQuery`.
 * @throws DomainError `not_found`, `forbidden`, `invalid` (also more than 10,000 buckets).
 */
export async function readStatistics(
  ports: Needs<'threatBlockers' | 'organizations' | 'members' | 'traffic' | 'now'>,
  caller: Caller,
  ref: ThreatBlockerRef,
  input: unknown = {},
): Promise<Statistics> {
  const blocker = await findThreatBlocker(ports, caller, ref, 'traffic.read')
  return statisticsOf(ports, [blocker.id], parse(StatisticsQuery, input))
}

/**
 * Counts the requests that the active blockers of all of the caller's organizations saw together, or those of one.
 *
 * @param input see `AllStatisticsQuery`.
 * @throws DomainError `invalid` (also more than 10,000 buckets).
 */
export async function readAllStatistics(
  ports: Needs<'threatBlockers' | 'members' | 'traffic' | 'now'>,
  caller: Caller,
  input: unknown = {},
): Promise<Statistics> {
  const { organization, ...period } = parse(AllStatisticsQuery, input)
  const organizations = await organizationsFor(ports, caller, 'traffic.read', organization)
  return statisticsOf(ports, await ports.threatBlockers.idsOf(organizations), period)
}

async function statisticsOf(
  ports: Needs<'traffic' | 'now'>,
  threatBlockers: number[],
  query: v.InferOutput<typeof StatisticsQuery>,
): Promise<Statistics> {
  const { bucket } = query
  const last = query.to ? Date.parse(query.to) / 1000 : ports.now().getTime() / 1000
  const first = query.from ? Date.parse(query.from) / 1000 : last - DAY
  if (first > last) throw invalid('from', 'Must not lie after the end of the period')
  const from = Math.floor(first / bucket) * bucket
  // The end belongs to the period, so that one that falls between two buckets takes the later one in.
  const to = Math.floor(last / bucket) * bucket + bucket
  // At the ends of the calendar the whole buckets, or the day before, could lie where no timestamp does.
  if (to * 1000 > MAX_TIME) throw invalid('to', 'The period must end before the year 10000')
  if (from * 1000 < MIN_TIME) throw invalid(query.from ? 'from' : 'to', 'The period must begin after the year 0')
  const count = (to - from) / bucket
  if (count > MAX_BUCKETS) throw invalid('bucket', `The period has more than ${MAX_BUCKETS} buckets of this length`)
  const counted = new Map(
    (await ports.traffic.statistics(threatBlockers, from, to, bucket)).map((found) => [found.start, found]),
  )
  const buckets = Array.from({ length: count }, (_, index) => {
    const start = from + index * bucket
    const { total = 0, malicious = 0, found_later = 0 } = counted.get(start) ?? {}
    return {
      bucket_start: start,
      bucket_end: start + bucket,
      total_requests: total,
      malicious_requests: malicious,
      found_later,
    }
  })
  return {
    from: new Date(from * 1000).toISOString(),
    to: new Date(to * 1000).toISOString(),
    bucket,
    total_requests: buckets.reduce((sum, { total_requests }) => sum + total_requests, 0),
    malicious_requests: buckets.reduce((sum, { malicious_requests }) => sum + malicious_requests, 0),
    found_later: buckets.reduce((sum, { found_later }) => sum + found_later, 0),
    buckets,
  }
}
