import { existsSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { afterAll, describe, expect, test } from 'vitest'
import { migrate, openDatabase } from './index.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { testDatabases } from './testing/databases.ts'

const addNickname: Migration = {
  up: (db: Kysely<unknown>) => db.schema.alterTable('user').addColumn('nickname', 'text').execute(),
}
const failing: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.createTable('half_there').addColumn('id', 'integer').execute()
    await sql`select * from no_such_table`.execute(db)
  },
}

/** A database as it was before the migration of this name, and the names of those that are left. */
async function databaseBefore(name: string, url: string) {
  const database = openDatabase(url)
  const names = Object.keys(MIGRATIONS)
  const upgrade = names.slice(names.indexOf(name))
  await migrate(
    database,
    Object.fromEntries(Object.entries(MIGRATIONS).filter(([earlier]) => !upgrade.includes(earlier))),
  )
  return { database, upgrade }
}

const AN_ORGANIZATION = sql`
  insert into organization (name, name_folded, description, number_employees, website, logo, sectors, industries,
    contacts, domains, ips, infrastructure)
  values ('o', 'o', '', 0, '', '', '[]', '[]', '[]', '[]', '[]', '')
`

/** A threat blocker of the first organization. */
const aBlocker = (device: string) => sql`
  insert into threat_blocker (organization, atb_key, type, email, plugin, endpoint, "privateIP", services, device_id,
    created_at)
  values (1, ${device}, 'series', '', '', '', '', '[]', ${device}, '2026')
`

for (const { name, create, cleanUp } of testDatabases()) {
  describe(`migrations on ${name}`, () => {
    afterAll(cleanUp)

    test('an empty database gets every migration, in order, and a second run finds nothing to do', async () => {
      const database = openDatabase(await create())
      expect(await migrate(database)).toEqual({ applied: Object.keys(MIGRATIONS).sort() })
      expect(await migrate(database)).toEqual({ applied: [] })
      await database.close()
    })

    test('six processes that start at once on an empty database migrate it once', async () => {
      const url = await create()
      const databases = Array.from({ length: 6 }, () => openDatabase(url))
      const results = await Promise.all(databases.map((database) => migrate(database)))
      expect(results.flatMap(({ applied }) => applied).sort()).toEqual(Object.keys(MIGRATIONS).sort())
      await Promise.all(databases.map((database) => database.close()))
    })

    test('a migration that fails in the middle changes nothing, and the next start can try again', async () => {
      const database = openDatabase(await create())
      await migrate(database)
      await expect(migrate(database, { ...MIGRATIONS, '9000-failing': failing })).rejects.toThrow(/no_such_table/)
      await expect(sql`select * from half_there`.execute(database.reader)).rejects.toThrow(/half_there/)
      const { applied } = await migrate(database, { ...MIGRATIONS, '9000-nickname': addNickname })
      expect(applied).toEqual(['9000-nickname'])
      await database.close()
    })

    test('what was completed before the evidences were read for it is known after the upgrade', async () => {
      const { database, upgrade } = await databaseBefore('0012-last-completed', await create())
      const evidences = (...completed: [datetime: string, completed: number][]) =>
        JSON.stringify(completed.map(([datetime, done]) => ({ datetime, completed: done })))
      await database.unit(async (db) => {
        await AN_ORGANIZATION.execute(db)
        await sql`insert into security_framework (organization, title, created_at) values (1, 't', '2026')`.execute(db)
        for (let index = 0; index < 25; index += 1) {
          const entries = evidences(['2026-01-03', 0], [`2026-01-02T${index}`, index], ['2026-01-01', 1])
          await sql`
            insert into control (framework, id, position, body, frequency, evidences)
            values (1, ${`c${index}`}, ${index}, '{}', '', ${entries})
          `.execute(db)
        }
        await sql`update control set evidences = '[]' where id = 'c7'`.execute(db)
      })
      expect(await migrate(database)).toMatchObject({ applied: upgrade })
      const found = await database.reader.selectFrom('control').select('last_completed').orderBy('position').execute()
      expect(found.map(({ last_completed }) => last_completed)).toEqual(
        Array.from({ length: 25 }, (_, index) =>
          index === 7 ? null : index === 0 ? '2026-01-01' : `2026-01-02T${index}`,
        ),
      )
      await database.close()
    })

    test('traffic of before it was counted by the hour and the day is counted so after the upgrade', async () => {
      const { database, upgrade } = await databaseBefore('0014-traffic-sums', await create())
      await database.unit(async (db) => {
        await AN_ORGANIZATION.execute(db)
        for (const device of ['one', 'other']) await aBlocker(device).execute(db)
        for (const start of [-86_700, -300, 0, 300, 86_100, 86_400]) {
          await sql`insert into traffic_slot values (1, ${start}, 5000000000, 2, 1)`.execute(db)
        }
        await sql`insert into traffic_slot values (2, 300, 1, 0, 0)`.execute(db)
      })
      expect(await migrate(database)).toMatchObject({ applied: upgrade })
      const sums = async (seconds: number) => {
        const rows = await database.reader
          .selectFrom('traffic_sum')
          .selectAll()
          .where('seconds', '=', seconds)
          .orderBy('threat_blocker')
          .orderBy('start')
          .execute()
        return rows.map((row) => [row.threat_blocker, row.start, row.total, row.malicious, row.found_later])
      }
      expect(await sums(86_400)).toEqual([
        [1, -172_800, 5_000_000_000, 2, 1],
        [1, -86_400, 5_000_000_000, 2, 1],
        [1, 0, 15_000_000_000, 6, 3],
        [1, 86_400, 5_000_000_000, 2, 1],
        [2, 0, 1, 0, 0],
      ])
      expect(await sums(3600)).toEqual([
        [1, -90_000, 5_000_000_000, 2, 1],
        [1, -3600, 5_000_000_000, 2, 1],
        [1, 0, 10_000_000_000, 4, 2],
        [1, 82_800, 5_000_000_000, 2, 1],
        [1, 86_400, 5_000_000_000, 2, 1],
        [2, 0, 1, 0, 0],
      ])
      await database.close()
    })

    test('a program that is older than the database says so and leaves it alone', async () => {
      const database = openDatabase(await create())
      await migrate(database, { ...MIGRATIONS, '9000-nickname': addNickname })
      await expect(migrate(database)).rejects.toThrow('upgraded to 9000-nickname by a newer version')
      await database.close()
    })
  })
}

