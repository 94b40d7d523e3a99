import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '@security-management/domain'
import Sqlite from 'better-sqlite3'
import { type Kysely, sql } from 'kysely'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Database, migrate, openDatabase } from './index.ts'
import type { Schema } from './schema.ts'
import { testDatabases } from './testing/databases.ts'
import { startProxy, type TestProxy } from './testing/proxy.ts'

const stage = (database: Database, staged_at: string) =>
  database.unit((db) => db.insertInto('file').values({ staged_at }).execute())

const staged = async (database: Database) =>
  (await database.reader.selectFrom('file').select('staged_at').orderBy('staged_at').execute()).map(
    (row) => row.staged_at,
  )

for (const { name, create, cleanUp } of testDatabases()) {
  describe(`units of work on ${name}`, () => {
    let database: Database
    beforeEach(async () => {
      database = openDatabase(await create())
      await migrate(database)
    })
    afterEach(() => database.close())
    afterAll(cleanUp)

    test('of a hundred units at once every third fails, and the others are all kept', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 100 }, (_, index) =>
          database.unit(async (db) => {
            await db
              .insertInto('file')
              .values({ staged_at: String(index).padStart(3, '0') })
              .execute()
            if (index % 3 === 0) throw new Error(`no to ${index}`)
            return index
          }),
        ),
      )
      const kept = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      expect(kept).toEqual(Array.from({ length: 100 }, (_, index) => index).filter((index) => index % 3 !== 0))
      expect(await staged(database)).toEqual(kept.map((index) => String(index).padStart(3, '0')))
    })

    test('a unit that meets a wrong statement fails alone', async () => {
      const [wrong, right] = await Promise.allSettled([
        database.unit((db) => sql`select * from no_such_table`.execute(db)),
        stage(database, 'kept'),
      ])
      expect([wrong?.status, right?.status]).toEqual(['rejected', 'fulfilled'])
      expect(await staged(database)).toEqual(['kept'])
    })

    test('a reader sees nothing of a unit before it is acknowledged, and all of it afterwards', async () => {
      let seen: string[] | undefined
      await database.unit(async (db) => {
        await db.insertInto('file').values({ staged_at: 'open' }).execute()
        seen = await staged(database)
      })
      expect(seen).toEqual([])
      expect(await staged(database)).toEqual(['open'])
    })

    test('text is compared and sorted by its bytes', async () => {
      for (const text of ['b', 'A', 'é', '\u{1F600}', '\uFFFD', 'a', 'B']) await stage(database, text)
      expect(await staged(database)).toEqual(['A', 'B', 'a', 'b', 'é', '\uFFFD', '\u{1F600}'])
    })
  })
}

describe('units of work on PostgreSQL', () => {
  const [, postgres] = testDatabases()
  afterAll(() => postgres?.cleanUp())

  test('two units that deadlock are both done in the end', async () => {
    const database = openDatabase((await postgres?.create()) ?? '')
    await migrate(database)
    for (const one of ['a', 'b']) await stage(database, one)
    const meet = meeting(2)
    const touch = (first: string, second: string) =>
      database.unit(async (db) => {
        const update = (which: string) =>
          db.updateTable('file').set({ staged_at: which }).where('staged_at', '=', which).execute()
        await update(first)
        await meet()
        await update(second)
      })
    await Promise.all([touch('a', 'b'), touch('b', 'a')])
    expect(await staged(database)).toEqual(['a', 'b'])
    await database.close()
  })

  test('two units that a stricter isolation cannot keep apart are both done in the end', async () => {
    const url = `${await postgres?.create()}?options=${encodeURIComponent('-c default_transaction_isolation=serializable')}`
    const database = openDatabase(url)
    await migrate(database)
    const meet = meeting(2)
    let runs = 0
    const count = () =>
      database.unit(async (db) => {
        runs += 1
        const { length } = await db.selectFrom('file').select('id').execute()
        await meet()
        await db
          .insertInto('file')
          .values({ staged_at: String(length) })
          .execute()
      })
    await Promise.all([count(), count()])
    expect(await staged(database)).toEqual(['0', '1'])
    expect(runs).toBe(3)
    await database.close()
  })

  test('a server that is not there is unavailable, not a fault', async () => {
    const database = openDatabase('postgres://nobody:secret@127.0.0.1:1/nothing')
    const error = await database.unit((db) => sql`select 1`.execute(db)).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(DomainError)
    expect((error as DomainError).code).toBe('unavailable')
    await database.close()
  })
})

