import type { Stores } from '../ports.ts'
import type { NewThreat } from './threat.ts'
import type { ReadFile } from './traffic-reader.ts'
import type { SlotCount, ThreatCount } from './traffic-reading.ts'
import type { RequestCount } from './traffic-store.ts'

/**
 * Adds what was read of a file, for the first time, to the counts of its blocker, in a running transaction. The counts come
 * last: whoever adds to those of the same day waits from there to the commit.
 */
export async function addCounts(
  stores: Pick<Stores, 'traffic'>,
  threatBlocker: number,
  { slots, threats }: Pick<ReadFile, 'slots' | 'threats'>,
): Promise<void> {
  await stores.traffic.addThreats(
    threatBlocker,
    explained(threats, () => 0),
  )
  await stores.traffic.addSlots(threatBlocker, counted(slots))
}

function* counted(slots: Iterable<SlotCount>): Generator<RequestCount> {
  for (const slot of slots) yield { ...slot, found_later: 0 }
}

/**
 * Adds what was found in a file that was read again, whose lines have been counted: the requests are counted as malicious
 * at their own time, marked as found later.
 */
export async function addFoundLater(
  stores: Pick<Stores, 'traffic'>,
  threatBlocker: number,
  { slots, threats }: Pick<ReadFile, 'slots' | 'threats'>,
): Promise<void> {
  await stores.traffic.addThreats(
    threatBlocker,
    explained(threats, ({ requests }) => requests),
  )
  await stores.traffic.addSlots(threatBlocker, countedLater(slots))
}

function* countedLater(slots: Iterable<SlotCount>): Generator<RequestCount> {
  for (const { start, malicious } of slots) {
    if (malicious > 0) yield { start, total: 0, malicious, found_later: malicious }
  }
}

function* explained(threats: Iterable<ThreatCount>, laterOf: (threat: ThreatCount) => number): Generator<NewThreat> {
  for (const threat of threats) yield { ...threatOf(threat), found_later: laterOf(threat) }
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
