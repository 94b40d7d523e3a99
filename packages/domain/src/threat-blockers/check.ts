import type { Needs } from '../ports.ts'
import type { TrafficCounts } from '../traffic/traffic-store.ts'
import type { Check, StoredThreatBlocker, ThreatBlocker } from './threat-blocker.ts'

const HOUR = 3600
const DAY_IN_MS = 24 * 60 * 60 * 1000
const CHART_HOURS = 24

/** Adds `check` to stored blockers, whose counts are asked for together. */
export async function withChecks(
  ports: Needs<'traffic' | 'now'>,
  blockers: StoredThreatBlocker[],
): Promise<ThreatBlocker[]> {
  if (blockers.length === 0) return []
  const counts = await ports.traffic.counts(blockers.map(({ id }) => id))
  const now = ports.now()
  return blockers.map((blocker) => {
    const { created_at: _created, last_upload_at: _upload, has_vpn: _vpn, ...rest } = blocker
    return { ...rest, check: checkOf(blocker, counts.get(blocker.id) ?? { hours: [], days: [] }, now) }
  })
}

/** Adds `check` to one stored blocker. */
export async function withCheck(ports: Needs<'traffic' | 'now'>, blocker: StoredThreatBlocker): Promise<ThreatBlocker> {
  const [checked] = await withChecks(ports, [blocker])
  return checked as ThreatBlocker
}

/** How a blocker does at `now` (decisions.md §4, Threat blocker). */
export function checkOf(blocker: StoredThreatBlocker, { hours, days }: TrafficCounts, now: Date): Check {
  const { last_upload_at } = blocker
  return {
    stat: {
      vpn: blocker.has_vpn ? 1 : 0,
      dnsbl: blocker.services.includes('Service Domain Protection') ? 1 : 0,
      iplist: blocker.services.includes('Service IPv4 Protection') ? 1 : 0,
      datetime: last_upload_at ?? blocker.created_at,
    },
    status: last_upload_at !== null && now.getTime() - Date.parse(last_upload_at) <= DAY_IN_MS ? 1 : 0,
    web_stat: days.map((day) => ({
      datetime: new Date(day.start * 1000).toISOString(),
      waf_protection: Math.round((day.malicious / day.total) * 10_000) / 100,
      total_managed_requests: day.total,
    })),
    chart_stat: chart(hours),
  }
}

/** 24 contiguous hours that end with the newest one, empty ones as zeros; none before any traffic. */
function chart(hours: TrafficCounts['hours']): Check['chart_stat'] {
  const newest = hours.at(-1)
  if (!newest) return []
  const counted = new Map(hours.map((hour) => [hour.start, hour]))
  const first = newest.start - (CHART_HOURS - 1) * HOUR
  return Array.from({ length: CHART_HOURS }, (_, index) => {
    const start = first + index * HOUR
    const { total = 0, malicious = 0 } = counted.get(start) ?? {}
    return { bucket_start: start, bucket_end: start + HOUR, total_requests: total, malicious_requests: malicious }
  })
}
