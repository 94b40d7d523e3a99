import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  CHAIN_BYTES,
  type ChainedEvent,
  type ChainHead,
  type ChainRow,
  chainEvents,
  type DomainEvent,
  type EventStore,
  rowsThatFit,
  type SerializedEvent,
  serialize,
} from '@security-management/domain'
import { type Kysely, sql } from 'kysely'
import { kindOf } from './column-types.ts'
import { bytesOf, pageOf, rows, texts } from './expressions.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

/** Rows that one statement inserts at the most. */
const ROWS_AT_ONCE = 500

const COLUMNS = [
  'event.position',
  'event.type',
  'event.organization',
  'event.record',
  'event.user_id',
  'event.token',
  'event.request_id',
  'event.datetime',
  'event.changes',
  'event.details',
  'event.hash',
] as const

type Row = Omit<ChainRow, 'type'> & { type: string }

/** Bytes of what may be long in a row. */
const SIZE = bytesOf('event.changes', 'event.details')

// SQLite has one unit at a time anyway.
const lockHead = hot((db) => {
  const query = db.selectFrom('audit_head').select(['position', 'hash'])
  if (kindOf(db) === 'sqlite') return query
  // The lock is held until the commit is done, which therefore does not wait for the disk; see `Database.settle`.
  return query.forUpdate().select(sql`set_config('synchronous_commit', 'off', true)`.as('commit'))
})
const setHead = hot((db, position: number, hash: string) => db.updateTable('audit_head').set({ position, hash }))
const insertRows = hot((db, json: string) => {
  const field = (index: number) => sql<never>`item.value ->> ${sql.lit(index)}`
  const number = (index: number) => sql<never>`cast(${field(index)} as bigint)`
  return db
    .insertInto('event')
    .columns([
      'position',
      'type',
      'organization',
      'record',
      'user_id',
      'token',
      'request_id',
      'datetime',
      'changes',
      'details',
      'hash',
    ])
    .expression(
      db
        .selectFrom(rows(db, json) as never)
        .select([
          number(0).as('position'),
          field(1).as('type'),
          number(2).as('organization'),
          field(3).as('record'),
          field(4).as('user_id'),
          number(5).as('token'),
          field(6).as('request_id'),
          field(7).as('datetime'),
          field(8).as('changes'),
          field(9).as('details'),
          field(10).as('hash'),
        ]),
    )
})

/** The events of one unit of work, which get their places in the chain when it ends. */
export type Trail = {
  append(event: DomainEvent): Promise<void>
  /**
   * Chains what was appended. It takes the lock of the chain's head, which every unit with an event wants: as the
   * last thing a unit does, it is held shortly, and whoever holds it waits for nothing.
   */
  write(): Promise<void>
  /** All that was appended, in order. */
  events: DomainEvent[]
}

export function createTrail(db: Kysely<Schema>): Trail {
  const events: DomainEvent[] = []
  let waiting: SerializedEvent[] = []
  return {
    events,
    async append(event) {
      events.push(event)
      waiting.push(await serialize({ nextTurn }, event))
    },
    async write() {
      if (waiting.length === 0) return
      const [head] = await lockHead(db)
      if (!head) throw new Error('The audit trail has no head: the row of the table audit_head was removed')
      const chained = chainEvents(() => sha256(), head, waiting)
      waiting = []
      await insertChain(db, chained.rows)
      await setHead(db, chained.head.position, chained.head.hash)
    },
  }
}

export function sha256() {
  const hash = createHash('sha256')
  return { update: (data: Uint8Array | string) => void hash.update(data), digest: () => hash.digest('hex') }
}

/** Characters of values from which on a row is inserted by itself. */
const LARGE = 256 * 1024

/** Inserts rows as they stand. */
export async function insertChain(db: Kysely<Schema>, chain: readonly ChainRow[]): Promise<void> {
  let part: ChainRow[] = []
  for (const row of chain) {
    if (row.changes.length >= LARGE) {
      await insertPart(db, part)
      // It was hashed just now and is committed soon: each takes its time.
      await nextTurn()
      // Within JSON its texts would be written and read once more.
      await db.insertInto('event').values(row).execute()
      await nextTurn()
      part = []
    } else if (part.push(row) === ROWS_AT_ONCE) {
      await insertPart(db, part)
      part = []
    }
  }
  await insertPart(db, part)
}

async function insertPart(db: Kysely<Schema>, part: readonly ChainRow[]): Promise<void> {
  if (part.length === 0) return
  const values = part.map((row) => [
    row.position,
    row.type,
    row.organization,
    row.record,
    row.user_id,
    row.token,
    row.request_id,
    row.datetime,
    row.changes,
    row.details,
    row.hash,
  ])
  await insertRows(db, JSON.stringify(values))
}

/** @param trail of the unit of work that `db` belongs to; there is none for reads outside of units. */
export function sqlEvents(db: Kysely<Schema>, trail?: Trail): EventStore {
  /** What the unit appended is to be found by it, though that takes the lock of the head early. */
  const settled = async () => trail?.write()
  return {
    async append(event) {
      if (!trail) throw new Error('Events are appended in a unit of work')
      await trail.append(event)
    },
    async listOf(organization, { user, types, record, from, to }, page) {
      await settled()
      let query = db
        .selectFrom('event')
        .leftJoin('user', 'user.id', 'event.user_id')
        .select([...COLUMNS, 'user.username'])
        .where('event.organization', '=', organization)
      if (user !== undefined) query = query.where('event.user_id', '=', user)
      if (types) query = query.where('event.type', 'in', texts(db, JSON.stringify(types)))
      if (record !== undefined) query = query.where('event.record', '=', record)
      if (from !== undefined) query = query.where('event.datetime', '>=', from)
      if (to !== undefined) query = query.where('event.datetime', '<=', to)
      const columns = { id: 'event.position', datetime: 'event.datetime' }
      const toEvent = (row: Row & { username: string | null }): ChainedEvent => {
        const changes = JSON.parse(row.changes)
        return { ...row, type: row.type as DomainEvent['type'], changes, details: JSON.parse(row.details) }
      }
      return pageOf(query, page, columns, toEvent, SIZE)
    },
    async readChain(position, limit, bytes = CHAIN_BYTES) {
      await settled()
      const next = await db
        .selectFrom('event')
        .select(['position', SIZE.as('size')])
        .where('position', '>', position)
        .orderBy('position')
        .limit(limit)
        .execute()
      const fitting = rowsThatFit(
        next.map(({ size }) => size),
        bytes,
      )
      const last = next[fitting - 1]
      if (!last) return []
      const found = await db
        .selectFrom('event')
        .select(COLUMNS)
        .where('position', '>', position)
        .where('position', '<=', last.position)
        .orderBy('position')
        .execute()
      return found.map((row) => ({ ...row, type: row.type as DomainEvent['type'] }))
    },
    async firstSince(datetime) {
      await settled()
      const row = await db
        .selectFrom('event')
        .select('position')
        .where('datetime', '>=', datetime)
        .orderBy('position')
        .limit(1)
        .executeTakeFirst()
      return row?.position
    },
    async head(): Promise<ChainHead | undefined> {
      await settled()
      return db.selectFrom('audit_head').select(['position', 'hash']).executeTakeFirst()
    },
  }
}