describe('a PostgreSQL server that fails', () => {
  const [, postgres] = testDatabases()
  afterAll(() => postgres?.cleanUp())

  let url: string
  let proxy: TestProxy
  let database: Database
  beforeEach(async () => {
    url = (await postgres?.create()) ?? ''
    proxy = await startProxy(url)
    database = openDatabase(proxy.url)
    await migrate(database)
  })
  afterEach(async () => {
    await database.close()
    await proxy.stop()
  })

  /** How the work ends: `done`, or a code; and whether that was long before a statement times out. */
  async function ending(work: Promise<unknown>) {
    const started = performance.now()
    const end = await work.then(
      () => 'done',
      (error: unknown) => (error instanceof DomainError ? error.code : error),
    )
    return { end, soon: performance.now() - started < 6000 }
  }

  test('and takes what it is sent without an answer is unavailable soon, and used again when it answers', async () => {
    await Promise.all(Array.from({ length: 5 }, () => staged(database)))
    const silent = meeting(2)
    const open = database.unit(async (db) => {
      await db.insertInto('file').values({ staged_at: 'half' }).execute()
      proxy.swallow()
      await silent()
      await db.insertInto('file').values({ staged_at: 'more' }).execute()
    })
    await silent()
    const many = Array.from({ length: 25 }, () => staged(database))
    const ends = await Promise.all([open, ...many].map(ending))
    expect(ends).toEqual(ends.map(() => ({ end: 'unavailable', soon: true })))
    // What comes later does not wait as long again.
    expect(await ending(stage(database, 'later'))).toEqual({ end: 'unavailable', soon: true })
    proxy.pass()
    await expect.poll(() => ending(stage(database, 'in the end')), { timeout: 5000 }).toMatchObject({ end: 'done' })
    const several = await Promise.all(Array.from({ length: 15 }, () => ending(staged(database))))
    expect(several).toEqual(several.map(() => ({ end: 'done', soon: true })))
    expect(await staged(database)).toEqual(['in the end'])
  })

  test('and answers others is let finish what takes its time', async () => {
    const slow = database.unit((db) => sql`select pg_sleep(7)`.execute(db))
    expect(await ending(slow)).toEqual({ end: 'done', soon: false })
  })

  test('and ends its connections, those in use as well, makes their units unavailable and no others', async () => {
    const [idle, busy] = [meeting(2), meeting(2)]
    const failing = [
      // One connection ends between two statements, when nobody waits for it, another one during one.
      database.unit(async (db) => {
        await db.insertInto('file').values({ staged_at: 'half' }).execute()
        await idle()
        await sleep(300)
        await db.insertInto('file').values({ staged_at: 'more' }).execute()
      }),
      database.unit(async (db) => {
        await busy()
        await sql`select pg_sleep(7)`.execute(db)
      }),
    ].map(ending)
    await Promise.all([idle(), busy()])
    const other = openDatabase(url)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(other.reader)
    await other.close()
    expect(await Promise.all(failing)).toEqual(failing.map(() => ({ end: 'unavailable', soon: true })))
    expect(await ending(stage(database, 'kept'))).toEqual({ end: 'done', soon: true })
    expect(await staged(database)).toEqual(['kept'])
  })
})

/** A place where `count` have to arrive, once, before any goes on; later arrivals pass. */
function meeting(count: number): () => Promise<void> {
  let arrived = 0
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return () => {
    arrived += 1
    if (arrived >= count) open()
    return opened
  }
}

