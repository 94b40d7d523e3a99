import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { backUpSqlite, type Database, migrate, openDatabase, restoreSqlite, schemaStateOf } from './index.ts'

let folder: string
let file: string
let copy: string
let open: Database[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'test-backup-'))
  file = join(folder, 'service.sqlite')
  copy = join(folder, 'copy.sqlite')
  open = []
})

afterEach(async () => {
  for (const database of open) await database.close()
  await rm(folder, { recursive: true, force: true })
})

async function openService(): Promise<Database> {
  const database = openDatabase(`sqlite:${file}`)
  open.push(database)
  await migrate(database)
  return database
}

async function close(): Promise<void> {
  for (const database of open.splice(0)) await database.close()
}

const stage = (database: Database, staged_at: string) =>
  database.unit((db) => db.insertInto('file').values({ staged_at }).execute())

function stagedIn(path: string): string[] {
  const connection = new Sqlite(path)
  const names = connection.prepare('select staged_at from file order by staged_at').pluck().all()
  connection.close()
  return names as string[]
}

describe('a backup', () => {
  test('holds what was acknowledged before it began, as one file that nobody else can read', async () => {
    const database = await openService()
    await stage(database, 'kept')
    const { bytes } = await backUpSqlite(file, copy)
    await stage(database, 'later')
    expect(stagedIn(copy)).toEqual(['kept'])
    expect((await stat(copy)).size).toBe(bytes)
    expect((await stat(copy)).mode & 0o777).toBe(0o600)
    expect((await readdir(folder)).filter((name) => name.startsWith('copy'))).toEqual(['copy.sqlite'])
  })

  test('comes to its end under writes that never pause, and is one moment of them', async () => {
    const database = await openService()
    await database.unit(async (db) => {
      for (let count = 0; count < 2000; count += 1) {
        await db
          .insertInto('file')
          .values({ staged_at: 'x'.repeat(10_000) })
          .execute()
      }
    })
    // Each unit moves the count of both by one, so that a torn copy would tell.
    const pair = (name: string) =>
      database.unit(async (db) => {
        await db
          .insertInto('file')
          .values({ staged_at: `a${name}` })
          .execute()
        await db
          .insertInto('file')
          .values({ staged_at: `b${name}` })
          .execute()
      })
    let going = true
    let told = 0
    let written = 0
    const writing = (async () => {
      for (; going; written += 1) await pair(String(written))
    })()
    await backUpSqlite(file, copy, {
      onProgress: () => {
        told += 1
      },
    })
    const writtenMeanwhile = written
    going = false
    await writing
    const names = stagedIn(copy)
    expect(names.filter((name) => name.startsWith('a'))).toHaveLength(
      names.filter((name) => name.startsWith('b')).length,
    )
    expect(told).toBeGreaterThan(2)
    expect(writtenMeanwhile).toBeGreaterThan(told / 2)
  })

  test('replaces a file only if it is told to', async () => {
    await stage(await openService(), 'kept')
    await writeFile(copy, 'precious')
    await expect(backUpSqlite(file, copy)).rejects.toThrow(/^[^\n]*copy\.sqlite is there already; --force replaces it$/)
    expect(await readFile(copy, 'utf8')).toBe('precious')
    await backUpSqlite(file, copy, { force: true })
    expect(stagedIn(copy)).toEqual(['kept'])
  })

  test('of nothing, onto itself or to nowhere is refused in one line, and leaves nothing', async () => {
    await expect(backUpSqlite(file, copy)).rejects.toThrow(`There is no database at ${file}`)
    expect(existsSync(file)).toBe(false)
    await openService()
    await expect(backUpSqlite(file, file, { force: true })).rejects.toThrow('is the database itself')
    await expect(backUpSqlite(file, join(folder, 'none', 'copy'))).rejects.toThrow(
      /^The database could not be copied to [^\n]+$/,
    )
    await close()
    expect(await readdir(folder)).toEqual(['service.sqlite'])
  })
})

