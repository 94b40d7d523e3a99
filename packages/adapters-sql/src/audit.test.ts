import {
  createEventBus,
  DomainError,
  type DomainEvent,
  exportEvents,
  lineOf,
  verifyEvents,
  verifyExport,
} from '@security-management/domain'
import {
  aBlocker,
  aFramework,
  anEvent,
  anOrganization,
  ODD_JSON,
  ODD_TEXT,
} from '@security-management/domain/contracts'
import { systemSurroundings } from '@security-management/domain/memory'
import Sqlite from 'better-sqlite3'
import { type Kysely, sql } from 'kysely'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Database, migrate, openDatabase, sqlPorts } from './index.ts'
import { MIGRATIONS } from './migrations/index.ts'
import type { Schema } from './schema.ts'
import { testDatabases } from './testing/databases.ts'

function portsOf(database: Database) {
  return { ...systemSurroundings(), ...sqlPorts(database, createEventBus()) }
}

/** Does it again while the database is busy with others for longer than a request should wait. */
async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DomainError && error.code === 'unavailable') return patiently(work)
    throw error
  }
}

const PURGED_WITH_AN_ORGANIZATION = [
  'assessment',
  'cloud_defense',
  'control',
  'document',
  'invitation',
  'member',
  'notification',
  'organization',
  'security_framework',
  'threat',
  'threat_blocker',
  'traffic_slot',
  'traffic_sum',
  'traffic_upload',
  'vpn_profile',
]

/** A control of no framework. */
const INSERT = `insert into control (framework, id, position, body, frequency, evidences)
  values (77, 'A', 0, '{}', '', '[]')`

