import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { Kysely, SqliteDialect, type SqliteStatement } from 'kysely'
import type { Database, OnTimed } from './database.ts'
import type { Schema } from './schema.ts'
import { timed } from './timed.ts'
import { asUnavailable } from './unavailable.ts'

/** How long a unit waits for a lock that another process holds, in milliseconds, before it is `unavailable`. */
const LOCK_WAIT = 2000

/** How long opening a file waits for another process that makes or recovers it, in milliseconds. */
const OPEN_WAIT = 5000

/** How long a migration waits for one that another process runs, in milliseconds. */
const MIGRATION_WAIT = 10 * 60 * 1000

/** Units that one shared commit takes at the most. */
const BATCH = 200

/**
 * Pages of 4 KiB in the log at which it is written back into the file, with everything else waiting. Staged bytes fill it
 * quickly, so that they write back less at a time: 3 ms instead of 12.
 */
const CHECKPOINT = 1000
const STAGED_CHECKPOINT = 250

/** Opens a SQLite file; makes it, and its folder, if it is not there. */
export function openSqlite(path: string, onTimed?: OnTimed): Database {
  const file = resolve(path)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const writer = connect(file)
  const reader = connect(file, { readonly: true })
  const units = createUnits(writer)
  const db = queries(writer, onTimed)
  const readerDb = queries(reader, onTimed)
  return {
    kind: 'sqlite',
    file,
    reader: readerDb,
    unit: (work) => timed(onTimed, 'unit', () => units.run(() => work(db))),
    stage: (work) => timed(onTimed, 'unit', () => units.run(() => work(db), false)),
    exclusively: (work) => units.alone(() => work(db)),
    patiently: (work) => work(readerDb),
    async copyTo(target) {
      reader.prepare('vacuum into ?').run(target)
    },
    async close() {
      await units.idle()
      reader.close()
      writer.pragma('wal_checkpoint(TRUNCATE)')
      writer.close()
    },
  }
}

function connect(file: string, options: Sqlite.Options = {}): Sqlite.Database {
  const connection = new Sqlite(file, { ...options, timeout: OPEN_WAIT })
  if (!options.readonly) useWriteAheadLog(connection)
  connection.pragma('synchronous = FULL')
  connection.pragma('foreign_keys = ON')
  connection.pragma('cache_size = -16000')
  // From here on waiting would stop the whole process. Units wait outside, see `takeLock`; reads meet a lock rarely.
  connection.pragma(`busy_timeout = ${options.readonly ? 100 : 0}`)
  return connection
}

