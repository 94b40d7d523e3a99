import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Check } from './scenario.ts'

/** What a reader sees of a record; null once it is removed. */
export type State = { [field: string]: unknown } | null

export type Verb = 'create' | 'edit' | 'remove'

/** A write: the record that it is about, by a name that its writer gave it, and what it makes of it. */
export type Write = { kind: string; key: string; verb: Verb; state: State }

/** How a write ended; `unknown` when no answer came, or one that says neither yes nor no. */
export type End = 'acknowledged' | 'refused' | 'unknown'

/** A write, and how it ended. */
export type Ended = Write & { end: End }

/** What writers were told. Each line is in the file before its writer goes on. */
export type Ledger = {
  /** Notes a write that is about to be sent; returns its number. */
  sent(write: Write): number
  ended(number: number, end: Exclude<End, 'unknown'>): void
  close(): void
}

type Line = { number: number } & ({ sent: Write } | { end: Exclude<End, 'unknown'> })

export function openLedger(path: string): Ledger {
  const file = openSync(path, 'a')
  let count = 0
  const write = (line: Line) => void writeSync(file, `${JSON.stringify(line)}\n`)
  return {
    sent(sent) {
      count += 1
      write({ number: count, sent })
      return count
    },
    ended: (number, end) => write({ number, end }),
    close: () => closeSync(file),
  }
}

/** The writes of a ledger in the order in which they were sent, each with its end. */
export function readLedger(path: string): Ended[] {
  const writes = new Map<number, Ended>()
  for (const text of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
    const line = JSON.parse(text) as Line
    const known = writes.get(line.number)
    if ('sent' in line) writes.set(line.number, { ...line.sent, end: 'unknown' })
    else if (known) known.end = line.end
  }
  return [...writes.values()]
}

/**
 * Checks the records of one kind that were found: each must be as the last acknowledged write left it, or as a later one
 * did that got no answer, and there must be no others.
 */
export function checkRecords(writes: readonly Ended[], found: ReadonlyMap<string, State>, check: Check): void {
  const expected = new Map<string, State[]>()
  for (const { key, state, end } of writes) {
    if (end === 'acknowledged') expected.set(key, [state])
    else if (end === 'unknown') expected.set(key, [...(expected.get(key) ?? [null]), state])
  }
  for (const [key, states] of expected) {
    const actual = found.get(key) ?? null
    const holds = states.some((state) => isDeepStrictEqual(state, actual))
    check(
      holds,
      `${key} is ${JSON.stringify(actual)}, not ${states.map((state) => JSON.stringify(state)).join(' or ')}`,
    )
  }
  for (const key of found.keys()) check(expected.has(key), `${key} is there, and nobody wrote it`)
}