for (const { name, create, cleanUp } of testDatabases()) {
  describe(`the audit trail on ${name}`, () => {
    let url: string
    let database: Database
    beforeEach(async () => {
      url = await create()
      database = openDatabase(url)
    })
    afterEach(() => database.close())
    afterAll(cleanUp)

    async function append(...events: DomainEvent[]): Promise<void> {
      await portsOf(database).transact(async (stores) => {
        for (const event of events) await stores.events.append(event)
      })
    }
    /** Ten rows, of which no two are alike. */
    async function tenRows(): Promise<void> {
      await migrate(database)
      for (let record = 1; record <= 10; record += 1) await append(anEvent({ record: String(record) }))
    }
    async function flaw() {
      return (await verifyEvents(portsOf(database))).flaw
    }
    const tamper = (statement: ReturnType<typeof sql>) => database.unit((db) => statement.execute(db))

    test('names the first row that was edited, in whichever column', async () => {
      await tenRows()
      const columns = { type: 'member.added', organization: 7, record: 'x', user_id: 'x', token: 7, request_id: 'x' }
      const texts = { datetime: '2000-01-01T00:00:00.000Z', changes: '{"a":[1,2]}', details: '{ }', hash: 'x' }
      for (const [column, value] of Object.entries({ ...columns, ...texts })) {
        const set = (to: unknown, position: number) =>
          tamper(sql`update event set ${sql.ref(column)} = ${to} where position = ${position}`)
        const { rows } = await sql<{ old: unknown }>`
          select ${sql.ref(column)} as old from event where position in (4, 8) order by position
        `.execute(database.reader)
        await set(value, 8)
        expect([column, (await flaw())?.position]).toEqual([column, 8])
        await set(value, 4)
        expect([column, (await flaw())?.position]).toEqual([column, 4])
        await set(rows[0]?.old, 4)
        await set(rows[1]?.old, 8)
        expect(await flaw()).toBeUndefined()
      }
    })

    test('names the first row that was removed, swapped or cut off', async () => {
      await tenRows()
      await tamper(sql`update event set position = -3 where position = 3`)
      expect((await flaw())?.position).toBe(-3)
      await tamper(sql`update event set position = 3 where position = -3`)
      expect(await flaw()).toBeUndefined()
      await tamper(sql`update event set position = -6 where position = 6`)
      await tamper(sql`update event set position = 6 where position = 9`)
      await tamper(sql`update event set position = 9 where position = -6`)
      expect((await flaw())?.position).toBe(6)
      await tamper(sql`delete from event where position = 5`)
      expect(await flaw()).toMatchObject({ position: 5, reason: expect.stringContaining('missing') })
      await tamper(sql`delete from event where position > 3`)
      expect(await flaw()).toMatchObject({ position: 4, reason: expect.stringContaining('up to 10') })
      await tamper(sql`update audit_head set position = 2`)
      expect((await flaw())?.position).toBe(3)
    })

    test('without its head takes no more rows, and says why', async () => {
      await tenRows()
      await tamper(sql`delete from audit_head`)
      expect((await flaw())?.position).toBe(10)
      await expect(append(anEvent())).rejects.toThrow('audit_head')
    })

    test('is one chain when several processes write at once, and some of what they do fails', async () => {
      await migrate(database)
      const databases = [database, openDatabase(url), openDatabase(url)]
      const results = await Promise.allSettled(
        databases.flatMap((one, process) =>
          Array.from({ length: 60 }, (_, unit) =>
            patiently(() =>
              portsOf(one).transact(async ({ events, organizations }) => {
                await events.append(anEvent({ record: `${process}-${unit}` }))
                // Reads in between let the units of the others come in between.
                await organizations.isActive(1)
                await events.append(anEvent({ record: `${process}-${unit}` }))
                if (unit % 4 === 0) throw new Error('no')
              }),
            ),
          ),
        ),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(135)
      const ports = portsOf(database)
      const rows = await ports.events.readChain(0, 1000)
      expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: 270 }, (_, index) => index + 1))
      for (let index = 0; index < rows.length; index += 2) expect(rows[index]?.record).toBe(rows[index + 1]?.record)
      expect(await verifyEvents(ports)).toMatchObject({ rows: 270 })
      await Promise.all(databases.slice(1).map((one) => one.close()))
    })

    test('can be verified while it grows', async () => {
      await migrate(database)
      const other = openDatabase(url)
      const writing = Promise.all(
        Array.from({ length: 150 }, (_, count) =>
          patiently(() => portsOf(other).transact(({ events }) => events.append(anEvent({ record: String(count) })))),
        ),
      )
      for (let look = 0; look < 20; look += 1) {
        await new Promise((resolve) => setImmediate(resolve))
        expect(await flaw()).toBeUndefined()
      }
      await writing
      expect(await verifyEvents(portsOf(database))).toMatchObject({ rows: 150 })
      await other.close()
    })

    test('chains the rows of an earlier version in the order in which they were written', async () => {
      const before = Object.fromEntries(Object.entries(MIGRATIONS).filter(([migration]) => migration < '0010'))
      await migrate(database, before)
      await database.unit(async (db: Kysely<Schema>) => {
        const old = Array.from({ length: 1201 }, (_, index) => ({
          // Units that failed left gaps.
          id: index * 3 + 2,
          type: 'organization.edited',
          organization: index % 2 === 0 ? null : index,
          record: index === 0 ? ODD_TEXT : String(index),
          user_id: null,
          token: index,
          datetime: '2025-01-01T00:00:00.000Z',
          changes: JSON.stringify({ name: [null, ODD_JSON] }),
          details: '{}',
        }))
        for (let start = 0; start < old.length; start += 100) {
          await db
            .insertInto('event')
            .values(old.slice(start, start + 100) as never)
            .execute()
        }
      })
      await migrate(database)
      const ports = portsOf(database)
      expect(await verifyEvents(ports)).toMatchObject({ rows: 1201 })
      const rows = await ports.events.readChain(0, 2000)
      expect(rows.map(({ token }) => token)).toEqual(Array.from({ length: 1201 }, (_, index) => index))
      expect(rows[0]).toMatchObject({ record: ODD_TEXT, organization: null, request_id: null, position: 1 })
      expect(rows[1]).toMatchObject({ organization: 1, changes: JSON.stringify({ name: [null, ODD_JSON] }) })
      await append(anEvent())
      expect(await verifyEvents(ports)).toMatchObject({ rows: 1202 })
    })

    test('an empty one of an earlier version begins with the first row', async () => {
      await migrate(database)
      expect(await portsOf(database).events.head()).toEqual({ position: 0, hash: '0'.repeat(64) })
      await append(anEvent())
      expect(await verifyEvents(portsOf(database))).toMatchObject({ rows: 1 })
    })

    test('is exported as it was stored, not as it would be written anew', async () => {
      await tenRows()
      await tamper(sql`update event set details = '{  }' where position = 2`)
      const ports = portsOf(database)
      async function* lines() {
        for await (const part of exportEvents(ports)) yield* part.lines
      }
      expect((await verifyExport(ports, lines())).flaw?.position).toBe(2)
      const [first] = await ports.events.readChain(0, 1)
      if (!first) throw new Error('There is no row')
      for await (const line of lines()) {
        expect(line).toBe(lineOf('0'.repeat(64), first))
        break
      }
    })

    test('knows of every table that refers to what can be purged', async () => {
      await migrate(database)
      const { rows } = await (database.kind === 'sqlite'
        ? sql<{ child: string; parent: string }>`
            select m.name as child, f."table" as parent from sqlite_master m, pragma_foreign_key_list(m.name) f
            where m.type = 'table'
          `
        : sql<{ child: string; parent: string }>`
            select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint
            where contype = 'f'
          `
      ).execute(database.reader)
      const reached = new Set(['organization'])
      for (let size = 0; size < reached.size; ) {
        size = reached.size
        for (const { child, parent } of rows) if (reached.has(parent)) reached.add(child)
      }
      // A table that is new here has to go with a purge, see `removed-records.ts` and its contract.
      expect([...reached].toSorted()).toEqual(PURGED_WITH_AN_ORGANIZATION)
    })

    test('finds the rows of every filter by an index, in the order of the list', async () => {
      await migrate(database)
      const { rows } = await (database.kind === 'sqlite'
        ? sql<{ name: string }>`select name from sqlite_master where type = 'index' and tbl_name = 'event'`
        : sql<{ name: string }>`select indexname as name from pg_indexes where tablename = 'event'`
      ).execute(database.reader)
      const names = rows
        .map((row) => row.name)
        .filter((index) => index.startsWith('event_') && index !== 'event_primary')
      expect(names.toSorted()).toEqual([
        'event_datetime',
        'event_organization',
        'event_record',
        'event_type',
        'event_user_id',
      ])
    })

    test('a check of the database finds a reference that leads nowhere', async () => {
      await migrate(database)
      const ports = portsOf(database)
      expect(await ports.integrity()).toEqual([])
      if (database.kind === 'sqlite') {
        const careless = new Sqlite(url.slice('sqlite:'.length))
        careless.pragma('foreign_keys = off')
        careless.exec(INSERT)
        careless.close()
      } else {
        await tamper(sql`alter table control disable trigger all`)
        await tamper(sql.raw(INSERT))
      }
      expect(await ports.integrity()).toEqual([
        expect.stringMatching(/control refers? to no row of security_framework/),
      ])
    })

    test('a check of the database finds hours and days of traffic that are not what their slots come to', async () => {
      await migrate(database)
      const ports = portsOf(database)
      const blockers: number[] = []
      await ports.transact(async ({ organizations, threatBlockers, traffic }) => {
        const organization = await organizations.insert(anOrganization())
        for (let index = 0; index < 3; index += 1) {
          const id = await threatBlockers.insert(aBlocker({ organization, device_id: `${index}` }))
          blockers.push(id)
          await traffic.addSlots(
            id,
            [-300, 0, 300].map((start) => ({ start, total: 3, malicious: 2, found_later: 1 })),
          )
        }
      })
      const [one, two, three] = blockers
      expect(await ports.integrity()).toEqual([])
      const wrong = (unit: string, start: string, blocker: number | undefined) =>
        `the ${unit} from ${start} of threat blocker ${blocker} is not what its slots come to`
      await tamper(sql`update traffic_sum set total = 4 where threat_blocker = ${one} and start = -3600`)
      await tamper(sql`update traffic_sum set malicious = 0 where threat_blocker = ${one} and start = -86400`)
      await tamper(sql`
        update traffic_sum set found_later = 3 where threat_blocker = ${two} and start = 0 and seconds = 3600
      `)
      await tamper(sql`delete from traffic_sum where threat_blocker = ${two} and start = 0 and seconds = 86400`)
      await tamper(sql`delete from traffic_slot where threat_blocker = ${three} and start = -300`)
      await tamper(sql`update traffic_sum set start = 1e15 where threat_blocker = ${three} and start = -86400`)
      expect(await ports.integrity()).toEqual([
        wrong('hour', '1969-12-31T23:00:00.000Z', one),
        wrong('day', '1969-12-31T00:00:00.000Z', one),
        wrong('hour', '1970-01-01T00:00:00.000Z', two),
        wrong('day', '1970-01-01T00:00:00.000Z', two),
        wrong('hour', '1969-12-31T23:00:00.000Z', three),
        wrong('day', '1000000000000000', three),
      ])
    })

    test('what a purge that was broken off leaves of traffic is what its slots come to', async () => {
      await migrate(database)
      const ports = portsOf(database)
      const blocker = await ports.transact(async ({ organizations, threatBlockers, traffic }) => {
        const organization = await organizations.insert(anOrganization())
        const id = await threatBlockers.insert(aBlocker({ organization }))
        const slots = [-86_700, -300, 0, 300, 3600, 86_100, 90_000].map((start) => ({ start, total: 3, malicious: 2 }))
        await traffic.addSlots(
          id,
          slots.map((slot) => ({ ...slot, found_later: 1 })),
        )
        await threatBlockers.remove(id, '2026-01-01T00:00:00.000Z')
        return id
      })
      const purge = () =>
        ports.transact(({ removedRecords }) => removedRecords.purge('threat_blocker', blocker, '9999', 1))
      const left: number[] = []
      for (let isDone = false; !isDone; ) {
        isDone = (await purge())?.isDone ?? true
        expect(await ports.integrity()).toEqual([])
        const { days = [] } = (await ports.traffic.counts([blocker])).get(blocker) ?? {}
        left.push(days.reduce((sum, { total }) => sum + total, 0))
      }
      expect(left).toEqual([18, 15, 12, 9, 6, 3, 0, 0])
    })

    test('a check of the files finds chunks that are missing, and chunks of no file', async () => {
      await migrate(database)
      const ports = portsOf(database)
      async function* content() {
        yield Buffer.alloc(600 * 1024)
      }
      const staged = await ports.files.stage(content(), 1024 * 1024)
      await ports.transact(async ({ organizations, securityFrameworks, documents }) => {
        const organization = await organizations.insert(anOrganization())
        const framework = await securityFrameworks.insert(aFramework({ organization }))
        const place = {
          organization,
          framework,
          control: 'A.5.1',
          name: 'a',
          file_name: 'a',
          content_type: 'text/plain',
        }
        await documents.insert({ ...place, ...staged })
      })
      expect(await ports.files.check('9999')).toEqual({ damaged: [], orphans: [] })
      // The bytes of the middle, counted again at the end: as many, and not in a row.
      await tamper(sql`update file_chunk set position = 7 where file = ${staged.file} and position = 1`)
      expect(await ports.files.check('9999')).toEqual({ damaged: [staged.file], orphans: [] })
      await tamper(sql`update file_chunk set position = 1 where file = ${staged.file} and position = 7`)
      await tamper(sql`delete from file_chunk where file = ${staged.file} and position = 2`)
      expect(await ports.files.check('9999')).toEqual({ damaged: [staged.file], orphans: [] })
    })
  })
}

