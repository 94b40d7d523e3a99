import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import type { Database } from './database.ts'
import type { Schema } from './schema.ts'
import { asUnavailable } from './unavailable.ts'

/** Times a unit is run again when PostgreSQL broke it off to resolve a conflict with another one. */
const RETRIES = 5

/** Opens a PostgreSQL database; connections are made when they are needed. */
export function openPostgres(url: string): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    application_name: 'security-management',
    connectionTimeoutMillis: 2500,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: 10_000,
    query_timeout: 12_000,
    idle_in_transaction_session_timeout: 30_000,
    types: { getTypeParser },
  })
  // An idle connection that breaks is replaced by the pool; whoever asks next sees an error if the server is gone.
  pool.on('error', () => {})
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: withNamedStatements(pool) }) })
  return {
    kind: 'postgres',
    reader: db,
    async unit(work) {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await db.transaction().execute(work)
        } catch (error) {
          if (attempt >= RETRIES || !wasBrokenOff(error)) throw error
          await sleep(2 ** attempt * 5 * (0.5 + Math.random()))
        }
      }
    },
    exclusively: (work) => db.connection().execute(work),
    close: () => db.destroy(),
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

/** The pool as Kysely wants it, with every statement that has parameters prepared once a connection, under a name. */
function withNamedStatements(pool: pg.Pool): PostgresPool {
  const names = new Map<string, string>()
  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>()
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
    const wrapper = {
      async query(text: string, values: readonly unknown[] = []) {
        const name = values.length > 0 ? nameOf(text) : undefined
        try {
          return await client.query({ text, values: [...values], ...(name && { name }) })
        } catch (error) {
          const known = asUnavailable(error)
          // Whatever it still waits for, the next one shall not get the answer.
          broken ||= known !== error
          throw known
        }
      },
      release: (destroy?: boolean) => client.release(destroy || broken),
    } as unknown as PostgresPoolClient
    wrapped.set(client, wrapper)
    return wrapper
  }
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw asUnavailable(error)
      })
      return wrapped.get(client) ?? wrap(client)
    },
  }
}