describe('a restore', () => {
  test('puts back what the backup holds, and keeps what was there', async () => {
    await stage(await openService(), 'kept')
    await backUpSqlite(file, copy)
    await stage(open[0] as Database, 'later')
    await close()
    const { before } = await restoreSqlite(file, copy, { now: new Date('2026-03-01T12:00:00.000Z') })
    expect(before).toBe(`${file}.before-restore-20260301T120000Z`)
    expect(stagedIn(before ?? '')).toEqual(['kept', 'later'])
    expect(stagedIn(file)).toEqual(['kept'])
    expect(await schemaStateOf(await openService())).toBe('current')
    expect(await readFile(copy)).toHaveLength((await stat(copy)).size)
  })

  test('makes the database where there is none', async () => {
    await stage(await openService(), 'kept')
    await backUpSqlite(file, copy)
    await close()
    await rm(file)
    expect(await restoreSqlite(file, copy)).toEqual({ before: undefined })
    expect(stagedIn(file)).toEqual(['kept'])
  })

  test('is refused while somebody has the database open, who goes on as if nothing had been', async () => {
    const database = await openService()
    await backUpSqlite(file, copy)
    await stage(database, 'later')
    await expect(restoreSqlite(file, copy)).rejects.toThrow(
      /^A process has the database .* open; stop the service first$/,
    )
    await expect(restoreSqlite(file, copy, { force: true })).rejects.toThrow('open; stop the service first')
    await stage(database, 'still')
    await close()
    expect(stagedIn(file)).toEqual(['later', 'still'])
    expect(await readdir(folder)).toEqual(['copy.sqlite', 'service.sqlite'])
  })

  test('whoever opened the old file while it was replaced cannot write to it', async () => {
    await stage(await openService(), 'kept')
    await backUpSqlite(file, copy)
    await close()
    // Opened, and nothing asked yet: no lock is held.
    const late = new Sqlite(file)
    await restoreSqlite(file, copy)
    expect(() => late.pragma('journal_mode = WAL')).toThrow(/readonly/)
    late.close()
    expect(stagedIn(file)).toEqual(['kept'])
  })

  test('refuses what is no backup of ours, and changes nothing', async () => {
    await stage(await openService(), 'kept')
    await backUpSqlite(file, copy)
    const bytes = await readFile(copy)
    await close()

    const refusal = async (make: () => unknown) => {
      await make()
      const message = await restoreSqlite(file, copy).catch((error: Error) => error.message)
      expect(stagedIn(file)).toEqual(['kept'])
      await rm(copy, { force: true })
      return message
    }
    const edited = (statements: string) => () => {
      const connection = new Sqlite(copy)
      connection.exec(statements)
      connection.close()
    }
    const damaged = () => {
      const broken = Buffer.from(bytes)
      broken.fill(0xff, bytes.length - 4096 * 3, bytes.length - 4096)
      return writeFile(copy, broken)
    }
    expect(await refusal(() => rm(copy))).toMatch(/^There is no file/)
    expect(await refusal(() => writeFile(copy, 'not a database at all'.repeat(100)))).toMatch(/is no SQLite database$/)
    expect(await refusal(() => writeFile(copy, ''))).toMatch(/is no database of this service$/)
    expect(await refusal(edited('create table migration (name text)'))).toMatch(/is no database of this service$/)
    expect(await refusal(damaged)).toMatch(/is damaged|malformed/)
    await writeFile(copy, bytes)
    const newer = edited("insert into migration values ('9999-future', '2099-01-01')")
    expect(await refusal(newer)).toMatch(/was upgraded to 9999-future by a newer version/)
    await writeFile(copy, bytes)
    expect(await refusal(() => writeFile(`${copy}-wal`, 'x'))).toMatch(/is a database in use/)
    expect((await readdir(folder)).sort()).toEqual(['copy.sqlite-wal', 'service.sqlite'])
  })

  test('over a database that is beyond repair needs to be told twice, and leaves no log of the old one', async () => {
    await stage(await openService(), 'kept')
    await backUpSqlite(file, copy)
    await close()
    await writeFile(file, 'ruins'.repeat(1000))
    await writeFile(`${file}-wal`, 'more ruins')
    await expect(restoreSqlite(file, copy)).rejects.toThrow(/is damaged.*--force/)
    const { before } = await restoreSqlite(file, copy, { force: true })
    expect(stagedIn(file)).toEqual(['kept'])
    expect(await readFile(before ?? '', 'utf8')).toContain('ruins')
    expect(existsSync(`${file}-wal`)).toBe(false)
  })

  test('leaves the copy as it was, and needs no right to write beside it', async () => {
    await stage(await openService(), 'kept')
    await backUpSqlite(file, copy)
    await close()
    await chmod(copy, 0o400)
    const bytes = await readFile(copy)
    await restoreSqlite(file, copy)
    expect((await readFile(copy)).equals(bytes)).toBe(true)
    await stage(await openService(), 'more')
    await close()
    expect(stagedIn(file)).toEqual(['kept', 'more'])
  })
})
