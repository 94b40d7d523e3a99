import { type Kysely, sql } from 'kysely'
import { bytes, integer, text } from '../column-types.ts'

/** Answers that are kept for calls which are sent again; counts for limits; what storage is counted by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const string = text(db)
  await db.schema
    .createTable('answer')
    .addColumn('id', string, (c) => c.primaryKey())
    .addColumn('claimed_at', string, (c) => c.notNull())
    .addColumn('sealed', bytes(db))
    .execute()
  await db.schema.createIndex('answer_claimed_at').on('answer').column('claimed_at').execute()

  await db.schema
    .createTable('counter')
    .addColumn('name', string, (c) => c.notNull())
    .addColumn('start', integer, (c) => c.notNull())
    .addColumn('count', integer, (c) => c.notNull())
    .addPrimaryKeyConstraint('counter_primary', ['name', 'start'])
    .execute()

  await db.schema.createIndex('document_organization').on('document').columns(['organization', 'size']).execute()
  await db.schema
    .createIndex('traffic_upload_raw_size')
    .on('traffic_upload')
    .columns(['threat_blocker', 'raw_size'])
    .where(sql.ref('raw_size'), 'is not', null)
    .execute()
}
