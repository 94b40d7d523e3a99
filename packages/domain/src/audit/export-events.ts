import * as v from 'valibot'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { Timestamp } from '../values.ts'
import { EMPTY_CHAIN, lineOf } from './chain.ts'

/** Rows that are read at a time. */
const PAGE = 500

/** A part of an export, and how far it is. */
export type ExportedLines = { lines: string[]; done: number; total: number; hash: string }

/**
 * The audit trail as lines of JSON, oldest first, each with its hash and that of the row before: `verifyExport` checks
 * them without the database.
 *
 * @param since a time (ISO): the export begins with the first row of that time or later, and leaves out none after it.
 * @throws DomainError `invalid` (no time).
 */
export async function* exportEvents(ports: Needs<'events'>, since?: unknown): AsyncGenerator<ExportedLines> {
  const from = parse(v.optional(Timestamp), since)
  const first = from === undefined ? 1 : await ports.events.firstSince(from)
  if (first === undefined) return
  const [before = EMPTY_CHAIN] = first > 1 ? await ports.events.readChain(first - 2, 1) : []
  let { position, hash } = before
  const end = (await ports.events.head())?.position ?? position
  for (;;) {
    const page = await ports.events.readChain(position, PAGE)
    if (page.length === 0) return
    const lines: string[] = []
    for (const row of page) {
      lines.push(lineOf(hash, row))
      ;({ position, hash } = row)
    }
    const done = position - before.position
    yield { lines, done, total: Math.max(done, end - before.position), hash }
  }
}