describe('units of work on SQLite', () => {
  const [sqlite] = testDatabases()
  afterAll(() => sqlite?.cleanUp())

  test('while another process writes, a unit waits without stopping reads, and then is done', async () => {
    const url = (await sqlite?.create()) ?? ''
    const database = openDatabase(url)
    await migrate(database)
    const other = new Sqlite(url.slice('sqlite:'.length))
    other.exec('begin immediate')
    const waiting = stage(database, 'waited')
    expect(await staged(database)).toEqual([])
    other.exec('commit')
    await waiting
    expect(await staged(database)).toEqual(['waited'])
    other.close()
    await database.close()
  })

  test('a lock that is not given back in time makes the unit unavailable, and the next one works', async () => {
    const url = (await sqlite?.create()) ?? ''
    const database = openDatabase(url)
    await migrate(database)
    const other = new Sqlite(url.slice('sqlite:'.length))
    other.exec('begin immediate')
    await expect(stage(database, 'too late')).rejects.toMatchObject({ code: 'unavailable' })
    other.exec('rollback')
    await stage(database, 'in time')
    expect(await staged(database)).toEqual(['in time'])
    other.close()
    await database.close()
  })

  test('while another process keeps the lock, each unit is told in time, whenever it came, and reads go on', async () => {
    const url = (await sqlite?.create()) ?? ''
    const database = openDatabase(url)
    await migrate(database)
    const other = new Sqlite(url.slice('sqlite:'.length))
    other.exec('begin immediate')
    const units = Array.from({ length: 8 }, async (_, index) => {
      await sleep(index * 400)
      const came = performance.now()
      const code = await stage(database, 'too late').catch((error: DomainError) => error.code)
      return { code, soon: performance.now() - came < 4000 }
    })
    const reads: number[] = []
    const reading = setInterval(async () => {
      const asked = performance.now()
      await staged(database)
      reads.push(performance.now() - asked)
    }, 10)
    const ends = await Promise.all(units)
    clearInterval(reading)
    expect(ends).toEqual(ends.map(() => ({ code: 'unavailable', soon: true })))
    // In between the event loop was free.
    expect(reads.length).toBeGreaterThan(100)
    other.exec('rollback')
    await stage(database, 'in time')
    expect(await staged(database)).toEqual(['in time'])
    other.close()
    await database.close()
  })

  test('a full disk makes the units of its commit unavailable and keeps none of them, and the next ones work', async () => {
    const url = (await sqlite?.create()) ?? ''
    const database = openDatabase(url)
    await migrate(database)
    const pages = (count: number) => database.unit((db) => sql`pragma max_page_count = ${sql.lit(count)}`.execute(db))
    const big = (database: Database) =>
      database.unit(async (db) => {
        const { id } = await db
          .insertInto('file')
          .values({ staged_at: 'big' })
          .returning('id')
          .executeTakeFirstOrThrow()
        await db
          .insertInto('file_chunk')
          .values({ file: id, position: 0, bytes: Buffer.alloc(1 << 20) })
          .execute()
      })
    await pages(1)
    const results = await Promise.allSettled([stage(database, 'small'), big(database)])
    expect(results[1]).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
    const acknowledged = results[0]?.status === 'fulfilled' ? ['small'] : []
    expect(await staged(database)).toEqual(acknowledged)
    await pages(1_000_000)
    await big(database)
    expect(await staged(database)).toEqual(['big', ...acknowledged])
    await database.close()
  })

  test('what is staged does not wait for the disk, and what comes with or after it does', async () => {
    const database = openDatabase((await sqlite?.create()) ?? '')
    await migrate(database)
    const FULL = 2
    const NORMAL = 1
    const level = async (db: Kysely<Schema>) =>
      (await sql<{ synchronous: number }>`pragma synchronous`.execute(db)).rows[0]?.synchronous
    expect(await database.unit(level)).toBe(FULL)
    expect(await Promise.all([database.stage(level), database.stage(level)])).toEqual([NORMAL, NORMAL])
    expect(await Promise.all([database.stage(level), database.unit(level)])).toEqual([FULL, FULL])
    expect(await database.stage(level)).toBe(NORMAL)
    expect(await database.exclusively(level)).toBe(FULL)
    await database.close()
  })

  test('a long log is written back into the file in a turn after the commit, and stays short', async () => {
    const url = (await sqlite?.create()) ?? ''
    const database = openDatabase(url)
    await migrate(database)
    const path = url.slice('sqlite:'.length)
    const other = new Sqlite(path)
    const pages = () => {
      const [{ log, checkpointed }] = other.pragma('wal_checkpoint(noop)') as [{ log: number; checkpointed: number }]
      return { log, checkpointed }
    }
    const file = await database.unit((db) =>
      db.insertInto('file').values({ staged_at: 'big' }).returning('id').executeTakeFirstOrThrow(),
    )
    const add = (position: number) => async (db: Kysely<Schema>) => {
      await db
        .insertInto('file_chunk')
        .values({ file: file.id, position, bytes: Buffer.alloc(4 << 20) })
        .execute()
    }
    await database.unit(add(0))
    const { log, checkpointed } = pages()
    expect(log).toBeGreaterThan(1000)
    expect(checkpointed).toBeLessThan(log)
    await stage(database, 'next')
    expect(pages().log).toBeLessThan(100)
    for (let position = 1; position <= 4; position += 1) await database.stage(add(position))
    for (let position = 5; position <= 8; position += 1) await database.unit(add(position))
    expect((await stat(`${path}-wal`)).size).toBeLessThan(6 << 20)
    other.close()
    await database.close()
  })

  test('a database URL of another form is refused in one line that holds no password', () => {
    expect(() => openDatabase('mysql://me:secret@host/name')).toThrow(/sqlite:PATH or postgres/)
    expect(() => openDatabase('mysql://me:secret@host/name')).not.toThrow(/secret/)
  })
})
