import { type Kysely, sql } from 'kysely'
import { id, idType, integer, text } from '../column-types.ts'

/** Requests counted by five minutes instead of by the hour, what was read of an upload, and the reasons for what was malicious. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const string = text(db)
  await db.schema
    .createTable('traffic_slot')
    .addColumn('threat_blocker', integer, (c) => c.notNull().references('threat_blocker.id'))
    .addColumn('start', integer, (c) => c.notNull())
    .addColumn('total', integer, (c) => c.notNull())
    .addColumn('malicious', integer, (c) => c.notNull())
    .addPrimaryKeyConstraint('traffic_slot_primary', ['threat_blocker', 'start'])
    .execute()
  await sql`
    insert into traffic_slot (threat_blocker, start, total, malicious)
    select threat_blocker, start, total, malicious from traffic_hour
  `.execute(db)
  await db.schema.dropTable('traffic_hour').execute()

  await db.schema.alterTable('traffic_upload').addColumn('from', string).execute()
  await db.schema.alterTable('traffic_upload').addColumn('to', string).execute()
  await db.schema
    .alterTable('traffic_upload')
    .addColumn('format', string, (c) => c.notNull().defaultTo('array'))
    .execute()
  await db.schema
    .alterTable('traffic_upload')
    .addColumn('rejects', string, (c) => c.notNull().defaultTo('[]'))
    .execute()
  await db.schema
    .alterTable('traffic_upload')
    .addColumn('raw_file', integer, (c) => c.references('file.id'))
    .execute()
  await db.schema.alterTable('traffic_upload').addColumn('raw_size', integer).execute()
  // What the sweep of files and the end of their retention look for.
  await db.schema
    .createIndex('traffic_upload_raw')
    .on('traffic_upload')
    .column('raw_file')
    .where(sql.ref('raw_file'), 'is not', null)
    .execute()

  await db.schema
    .createTable('threat')
    .addColumn('id', idType(db), id(db))
    .addColumn('threat_blocker', integer, (c) => c.notNull().references('threat_blocker.id'))
    .addColumn('kind', string, (c) => c.notNull())
    .addColumn('value', string, (c) => c.notNull())
    .addColumn('feed', string, (c) => c.notNull())
    .addColumn('entry', string, (c) => c.notNull())
    .addColumn('verdict', string, (c) => c.notNull())
    .addColumn('snapshot', integer, (c) => c.notNull())
    .addColumn('requests', integer, (c) => c.notNull())
    .addColumn('first_seen', string, (c) => c.notNull())
    .addColumn('last_seen', string, (c) => c.notNull())
    .addUniqueConstraint('threat_unique', ['threat_blocker', 'kind', 'value', 'feed', 'entry', 'verdict'])
    .execute()
  await db.schema.createIndex('threat_last_seen').on('threat').columns(['threat_blocker', 'last_seen', 'id']).execute()
}
