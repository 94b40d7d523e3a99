import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anEvent } from '../contracts/builders.ts'
import { type DomainEvent, EVENT_TYPES, type EventStore } from '../events.ts'
import { systemSurroundings } from '../memory/index.ts'
import { anyText } from '../testing/any-text.ts'
import { type ChainHead, type ChainRow, chainEvents, EMPTY_CHAIN, lineOf, type SerializedEvent } from './chain.ts'
import { type Verification, verifyEvents, verifyExport } from './verify-events.ts'

const { newSha256 } = systemSurroundings()

const anyJson = fc.dictionary(
  anyText(),
  fc.jsonValue().map((value) => [null, value] as [unknown, unknown]),
  { maxKeys: 3 },
)
const anyEvent: fc.Arbitrary<DomainEvent> = fc
  .record({
    type: fc.constantFrom(...EVENT_TYPES),
    organization: fc.option(fc.nat()),
    record: anyText(),
    user_id: fc.option(fc.uuid()),
    token: fc.option(fc.nat()),
    request_id: fc.option(anyText()),
    changes: anyJson,
    details: fc.dictionary(anyText(), fc.oneof(anyText(), fc.nat()), { maxKeys: 3 }),
  })
  .map(anEvent)

/** What `serialize` makes of an event, at once. */
function serialized({ changes, details, ...event }: DomainEvent): SerializedEvent {
  return { ...event, changes: JSON.stringify(changes), details: JSON.stringify(details) }
}

/** A trail of rows, appended in units of work of any length. */
const anyTrail = fc.array(fc.array(anyEvent, { maxLength: 4 }), { minLength: 1, maxLength: 6 }).map((units) => {
  let head = EMPTY_CHAIN
  const rows: ChainRow[] = []
  for (const events of units) {
    const chained = chainEvents(newSha256, head, events.map(serialized))
    rows.push(...chained.rows)
    head = chained.head
  }
  return { rows, head }
})

type Trail = { rows: ChainRow[]; head: ChainHead }

/** The trail as a store has it: rows by position. */
function verify({ rows, head }: Trail, expected?: string): Promise<Verification> {
  const sorted = rows.toSorted((a, b) => a.position - b.position)
  const events = {
    head: async () => head,
    readChain: async (after: number, limit: number) =>
      sorted.filter(({ position }) => position > after).slice(0, limit),
  }
  return verifyEvents({ events: events as unknown as EventStore, newSha256 }, expected)
}

function linesOf({ rows }: Trail, from = 0): string[] {
  return rows.map((row, index) => lineOf(rows[index - 1]?.hash ?? EMPTY_CHAIN.hash, row)).slice(from)
}

async function verifyLines(lines: string[], expected?: string): Promise<Verification> {
  async function* each() {
    yield* lines
  }
  return verifyExport({ newSha256 }, each(), expected)
}

/** Runs `check` on every trail that has at least `least` rows, with indexes into it. */
async function onTrails(least: number, check: (trail: Trail, index: (other?: number) => number) => Promise<void>) {
  await fc.assert(
    fc.asyncProperty(anyTrail, fc.nat(), fc.nat(), async (trail, first, second) => {
      fc.pre(trail.rows.length >= least)
      const { length } = trail.rows
      // The second one is never the first.
      const other = (first + 1 + (second % Math.max(1, length - 1))) % length
      await check(trail, (which = 0) => (which === 0 ? first % length : other))
    }),
    { numRuns: 30 },
  )
}

const EDITS: ((row: ChainRow) => Partial<ChainRow>)[] = [
  ({ type }) => ({ type: type === 'member.added' ? 'member.removed' : 'member.added' }),
  ({ organization }) => ({ organization: (organization ?? 0) + 1 }),
  ({ organization }) => ({ organization: organization === null ? 0 : null }),
  ({ record }) => ({ record: `${record} ` }),
  ({ user_id }) => ({ user_id: user_id === null ? '' : null }),
  ({ token }) => ({ token: (token ?? -1) + 1 }),
  ({ request_id }) => ({ request_id: request_id === null ? 'null' : null }),
  ({ datetime }) => ({ datetime: datetime.replace('2026', '2025') }),
  ({ changes }) => ({ changes: `${changes} ` }),
  () => ({ changes: 'nonsense' }),
  ({ details }) => ({ details: details.replace('{', '{"added":1,').replace(',}', '}') }),
  ({ changes, details }) => ({ changes: `${changes},"details":{}`, details }),
  ({ hash }) => ({ hash: hash.replace(/./, (digit) => (digit === '0' ? '1' : '0')) }),
]

