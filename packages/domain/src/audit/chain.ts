import type { DomainEvent } from '../events.ts'
import { jsonInParts } from '../json-text.ts'
import type { Needs, Sha256 } from '../ports.ts'

/** Where a chain ends: position and hash of its newest row. */
export type ChainHead = { position: number; hash: string }

/** The head of a chain without rows, and so what the first row is chained to. */
export const EMPTY_CHAIN: ChainHead = { position: 0, hash: '0'.repeat(64) }

/** Bytes of rows that are read at a time, unless it is one row: 16 MiB. */
export const CHAIN_BYTES = 16 * 1024 * 1024

/** How many of the first rows, of these sizes, are read at a time: the first at least. */
export function rowsThatFit(sizes: readonly number[], bytes: number): number {
  let sum = 0
  const end = sizes.findIndex((size, index) => {
    sum += size
    return index > 0 && sum > bytes
  })
  return end < 0 ? sizes.length : end
}

/** An event whose values are JSON texts, as they are stored: they are hashed as they stand, never written anew. */
export type SerializedEvent = Omit<DomainEvent, 'changes' | 'details'> & { changes: string; details: string }

/** One row of the audit trail, as it is stored. */
export type ChainRow = SerializedEvent & {
  /** 1, 2, 3 … without a gap. */
  position: number
  /** SHA-256 of the row's text, see `textOf`, in hexadecimal. */
  hash: string
}

/** The first row that is not as it was written. */
export type Flaw = {
  /** The position at which the chain breaks. */
  position: number
  reason: string
}

/** The event with its values written as JSON, once for all. */
export async function serialize(
  ports: Needs<'nextTurn'>,
  { changes, details, ...event }: DomainEvent,
): Promise<SerializedEvent> {
  return { ...event, changes: await jsonInParts(ports, changes), details: JSON.stringify(details) }
}

/** Chains events to the end of the trail, in their order. */
export function chainEvents(
  newSha256: () => Sha256,
  head: ChainHead,
  events: readonly SerializedEvent[],
): { rows: ChainRow[]; head: ChainHead } {
  let { position, hash } = head
  const rows = events.map((event) => {
    const row = { ...event, position: position + 1 }
    hash = sha256(newSha256, textOf(hash, row))
    position += 1
    return { ...row, hash }
  })
  return { rows, head: { position, hash } }
}

/**
 * The text that is hashed: one JSON object on one line, which begins with the hash of the row before. So each hash
 * holds for everything up to its row.
 */
function textOf(previous: string, row: Omit<ChainRow, 'hash'>): string {
  const { position, datetime, type, organization, record, user_id, token, request_id, changes, details } = row
  const plain = JSON.stringify({
    previous,
    position,
    datetime,
    action: type,
    organization,
    record,
    user_id,
    token,
    request_id,
  })
  return `${plain.slice(0, -1)},"changes":${changes},"details":${details}}`
}

/** The row as a line of an export: the text that is hashed, with the hash as its last member. */
export function lineOf(previous: string, row: ChainRow): string {
  return `${textOf(previous, row).slice(0, -1)},"hash":"${row.hash}"}`
}

const LINE = /^(\{"previous":"([0-9a-f]{64})","position":([1-9]\d{0,15}),"datetime":.*),"hash":"([0-9a-f]{64})"\}$/s

/** Checks rows one by one, in their order, up to the first that is wrong. */
export type ChainCheck = {
  /** Where the rows end that were right so far. */
  head(): ChainHead
  /** Checks the row of the database that comes next. */
  row(row: ChainRow): Flaw | undefined
  /** Checks the line of an export that comes next. The first one may stand anywhere in the chain. */
  line(line: string): Flaw | undefined
}

/** Begins a check of the trail, at its first row. */
export function createChainCheck({ newSha256 }: Needs<'newSha256'>): ChainCheck {
  let head = EMPTY_CHAIN
  let isFirst = true

  function next(position: number, text: string, hash: string): Flaw | undefined {
    const flaw = flawAt(head.position + 1, position)
    if (flaw) return flaw
    if (sha256(newSha256, text) !== hash) return { position, reason: EDITED }
    head = { position, hash }
    isFirst = false
    return undefined
  }
  return {
    head: () => head,
    row(row) {
      // In what is no object a value could end at another place than where it was written to end.
      if (!isObject(row.changes) || !isObject(row.details)) return { position: row.position, reason: EDITED }
      return next(row.position, textOf(head.hash, row), row.hash)
    },
    line(line) {
      const [, text, previous = '', digits, hash = ''] = LINE.exec(line) ?? []
      if (text === undefined) return { position: head.position + 1, reason: 'is no line of an export' }
      const position = Number(digits)
      if (isFirst && position > 1) head = { position: position - 1, hash: previous }
      const flaw = flawAt(head.position + 1, position)
      if (flaw) return flaw
      if (previous !== head.hash) return { position, reason: EDITED }
      return next(position, `${text}}`, hash)
    },
  }
}

const EDITED = 'was edited, or another row was put in its place'

function flawAt(expected: number, found: number): Flaw | undefined {
  if (found < expected) return { position: found, reason: 'was added, or is not in its place' }
  if (found > expected) return { position: expected, reason: 'is missing: it was removed, or is not in its place' }
  return undefined
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function sha256(newSha256: () => Sha256, text: string): string {
  const hash = newSha256()
  hash.update(text)
  return hash.digest()
}
