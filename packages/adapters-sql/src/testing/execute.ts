import Sqlite from 'better-sqlite3'
import pg from 'pg'

/** Runs one statement on a database, beside whatever serves it, and gives the rows. */
export async function execute(url: string, statement: string): Promise<Record<string, unknown>[]> {
  if (url.startsWith('sqlite:')) {
    const connection = new Sqlite(url.slice('sqlite:'.length), { timeout: 5000 })
    try {
      const prepared = connection.prepare(statement)
      if (prepared.reader) return prepared.all() as Record<string, unknown>[]
      prepared.run()
      return []
    } finally {
      connection.close()
    }
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
