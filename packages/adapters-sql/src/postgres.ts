import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isUnavailable } from '@security-management/domain'
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely'
import pg from 'pg'
import type { Database, OnTimed } from './database.ts'
import type { Schema } from './schema.ts'
import { timed } from './timed.ts'
import { asUnavailable } from './unavailable.ts'
import { createWatch, inTicks, type Watch } from './watch.ts'

/** Times a unit is run again when PostgreSQL broke it off to resolve a conflict with another one. */
const RETRIES = 5

/** Longest time that a statement may take, in milliseconds; the server itself ends it. */
const STATEMENT_WAIT = 10_000

/** The same where no request waits: for migrations, waiting for that of another process included, and for checks. */
const PATIENCE = 10 * 60 * 1000

/** Opens a PostgreSQL database; connections are made when they are needed. */
export function openPostgres(url: string, onTimed?: OnTimed): Database {
  const watch = createWatch(() => answers(url))
  const db = connect(url, 10, watch, onTimed)
  // Of its own, so that what is committed already does not queue behind what is not begun yet.
  const settling = connect(url, 1, watch)
  async function run<Result>(work: (db: Kysely<Schema>) => Promise<Result>): Promise<Result> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await db.transaction().execute(work)
      } catch (error) {
        if (attempt >= RETRIES || !wasBrokenOff(error)) throw error
        await sleep(2 ** attempt * 5 * (0.5 + Math.random()))
      }
    }
  }
  async function patiently<Result>(work: (db: Kysely<Schema>) => Promise<Result>): Promise<Result> {
    const patient = connect(url, 1, watch, onTimed, PATIENCE)
    try {
      return await patient.connection().execute(work)
    } finally {
      await patient.destroy()
    }
  }
  return {
    kind: 'postgres',
    reader: db,
    unit: (work) => timed(onTimed, 'unit', () => run(work)),
    stage: (work) => timed(onTimed, 'unit', () => run(work)),
    // A commit that waits for the disk takes all commits before it along; this is the least that needs one.
    settle: shared(() => sql`select pg_logical_emit_message(true, 'settle', '')`.execute(settling)),
    exclusively: patiently,
    patiently,
    async close() {
      watch.stop()
      await Promise.all([db.destroy(), settling.destroy()])
    },
  }
}

/** Queries on a pool of at most `max` connections. */
function connect(
  url: string,
  max: number,
  watch: Watch,
  onTimed?: OnTimed,
  statementWait = STATEMENT_WAIT,
): Kysely<Schema> {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: 'security-management',
    connectionTimeoutMillis: 2500,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: statementWait,
    query_timeout: statementWait + 2000,
    idle_in_transaction_session_timeout: 30_000,
    types: { getTypeParser },
  })
  // An idle connection that breaks is replaced by the pool; whoever asks next sees an error if the server is gone.
  pool.on('error', () => {})
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool: watchedPool(pool, watch, onTimed) }) })
}

/** Runs `work` for many calls at once: each gets a run that begins after the call, shared with all calls before that. */
function shared(work: () => Promise<unknown>): () => Promise<unknown> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<unknown> | undefined
  return () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        running = work()
        return running
      })
    return next
  }
}

/** How long the server may take over a new connection and an empty question, in ticks of a quarter of a second. */
const ANSWER_WITHIN = 7

/** Whether the server answers at all: that it has no room for another connection is an answer. */
async function answers(url: string): Promise<boolean> {
  const socket = new Socket()
  const client = new pg.Client({ connectionString: url, stream: () => socket })
  client.on('error', () => {})
  const impatient = inTicks(ANSWER_WITHIN, () => socket.destroy())
  try {
    await client.connect()
    await client.query('select 1')
    await client.end()
    return true
  } catch (error) {
    return error instanceof pg.DatabaseError
  } finally {
    clearInterval(impatient)
    socket.destroy()
  }
}

const INT8 = 20

/** Integers of 64 bits come as numbers: none of ours is greater than 2^53 − 1. */
function getTypeParser(type: number, format?: 'text' | 'binary') {
  return type === INT8 ? Number : pg.types.getTypeParser(type, format as 'text')
}

/** Serialization failure, deadlock. */
function wasBrokenOff(error: unknown): boolean {
  const cause = error instanceof Error && error.cause ? error.cause : error
  return cause instanceof Error && 'code' in cause && (cause.code === '40001' || cause.code === '40P01')
}

/**
 * The pool as Kysely wants it: every statement that has parameters is prepared once a connection, under a name; nobody
 * waits for a server that does not answer; and connections from before it fell silent are not used again.
 */
function watchedPool(pool: pg.Pool, watch: Watch, onTimed: OnTimed | undefined): PostgresPool {
  const names = new Map<string, string>()
  const wrapped = new WeakMap<pg.PoolClient, { wrapper: PostgresPoolClient; silences: number }>()
  function nameOf(text: string): string | undefined {
    const known = names.get(text)
    // SQL texts do not depend on values, so there are a few hundred; the bound is for whoever changes that.
    if (known !== undefined || names.size >= 2000) return known
    const name = `q${names.size}`
    names.set(text, name)
    return name
  }
  function wrap(client: pg.PoolClient): PostgresPoolClient {
    let broken = false
    // Of a connection that breaks while it is used the query fails; without a listener the process would, too.
    client.on('error', () => {
      broken = true
    })
    const wrapper = {
      async query(text: string, values: readonly unknown[] = []) {
        const name = values.length > 0 ? nameOf(text) : undefined
        try {
          const query = { text, values: [...values], ...(name && { name }) }
          return await timed(onTimed, 'statement', () => watch.waitFor(() => client.query(query)))
        } catch (error) {
          const known = asUnavailable(error)
          // Whatever it still waits for, the next one shall not get the answer.
          broken ||= known !== error || isUnavailable(error)
          throw known
        }
      },
      release: (destroy?: boolean) => client.release(destroy || broken),
    } as unknown as PostgresPoolClient
    wrapped.set(client, { wrapper, silences: watch.silences() })
    return wrapper
  }
  async function connect(): Promise<PostgresPoolClient> {
    for (;;) {
      const client = await checkOut()
      const known = wrapped.get(client)
      if (!known) return wrap(client)
      if (known.silences === watch.silences()) return known.wrapper
      client.release(true)
    }
  }
  async function checkOut(): Promise<pg.PoolClient> {
    let givenUp = false
    try {
      return await watch.waitFor(async () => {
        const client = await pool.connect()
        if (givenUp) client.release(true)
        return client
      })
    } catch (error) {
      givenUp = true
      throw asUnavailable(error)
    }
  }
  return { options: pool.options, end: () => pool.end(), connect }
}
