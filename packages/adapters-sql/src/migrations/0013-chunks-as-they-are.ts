import { type Kysely, sql } from 'kysely'
import { kindOf } from '../column-types.ts'

/**
 * PostgreSQL tries to compress what is large, row by row: of traffic, which is compressed, and of most documents, which are
 * too, that is work for nothing, and of text it costs twice the time to read and to write. Chunks that are there stay as
 * they are.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (kindOf(db) === 'sqlite') return
  await sql`alter table file_chunk alter column bytes set storage external`.execute(db)
}
