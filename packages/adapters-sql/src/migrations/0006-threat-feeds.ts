import { type Kysely, sql } from 'kysely'
import { integer, text } from '../column-types.ts'

/** Threat feeds. Their snapshots are files as the bytes of documents are, so those tables are called after neither. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const string = text(db)
  await db.schema.alterTable('evidence_file').renameTo('file').execute()
  await db.schema.alterTable('evidence_chunk').renameTo('file_chunk').execute()

  await db.schema
    .createTable('threat_feed')
    .addColumn('name', string, (c) => c.primaryKey())
    .addColumn('kind', string, (c) => c.notNull())
    .addColumn('source', string, (c) => c.notNull())
    .addColumn('created_at', string, (c) => c.notNull())
    .addColumn('expires_at', string)
    .addColumn('etag', string)
    .addColumn('last_modified', string)
    .addColumn('refreshed_at', string, (c) => c.notNull())
    .addColumn('earliest_refresh_at', string)
    .addColumn('next_refresh_at', string, (c) => c.notNull())
    .addColumn('lease_until', string)
    .addColumn('last_error', string)
    .addColumn('unreadable', integer, (c) => c.notNull())
    .addColumn('samples', string, (c) => c.notNull())
    .addColumn('snapshot', integer, (c) => c.notNull())
    .addColumn('file', integer, (c) => c.notNull().references('file.id'))
    .addColumn('size', integer, (c) => c.notNull())
    .addColumn('sha256', string, (c) => c.notNull())
    .addColumn('snapshot_at', string, (c) => c.notNull())
    .addColumn('entries', integer, (c) => c.notNull())
    .addColumn('gained', integer, (c) => c.notNull())
    .execute()
  await db.schema.createIndex('threat_feed_file').on('threat_feed').column('file').execute()

  await db.schema
    .createTable('threat_feed_version')
    .addColumn('version', integer, (c) => c.notNull())
    .execute()
  await sql`insert into threat_feed_version (version) values (0)`.execute(db)
}