describe('migrations of a PostgreSQL database', () => {
  const [, postgres] = testDatabases()
  afterAll(() => postgres?.cleanUp())

  test('leave the bytes of files as they are sent', async () => {
    const database = openDatabase((await postgres?.create()) ?? '')
    await migrate(database)
    await database.stage(async (db) => {
      const { id } = await db.insertInto('file').values({ staged_at: '' }).returning('id').executeTakeFirstOrThrow()
      await db
        .insertInto('file_chunk')
        .values({ file: id, position: 0, bytes: Buffer.alloc(100_000) })
        .execute()
    })
    const stored = await sql<{ size: number }>`select pg_column_size(bytes) as size from file_chunk`.execute(
      database.reader,
    )
    expect(stored.rows).toEqual([{ size: 100_000 }])
    await database.close()
  })

  test('count the traffic that an older process is about to store', async () => {
    const url = (await postgres?.create()) ?? ''
    const { database: older } = await databaseBefore('0014-traffic-sums', url)
    const newer = openDatabase(url)
    await older.unit(async (db) => {
      await AN_ORGANIZATION.execute(db)
      await aBlocker('one').execute(db)
    })
    let migrated: Promise<unknown> | undefined
    await older.unit(async (db) => {
      await sql`insert into traffic_slot values (1, 300, 5, 2, 1)`.execute(db)
      migrated = migrate(newer)
      // Either it waits for this unit, or it has gone by.
      await expect
        .poll(
          async () => {
            const { rows } = await sql`select 1 from pg_locks where not granted`.execute(older.reader)
            return rows.length > 0 || (await Promise.race([migrated?.then(() => true), nextTurn(false)]))
          },
          { timeout: 10_000 },
        )
        .toBe(true)
    })
    await migrated
    const found = await newer.reader.selectFrom('traffic_sum').select(['start', 'total']).orderBy('seconds').execute()
    expect(found).toEqual([
      { start: 0, total: 5 },
      { start: 0, total: 5 },
    ])
    await Promise.all([older.close(), newer.close()])
  })

  test('may take longer than any request, and who waits for them waits as long', async () => {
    const url = (await postgres?.create()) ?? ''
    const [one, other] = [openDatabase(url), openDatabase(url)]
    await migrate(one)
    let begun = () => {}
    const running = new Promise<void>((resolve) => {
      begun = resolve
    })
    const slow: Migration = {
      async up(db) {
        begun()
        // Past the ten seconds of a statement, and the two more after which nobody listens to it.
        await sql`select pg_sleep(12.5)`.execute(db)
      },
    }
    const migrations = { ...MIGRATIONS, '9000-slow': slow }
    const first = migrate(one, migrations)
    await running
    expect(await Promise.all([first, migrate(other, migrations)])).toEqual([
      { applied: ['9000-slow'] },
      { applied: [] },
    ])
    await Promise.all([one.close(), other.close()])
  })
})

describe('migrations of a SQLite file', () => {
  const [sqlite] = testDatabases()
  afterAll(() => sqlite?.cleanUp())

  test('an upgrade copies the file first, and the copy holds the data of before', async () => {
    const url = (await sqlite?.create()) ?? ''
    const database = openDatabase(url)
    expect(await migrate(database)).not.toHaveProperty('backup')
    await database.unit((db) => db.insertInto('file').values({ staged_at: 'before' }).execute())

    const { backup } = await migrate(database, { ...MIGRATIONS, '9000-nickname': addNickname })

    expect(backup).toBe(`${url.slice('sqlite:'.length)}.before-9000-nickname`)
    expect(existsSync(backup ?? '')).toBe(true)
    const copy = openDatabase(`sqlite:${backup}`)
    expect(await copy.reader.selectFrom('file').select('staged_at').execute()).toEqual([{ staged_at: 'before' }])
    await expect(sql`select nickname from "user"`.execute(copy.reader)).rejects.toThrow(/nickname/)
    await Promise.all([copy.close(), database.close()])
  })
})