describe('the audit trail', () => {
  test('that nobody touched is whole, and so is every part of its export', async () => {
    await onTrails(1, async (trail, index) => {
      const { rows, head } = trail
      expect(await verify(trail, rows[index()]?.hash)).toEqual({ rows: rows.length, head })
      const lines = linesOf(trail, index())
      expect(await verifyLines(lines, rows.at(-1)?.hash)).toEqual({ rows: lines.length, head })
      for (const line of lines) expect(JSON.parse(line)).toMatchObject({ hash: expect.any(String) })
    })
  })

  test.each(EDITS.map((edit, number) => [number, edit] as const))(
    'shows edit %i, whichever row it is made to',
    async (_, edit) => {
      await onTrails(1, async (trail, index) => {
        const rows = trail.rows.with(index(), {
          ...(trail.rows[index()] as ChainRow),
          ...edit(trail.rows[index()] as ChainRow),
        })
        const { rows: right, flaw } = await verify({ ...trail, rows })
        expect([right, flaw?.position]).toEqual([index(), index() + 1])
        const lines = linesOf(trail).with(index(), linesOf({ ...trail, rows })[index()] ?? '')
        expect((await verifyLines(lines)).flaw?.position).toBe(index() + 1)
      })
    },
  )

  test('shows a row that was removed, also when those after it are moved up', async () => {
    await onTrails(2, async (trail, index) => {
      const isLast = index() === trail.rows.length - 1
      const rows = trail.rows.toSpliced(index(), 1)
      expect((await verify({ ...trail, rows })).flaw?.position).toBe(index() + 1)
      const lines = linesOf(trail).toSpliced(index(), 1)
      // An export may begin and end anywhere.
      if (!isLast && index() > 0) expect((await verifyLines(lines)).flaw?.position).toBe(index() + 1)
      const closed = rows.map((row, position) => ({ ...row, position: position + 1 }))
      expect((await verify({ ...trail, rows: closed })).flaw?.position).toBe(index() + 1)
      const head = { position: closed.length, hash: closed.at(-1)?.hash ?? '' }
      if (!isLast) expect((await verify({ head, rows: closed })).flaw?.position).toBe(index() + 1)
    })
  })

  test('shows two rows that were swapped', async () => {
    await onTrails(2, async (trail, index) => {
      const [one, other] = [index(0), index(1)]
      const [a, b] = [trail.rows[one] as ChainRow, trail.rows[other] as ChainRow]
      const rows = trail.rows.with(one, { ...b, position: a.position }).with(other, { ...a, position: b.position })
      const first = Math.min(one, other) + 1
      expect((await verify({ ...trail, rows })).flaw?.position).toBe(first)
      const lines = linesOf(trail)
      const swapped = lines.with(one, lines[other] ?? '').with(other, lines[one] ?? '')
      const { flaw } = await verifyLines(swapped)
      if (first > 1) expect(flaw?.position).toBe(first)
      else expect(flaw).toBeDefined()
    })
  })

  test('shows that its newest rows were cut off, or its head moved', async () => {
    await onTrails(2, async (trail, index) => {
      const rows = trail.rows.slice(0, index())
      expect((await verify({ ...trail, rows })).flaw?.position).toBe(index() + 1)
      const head = rows.at(-1) ?? EMPTY_CHAIN
      expect((await verify({ ...trail, head })).flaw?.position).toBe(index() + 1)
      expect((await verify({ ...trail, head: { ...trail.head, hash: EMPTY_CHAIN.hash } })).flaw).toBeDefined()
      // Both at once leave a trail that is whole in itself; only a hash that was noted elsewhere shows it.
      expect(await verify({ rows, head })).not.toHaveProperty('flaw')
      expect((await verify({ rows, head }, trail.head.hash)).flaw).toBeDefined()
      expect((await verifyLines(linesOf({ rows, head }), trail.head.hash)).flaw).toBeDefined()
    })
  })

  test('shows a row that was added, before the first or behind the newest', async () => {
    await onTrails(1, async (trail, index) => {
      const row = trail.rows[index()] as ChainRow
      for (const position of [0, -1]) {
        expect((await verify({ ...trail, rows: [...trail.rows, { ...row, position }] })).flaw?.position).toBe(position)
      }
      const next = chainEvents(newSha256, trail.head, [serialized(anEvent())])
      expect((await verify({ ...trail, rows: [...trail.rows, ...next.rows] })).flaw?.position).toBe(
        trail.rows.length + 1,
      )
    })
  })

  test('shows a row that was edited and hashed anew, at the one after it', async () => {
    const three = chainEvents(
      newSha256,
      EMPTY_CHAIN,
      ['1', '2', '3'].map((record) => serialized(anEvent({ record }))),
    )
    const [first, second] = three.rows
    if (!first || !second) throw new Error('There are three rows')
    const forged = chainEvents(newSha256, first, [serialized(anEvent({ record: 'forged' }))])
    const rows = three.rows.toSpliced(1, 1, ...forged.rows)
    expect((await verify({ ...three, rows })).flaw?.position).toBe(3)
    const lines = linesOf(three).with(1, lineOf(first.hash, forged.rows[0] ?? second))
    expect((await verifyLines(lines)).flaw?.position).toBe(3)
  })

  test('shows a value that was moved from one column to the next, though the text of the row is the same', async () => {
    const nested = { x: [1, { a: 1, details: 2 }] } as unknown as DomainEvent['changes']
    const trail = chainEvents(newSha256, EMPTY_CHAIN, [serialized(anEvent({ changes: nested }))])
    const [row] = trail.rows
    if (!row) throw new Error('There is a row')
    const moved = { ...row, changes: '{"x":[1,{"a":1', details: '2}]},"details":{}' }
    expect(lineOf(EMPTY_CHAIN.hash, moved)).toBe(lineOf(EMPTY_CHAIN.hash, row))
    expect((await verify({ ...trail, rows: [moved] })).flaw?.position).toBe(1)
  })

  test('says so when the note of its newest row is lost', async () => {
    const { rows } = chainEvents(newSha256, EMPTY_CHAIN, [serialized(anEvent())])
    expect((await verify({ rows, head: undefined as unknown as ChainHead })).flaw?.position).toBe(1)
  })

  test('a file that is no export is none', async () => {
    for (const line of ['', '{}', 'nonsense', '{"previous":""}']) {
      expect((await verifyLines([line])).flaw).toEqual({ position: 1, reason: 'is no line of an export' })
    }
    expect(await verifyLines([])).toEqual({ rows: 0, head: EMPTY_CHAIN })
  })
})
