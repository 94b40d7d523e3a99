import { type RawBuilder, sql } from 'kysely'
import { openDatabase } from '../index.ts'

/** What the connections that the service writes on say about when a commit is on the disk. */
export async function syncSettings(url: string): Promise<{ [setting: string]: unknown }> {
  const database = openDatabase(url)
  const ask = (question: RawBuilder<unknown>) =>
    database.unit(async (db) => {
      const { rows } = await question.execute(db)
      return Object.values(rows[0] as object)[0] as unknown
    })
  try {
    return database.kind === 'sqlite'
      ? { journal_mode: await ask(sql`pragma journal_mode`), synchronous: await ask(sql`pragma synchronous`) }
      : { synchronous_commit: await ask(sql`show synchronous_commit`) }
  } finally {
    await database.close()
  }
}
