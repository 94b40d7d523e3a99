import { OPERATOR } from '../access/caller.ts'
import { invalid } from '../errors.ts'
import { record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { Timestamp } from '../values.ts'
import { listRemovedRecords } from './list-removed-records.ts'
import type { RemovedRecord } from './removed-record.ts'

/** Rows that are erased in one unit of work, so that none holds up the service for long. */
const ROWS = 1000

/** How many went, by what they were. */
export type PurgeCounts = { [what: string]: number }

/**
 * Erases for good what was soft-removed before a time, with all that hangs on it: documents, traffic, memberships. The
 * audit trail keeps its rows and gets new ones: one for each record, and one for the whole purge. A purge that is broken
 * off is gone on with by the next one.
 *
 * @param input the time (ISO), not in the future.
 * @param onPurged told of each record that is gone.
 * @returns how many records went, by kind.
 * @throws DomainError `invalid`.
 */
export async function purgeRemovedRecords(
  ports: Needs<'transact' | 'removedRecords' | 'files' | 'now'>,
  input: unknown,
  onPurged: (record: RemovedRecord) => void = () => {},
): Promise<PurgeCounts> {
  const before = parse(Timestamp, input)
  if (before > ports.now().toISOString()) throw invalid('', 'Nothing was removed in the future')
  let total: PurgeCounts = {}
  for await (const removed of listRemovedRecords(ports, undefined, before)) {
    if (!(await purge(ports, removed, before))) continue
    total = sumOf(total, { [removed.kind]: 1 })
    onPurged(removed)
  }
  await ports.transact((stores) =>
    record(ports, stores, OPERATOR, { type: 'installation.purged', record: before, details: total }),
  )
  return total
}

/** Erases one record, step by step; false if it is not there any more, or was restored. */
async function purge(
  ports: Needs<'transact' | 'files' | 'now'>,
  { kind, id, organization, record: name, removed_at }: RemovedRecord,
  before: string,
): Promise<boolean> {
  let counts: PurgeCounts = {}
  for (;;) {
    const step = await ports.transact(async (stores) => {
      const purged = await stores.removedRecords.purge(kind, id, before, ROWS)
      if (!purged?.isDone) return purged
      const changes = { removed_at: [removed_at, undefined] } satisfies { removed_at: [unknown, unknown] }
      const details = sumOf(counts, purged.counts)
      await record(ports, stores, OPERATOR, { type: `${kind}.purged`, organization, record: name, changes, details })
      return purged
    })
    if (!step) return false
    counts = sumOf(counts, step.counts)
    // What cannot be erased now is swept away later.
    for (const file of step.files) await ports.files.discard(file).catch(() => {})
    if (step.isDone) return true
  }
}

function sumOf(a: PurgeCounts, b: PurgeCounts): PurgeCounts {
  const sum = new Map(Object.entries(a))
  for (const [what, count] of Object.entries(b)) sum.set(what, (sum.get(what) ?? 0) + count)
  return Object.fromEntries(sum)
}