/** SQLite does not wait for a lock that is in the way of this change, as it does everywhere else. */
function useWriteAheadLog(connection: Sqlite.Database): void {
  const deadline = performance.now() + OPEN_WAIT
  for (;;) {
    try {
      connection.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}

/** Queries on one connection, each SQL text prepared once. */
function queries(connection: Sqlite.Database, onTimed: OnTimed | undefined): Kysely<Schema> {
  const prepared = new Map<string, SqliteStatement>()
  function prepare(text: string): SqliteStatement {
    const statement = guard(() => connection.prepare(text))
    return {
      reader: statement.reader,
      all: (parameters) => guard(() => statement.all(parameters), onTimed),
      run: (parameters) => guard(() => statement.run(parameters), onTimed),
      iterate: (parameters) => guard(() => statement.iterate(parameters)),
    }
  }
  const database = {
    close() {},
    prepare(text: string): SqliteStatement {
      const known = prepared.get(text)
      if (known) return known
      const statement = prepare(text)
      // SQL texts do not depend on values, so there are a few hundred; the bound is for whoever changes that.
      if (prepared.size >= 2000) prepared.clear()
      prepared.set(text, statement)
      return statement
    },
  }
  return new Kysely<Schema>({ dialect: new SqliteDialect({ database }) })
}

function guard<Result>(work: () => Result, onTimed?: OnTimed): Result {
  const started = onTimed ? performance.now() : 0
  try {
    return work()
  } catch (error) {
    throw asUnavailable(error)
  } finally {
    onTimed?.('statement', performance.now() - started)
  }
}

type Unit = {
  work: () => Promise<unknown>
  /** Until when it waits for the lock, by the clock of `performance`. */
  deadline: number
  /** Whether it is acknowledged after a sync only. */
  synced: boolean
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/**
 * Units of work on the one connection that writes. Those that arrive together commit together: each runs in a savepoint
 * of its own, so that one that fails takes no other with it, and none is acknowledged before the shared sync.
 */
function createUnits(connection: Sqlite.Database) {
  const begin = connection.prepare('begin immediate')
  const savepoint = connection.prepare('savepoint unit')
  const release = connection.prepare('release unit')
  const rollbackTo = connection.prepare('rollback to unit')
  const commit = connection.prepare('commit')
  const rollback = connection.prepare('rollback')
  const look = connection.prepare<[], { log: number; checkpointed: number }>('pragma wal_checkpoint(noop)')
  const writeBack = connection.prepare('pragma wal_checkpoint(passive)')
  connection.pragma('wal_autocheckpoint = 0')
  const waiting: Unit[] = []
  let running: Promise<void> | undefined
  let syncing = true

  /** Whether the commits from here on wait for the disk. One that does also makes lasting what those before it wrote. */
  function syncCommits(wanted: boolean): void {
    if (wanted === syncing) return
    connection.pragma(`synchronous = ${wanted ? 'FULL' : 'NORMAL'}`)
    syncing = wanted
  }

  /**
   * Writes a long log back into the file, in a turn of its own: left to itself, SQLite does so in the commit, after that has
   * waited for the disk.
   */
  async function checkpoint(): Promise<void> {
    try {
      const { log = 0, checkpointed = 0 } = look.get() ?? {}
      if (log - checkpointed < (syncing ? CHECKPOINT : STAGED_CHECKPOINT)) return
      await nextTurn()
      writeBack.get()
    } catch {
      // What cannot be written back now is in the log, where nothing is lost, and is tried again after the next commit.
    }
  }

  function wake() {
    running ??= drain().finally(() => {
      running = undefined
      if (waiting.length > 0) wake()
    })
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      // One turn of the event loop: requests that came in with the first one get on board.
      await nextTurn()
      const { deadline = 0 } = waiting[0] ?? {}
      const synced = waiting.slice(0, BATCH).some((unit) => unit.synced)
      try {
        // Not to be changed once the transaction has begun.
        syncCommits(synced)
        await takeLock(begin, deadline)
      } catch (error) {
        // Those that came after the first go on waiting for the lock, each as long as it did.
        const told = isBusy(error) ? waiting.filter((unit) => unit.deadline <= deadline).length : BATCH
        for (const unit of waiting.splice(0, told)) unit.reject(asUnavailable(error))
        continue
      }
      // What asks for a sync and came while the lock was waited for is not part of a commit without one.
      const first = synced ? -1 : waiting.findIndex((unit) => unit.synced)
      await runBatch(waiting.splice(0, first < 0 ? BATCH : Math.min(first, BATCH)))
      await checkpoint()
    }
  }

  async function runBatch(batch: Unit[]): Promise<void> {
    const done: { unit: Unit; result: unknown }[] = []
    const rejectDone = (error: unknown) => {
      for (const { unit } of done) unit.reject(asUnavailable(error))
    }
    for (const [index, unit] of batch.entries()) {
      try {
        savepoint.run()
        const result = await unit.work()
        release.run()
        done.push({ unit, result })
      } catch (error) {
        unit.reject(asUnavailable(error))
        // A full disk or an I/O error ends the whole transaction, and with it what the units before this one did.
        if (!connection.inTransaction) {
          rejectDone(error)
          waiting.unshift(...batch.slice(index + 1))
          return
        }
        rollbackTo.run()
        release.run()
      }
    }
    try {
      commit.run()
    } catch (error) {
      if (connection.inTransaction) rollback.run()
      rejectDone(error)
      return
    }
    for (const { unit, result } of done) unit.resolve(result)
  }

  return {
    run<Result>(work: () => Promise<Result>, synced = true): Promise<Result> {
      return new Promise<Result>((resolve, reject) => {
        waiting.push({
          work,
          deadline: performance.now() + LOCK_WAIT,
          synced,
          resolve: resolve as (result: unknown) => void,
          reject,
        })
        wake()
      })
    },
    /** Runs `work` with the write lock held, as a transaction of its own. */
    async alone<Result>(work: () => Promise<Result>): Promise<Result> {
      await this.idle()
      syncCommits(true)
      await takeLock(begin, performance.now() + MIGRATION_WAIT)
      try {
        const result = await work()
        commit.run()
        return result
      } catch (error) {
        if (connection.inTransaction) rollback.run()
        throw error
      }
    },
    async idle(): Promise<void> {
      while (running) await running
    },
  }
}

/** Takes the write lock; while another process has it, waits until `deadline` without holding up this one. */
async function takeLock(begin: Sqlite.Statement, deadline: number): Promise<void> {
  for (;;) {
    try {
      begin.run()
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error
      await sleep(10)
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
}
