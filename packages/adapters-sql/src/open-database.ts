import { resolve } from 'node:path'
import type { Database, OnTimed } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

/**
 * Opens the database that `url` names: `sqlite:PATH` (relative to the working directory; made if it is not there) or
 * `postgres://…`. PostgreSQL is not asked before the first query.
 *
 * @throws Error with one line that says what is wrong; it holds no password.
 */
export function openDatabase(url: string, onTimed?: OnTimed): Database {
  const path = sqlitePathOf(url)
  if (path !== undefined) {
    try {
      return openSqlite(path, onTimed)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`The SQLite file ${path} cannot be opened: ${reason}`, { cause })
    }
  }
  if (/^postgres(?:ql)?:\/\//.test(url)) return openPostgres(url, onTimed)
  throw new Error('A database URL is sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME')
}

/** The file of a SQLite database, absolute; undefined for another kind of database. */
export function sqliteFileOf(url: string): string | undefined {
  const path = sqlitePathOf(url)
  return path === undefined ? undefined : resolve(path)
}

function sqlitePathOf(url: string): string | undefined {
  return url.startsWith('sqlite:') && url.length > 'sqlite:'.length ? url.slice('sqlite:'.length) : undefined
}
