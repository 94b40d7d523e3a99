import { sql } from 'kysely'
import { openDatabase } from '../open-database.ts'

/** Runs statements on a database behind the back of whoever uses it. */
export async function runStatements(url: string, ...statements: string[]): Promise<void> {
  const database = openDatabase(url)
  for (const statement of statements) await database.unit((db) => sql.raw(statement).execute(db))
  await database.close()
}
