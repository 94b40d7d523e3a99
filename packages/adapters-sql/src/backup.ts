import { constants, existsSync } from 'node:fs'
import { chmod, copyFile, link, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { MIGRATIONS } from './migrations/index.ts'

/** Pages that are copied before the progress is told, about 4 MiB. */
const PAGES_AT_ONCE = 1000

/** Nobody but the owner may read what holds everything. */
const PRIVATE = 0o600

/**
 * Copies the database to `target` as it is at this moment, while others read and write it. The copy is one file, sound
 * and on the disk once the promise resolves; until then it is `target.part`.
 *
 * @param force whether a file that is there may be replaced.
 * @throws Error with one line; then `target` is as it was.
 */
export async function backUpSqlite(
  file: string,
  target: string,
  { force = false, onProgress = (_done: number, _total: number) => {} } = {},
): Promise<{ bytes: number }> {
  if (!existsSync(file)) throw new Error(`There is no database at ${file}`)
  if (!force && existsSync(target)) throw new Error(`${target} is there already; --force replaces it`)
  if (await isSameFile(file, target)) throw new Error(`${target} is the database itself`)
  const part = `${resolve(target)}.part`
  await rm(part, { force: true })
  try {
    // Made first, so that it is never there with other rights.
    await (await open(part, 'wx', PRIVATE)).close()
    await copyPages(file, part, onProgress)
    makeSingleFile(part)
    inspect(part, 'The copy')
    await sync(part)
    // Without force, a file that came meanwhile stays; rename would replace it.
    if (force) await rename(part, target)
    else await link(part, target)
  } catch (error) {
    throw inOneLine(error, `The database could not be copied to ${target}`)
  } finally {
    await rm(part, { force: true })
  }
  await sync(dirname(resolve(target)))
  return { bytes: (await stat(target)).size }
}

/**
 * Puts the copy `source` in the place of the database, which stays beside it under another name.
 *
 * @param force whether to go on where the database is so broken that it cannot be asked whether a process has it open.
 * @returns where the database that was there is now; undefined if there was none.
 * @throws Error with one line when the copy is none of ours, not sound or newer than this program, or when a process has
 *   the database open; then the database is as it was.
 */
export async function restoreSqlite(
  file: string,
  source: string,
  { force = false, now = new Date() } = {},
): Promise<{ before: string | undefined }> {
  if (!existsSync(source)) throw new Error(`There is no file ${source}`)
  if (await isSameFile(file, source)) throw new Error(`${source} is the database itself`)
  // What was not checkpointed would be lost.
  for (const log of [`${source}-wal`, `${source}-journal`]) {
    if (await isFilled(log)) throw new Error(`${source} is a database in use (there is a ${log}), no backup`)
  }
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const staged = `${file}.restoring`
  try {
    await copyFile(source, staged, constants.COPYFILE_FICLONE)
    await chmod(staged, PRIVATE)
    makeSingleFile(staged)
    inspect(staged, source)
    await sync(staged)
    return { before: await swap(file, staged, force, now) }
  } catch (error) {
    throw inOneLine(error, `${source} could not be restored`)
  } finally {
    await rm(staged, { force: true })
  }
}

async function copyPages(from: string, to: string, onProgress: (done: number, total: number) => void): Promise<void> {
  const source = new Sqlite(from, { readonly: true, fileMustExist: true, timeout: 5000 })
  try {
    // An open read pins the moment that is copied: otherwise every write of another process would start the copy anew.
    source.exec('begin')
    source.prepare('select count(*) from sqlite_schema').get()
    await source.backup(to, {
      progress({ totalPages, remainingPages }) {
        onProgress(totalPages - remainingPages, totalPages)
        return PAGES_AT_ONCE
      },
    })
  } finally {
    source.close()
  }
}

/** Takes the file out of WAL mode, so that it needs no files beside it and can be read where nothing can be written. */
function makeSingleFile(file: string): void {
  const connection = new Sqlite(file, { fileMustExist: true })
  try {
    connection.pragma('journal_mode = DELETE')
  } finally {
    connection.close()
  }
}

function inspect(file: string, name: string): void {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true })
  try {
    const migrations = namesOf(connection)
    if (!migrations?.includes(Object.keys(MIGRATIONS)[0] ?? '')) {
      throw new Error(`${name} is no database of this service`)
    }
    const unknown = migrations.find((migration) => !(migration in MIGRATIONS))
    if (unknown) throw new Error(`${name} was upgraded to ${unknown} by a newer version of the service; use that one`)
    const [problem] = connection.pragma('integrity_check(1)', { simple: false }) as { integrity_check: string }[]
    if (problem?.integrity_check !== 'ok') throw new Error(`${name} is damaged: ${problem?.integrity_check}`)
  } finally {
    connection.close()
  }
}

function namesOf(connection: Sqlite.Database): string[] | undefined {
  const table = connection.prepare("select 1 from sqlite_schema where type = 'table' and name = 'migration'").get()
  if (!table) return undefined
  return connection.prepare('select name from migration order by name').pluck().all() as string[]
}

async function swap(file: string, staged: string, force: boolean, now: Date): Promise<string | undefined> {
  const isThere = existsSync(file)
  const lock = isThere ? lockAlone(file, force) : undefined
  const before = `${file}.before-restore-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`
  try {
    // A log that belongs to another database would be taken for this one's. After the lock there is none.
    for (const end of ['-wal', '-shm']) {
      if (existsSync(`${file}${end}`)) await rename(`${file}${end}`, `${before}${end}`)
    }
    // At each moment there is a whole database under the name. Whoever opened the old one meanwhile cannot use it: SQLite
    // refuses to write to a file that was moved, and switching to WAL is a write.
    if (isThere) await link(file, before)
    await rename(staged, file)
    await sync(dirname(file))
  } finally {
    lock?.close()
  }
  return isThere ? before : undefined
}

/** Opens the database so that nobody else can; fails if somebody has it open, since leaving WAL mode takes every lock. */
function lockAlone(file: string, force: boolean): Sqlite.Database | undefined {
  const connection = new Sqlite(file, { timeout: 200 })
  try {
    connection.pragma('journal_mode = DELETE')
    connection.exec('begin exclusive')
    return connection
  } catch (error) {
    connection.close()
    const code = error instanceof Sqlite.SqliteError ? error.code : ''
    if (code.startsWith('SQLITE_BUSY')) {
      throw new Error(`A process has the database ${file} open; stop the service first`, { cause: error })
    }
    if (!/^SQLITE_(?:NOTADB|CORRUPT|IOERR)/.test(code)) throw error
    if (force) return undefined
    throw new Error(
      `The database ${file} is damaged, so that it cannot be asked who has it open; stop the service, then --force replaces it`,
      { cause: error },
    )
  }
}

async function isFilled(file: string): Promise<boolean> {
  return existsSync(file) && (await stat(file)).size > 0
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  if (!existsSync(one) || !existsSync(other)) return false
  const [a, b] = await Promise.all([stat(one), stat(other)])
  return a.ino === b.ino && a.dev === b.dev
}

/** Waits until a file, or the names in a folder, are on the disk. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function inOneLine(error: unknown, what: string): Error {
  if (!(error instanceof Error)) return new Error(`${what}: ${error}`)
  if (error instanceof Sqlite.SqliteError && error.code === 'SQLITE_NOTADB') {
    return new Error(`${what}: it is no SQLite database`, { cause: error })
  }
  const isSystem = error instanceof Sqlite.SqliteError || 'code' in error
  return isSystem ? new Error(`${what}: ${error.message}`, { cause: error }) : error
}
