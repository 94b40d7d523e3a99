import { type Kysely, sql } from 'kysely'
import { bytes, integer, text } from '../column-types.ts'

/** What it takes to judge uploads again, by feeds that came later, and to count what is found then. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const string = text(db)
  for (const table of ['traffic_slot', 'threat', 'traffic_upload']) {
    await db.schema
      .alterTable(table)
      .addColumn('found_later', integer, (c) => c.notNull().defaultTo(0))
      .execute()
  }
  await db.schema
    .alterTable('traffic_upload')
    .addColumn('untold', integer, (c) => c.notNull().defaultTo(0))
    .execute()
  await db.schema.alterTable('traffic_upload').addColumn('lease_until', string).execute()
  // Of an upload from before it is not known which lines were malicious, so it is never judged again.
  await db.schema.alterTable('traffic_upload').addColumn('judged_version', integer).execute()
  await db.schema.alterTable('traffic_upload').addColumn('malicious_lines', bytes(db)).execute()
  await db.schema
    .createIndex('traffic_upload_judged')
    .on('traffic_upload')
    .columns(['judged_version', 'received'])
    .where(sql.ref('raw_file'), 'is not', null)
    .execute()
  await db.schema
    .createIndex('traffic_upload_untold')
    .on('traffic_upload')
    .column('threat_blocker')
    .where(sql.ref('untold'), '>', sql.lit(0))
    .execute()

  await db.schema
    .alterTable('threat_feed_version')
    .addColumn('gained_version', integer, (c) => c.notNull().defaultTo(0))
    .execute()
}
