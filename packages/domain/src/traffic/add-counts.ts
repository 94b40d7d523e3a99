import type { Stores } from '../ports.ts'
import type { ThreatCount, TrafficSummary } from './traffic-reading.ts'

/** Adds what was read of a file, for the first time, to the counts of its blocker, in a running transaction. */
export async function addCounts(
  stores: Pick<Stores, 'traffic'>,
  threatBlocker: number,
  { slots, threats }: Pick<TrafficSummary, 'slots' | 'threats'>,
): Promise<void> {
  const counts = slots.map((slot) => ({ ...slot, found_later: 0 }))
  await stores.traffic.addSlots(threatBlocker, counts)
  const found = threats.map((threat) => ({ ...threatOf(threat), found_later: 0 }))
  await stores.traffic.addThreats(threatBlocker, found)
}

/**
 * Adds what was found in a file that was read again, whose lines have been counted: the requests are counted as malicious
 * at their own time, marked as found later.
 */
export async function addFoundLater(
  stores: Pick<Stores, 'traffic'>,
  threatBlocker: number,
  { slots, threats }: Pick<TrafficSummary, 'slots' | 'threats'>,
): Promise<void> {
  const counts = slots
    .filter(({ malicious }) => malicious > 0)
    .map(({ start, malicious }) => ({ start, total: 0, malicious, found_later: malicious }))
  await stores.traffic.addSlots(threatBlocker, counts)
  const found = threats.map((threat) => ({ ...threatOf(threat), found_later: threat.requests }))
  await stores.traffic.addThreats(threatBlocker, found)
}

function threatOf({ kind, value, finding, verdict, requests, first_seen, last_seen }: ThreatCount) {
  return {
    kind,
    value,
    requests,
    first_seen: new Date(first_seen).toISOString(),
    last_seen: new Date(last_seen).toISOString(),
    feed: finding?.feed ?? '',
    entry: finding?.entry ?? '',
    snapshot: finding?.snapshot ?? 0,
    verdict: verdict ?? '',
  }
}