describe('a check on PostgreSQL', () => {
  const [, postgres] = testDatabases()
  afterAll(() => postgres?.cleanUp())

  test('may take longer than any request', async () => {
    const url = (await postgres?.create()) ?? ''
    const [database, other] = [openDatabase(url), openDatabase(url)]
    await migrate(database)
    const { files, integrity } = portsOf(database)
    let locked = () => {}
    const isLocked = new Promise<void>((resolve) => {
      locked = resolve
    })
    const held = other.exclusively((db) =>
      db.transaction().execute(async (unit) => {
        await sql`lock table file_chunk, traffic_slot in access exclusive mode`.execute(unit)
        locked()
        // Past the ten seconds of a statement, and the two more after which nobody listens to it.
        await sql`select pg_sleep(12.5)`.execute(unit)
      }),
    )
    await isLocked
    expect(await Promise.all([integrity(), files.check('9999'), held])).toEqual([
      [],
      { damaged: [], orphans: [] },
      undefined,
    ])
    await Promise.all([database.close(), other.close()])
  })
})

describe('the audit trail on PostgreSQL', () => {
  const [, postgres] = testDatabases()
  afterAll(() => postgres?.cleanUp())

  test('is on the disk before a unit of work is acknowledged, though its commit does not wait for that', async () => {
    const database = openDatabase((await postgres?.create()) ?? '')
    await migrate(database)
    const order: string[] = []
    const watched: Database = {
      ...database,
      async unit(work) {
        const result = await database.unit(work)
        order.push('committed')
        return result
      },
      async settle() {
        const { rows } = await sql<{ written: string }>`
          select pg_current_wal_insert_lsn() as written
        `.execute(database.reader)
        await database.settle?.()
        const flushed = await sql<{ is: boolean }>`
          select pg_current_wal_flush_lsn() >= ${rows[0]?.written}::pg_lsn as is
        `.execute(database.reader)
        order.push(flushed.rows[0]?.is ? 'on the disk' : 'not on the disk')
      },
    }
    const ports = portsOf(watched)
    ports.bus.on('event', () => order.push('told'))
    for (let count = 0; count < 20; count += 1) {
      await ports.transact(({ events }) => events.append(anEvent()))
      expect(order.splice(0)).toEqual(['committed', 'on the disk', 'told'])
    }
    await ports.transact(({ organizations }) => organizations.isActive(1))
    expect(order).toEqual(['committed'])
    await database.close()
  })

  test('settles for many at once, and for those that come meanwhile again', async () => {
    const database = openDatabase((await postgres?.create()) ?? '')
    const first = database.settle?.()
    await Promise.all([first, ...Array.from({ length: 50 }, () => database.settle?.())])
    await database.close()
    await expect(database.settle?.()).rejects.toThrow()
    await expect(database.settle?.()).rejects.toThrow()
  })
})
