import type { Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

/**
 * Opens the database that `url` names: `sqlite:PATH` (relative to the working directory; made if it is not there) or
 * `postgres://…`. PostgreSQL is not asked before the first query.
 *
 * @throws Error with one line that says what is wrong; it holds no password.
 */
export function openDatabase(url: string): Database {
  if (url.startsWith('sqlite:') && url.length > 'sqlite:'.length) {
    const path = url.slice('sqlite:'.length)
    try {
      return openSqlite(path)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`The SQLite file ${path} cannot be opened: ${reason}`, { cause })
    }
  }
  if (/^postgres(?:ql)?:\/\//.test(url)) return openPostgres(url)
  throw new Error('A database URL is sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME')
}
