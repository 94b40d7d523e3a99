import type { Needs } from '../ports.ts'
import { type ChainHead, createChainCheck, EMPTY_CHAIN, type Flaw } from './chain.ts'

/** Rows that are read at a time. */
const PAGE = 500

/** What became of a check of the audit trail. */
export type Verification = {
  /** Rows that are right, from the first one on. */
  rows: number
  /** The newest of them. */
  head: ChainHead
  /** What is wrong with the row after them, if anything is. */
  flaw?: Flaw
}

/**
 * Checks the whole audit trail, up to the first row that was edited, removed or reordered; also while it grows.
 *
 * @param expected a hash that was noted earlier: some row must have it, or the trail is another one than then.
 * @param onProgress told how many rows are done, of how many.
 */
export async function verifyEvents(
  ports: Needs<'events' | 'newSha256'>,
  expected?: string,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Verification> {
  const check = createChainCheck(ports)
  let rows = 0
  let isFound = expected === undefined || expected === EMPTY_CHAIN.hash
  // Below 1, too, where there should be nothing.
  let after = Number.MIN_SAFE_INTEGER
  for (;;) {
    // Before the rows: those that are added in between are not missed, they only come with the next page.
    const head = await ports.events.head()
    const page = await ports.events.readChain(after, PAGE)
    for (const row of page) {
      const flaw = check.row(row)
      if (flaw) return { rows, head: check.head(), flaw }
      rows += 1
      after = row.position
      isFound ||= row.hash === expected
    }
    onProgress(rows, head?.position ?? rows)
    if (page.length > 0) continue
    const flaw = flawOfEnd(check.head(), head) ?? (isFound ? undefined : NOT_FOUND(rows))
    return { rows, head: check.head(), ...(flaw && { flaw }) }
  }
}

/** Compares the newest row with the head that is noted beside the rows. */
function flawOfEnd(last: ChainHead, noted: ChainHead | undefined): Flaw | undefined {
  if (!noted)
    return { position: last.position, reason: 'may not be the newest one: the note of the newest row is lost' }
  if (noted.position > last.position) {
    return { position: last.position + 1, reason: `is missing: the newest rows, up to ${noted.position}, were removed` }
  }
  if (noted.position < last.position) return { position: noted.position + 1, reason: 'was added behind the newest row' }
  if (noted.hash !== last.hash) return { position: last.position, reason: 'is another row than the newest one noted' }
  return undefined
}

function NOT_FOUND(rows: number): Flaw {
  return { position: rows, reason: 'ends a trail in which no row has the hash that is expected: it was written anew' }
}

/**
 * Checks an export of the audit trail, up to the first line that was edited, removed or reordered. It need not begin
 * with the first row; that its first or last lines are missing shows by the positions, or by `expected`.
 *
 * @param lines its lines, without their ends.
 * @param expected a hash that some line must have.
 */
export async function verifyExport(
  ports: Needs<'newSha256'>,
  lines: AsyncIterable<string>,
  expected?: string,
): Promise<Verification> {
  const check = createChainCheck(ports)
  let rows = 0
  let isFound = expected === undefined
  for await (const line of lines) {
    const flaw = check.line(line)
    if (flaw) return { rows, head: check.head(), flaw }
    rows += 1
    isFound ||= check.head().hash === expected
  }
  return { rows, head: check.head(), ...(!isFound && { flaw: NOT_FOUND(check.head().position) }) }
}
