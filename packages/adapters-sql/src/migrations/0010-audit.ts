import { type ChainRow, chainEvents, EMPTY_CHAIN, type SerializedEvent } from '@security-management/domain'
import { type Kysely, sql } from 'kysely'
import { integer, kindOf, text } from '../column-types.ts'
import { insertChain, sha256 } from '../events.ts'
import type { Schema } from '../schema.ts'

/** Rows that are chained at a time. */
const BATCH = 500

/** The audit trail as one chain: what is there is chained in the order in which it was written. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const string = text(db)
  await db.schema.alterTable('event').renameTo('event_unchained').execute()
  await db.schema.dropIndex('event_organization').execute()
  await db.schema
    .createTable('event')
    .addColumn('position', kindOf(db) === 'postgres' ? 'bigint' : 'integer', (c) => c.notNull())
    .addColumn('type', string, (c) => c.notNull())
    // No reference: the trail outlives what it tells of.
    .addColumn('organization', integer)
    .addColumn('record', string, (c) => c.notNull())
    .addColumn('user_id', string)
    .addColumn('token', integer)
    .addColumn('request_id', string)
    .addColumn('datetime', string, (c) => c.notNull())
    .addColumn('changes', string, (c) => c.notNull())
    .addColumn('details', string, (c) => c.notNull())
    .addColumn('hash', string, (c) => c.notNull())
    .addPrimaryKeyConstraint('event_primary', ['position'])
    .execute()
  await db.schema
    .createTable('audit_head')
    .addColumn('position', integer, (c) => c.notNull())
    .addColumn('hash', string, (c) => c.notNull())
    .execute()

  let head = EMPTY_CHAIN
  for (let last = 0; ; ) {
    const { rows } = await sql<SerializedEvent & { id: number }>`
      select id, type, organization, record, user_id, token, datetime, changes, details
      from event_unchained where id > ${last} order by id limit ${BATCH}
    `.execute(db)
    const newest = rows.at(-1)
    if (!newest) break
    const events = rows.map(({ id: _, ...event }) => ({ ...event, request_id: null }))
    const chained: { rows: ChainRow[]; head: typeof head } = chainEvents(sha256, head, events)
    await insertChain(db as Kysely<Schema>, chained.rows)
    head = chained.head
    last = newest.id
  }
  await sql`insert into audit_head (position, hash) values (${head.position}, ${head.hash})`.execute(db)
  await db.schema.dropTable('event_unchained').execute()

  // Each filter of the list finds its rows in the order in which they are listed.
  for (const column of ['user_id', 'type', 'record', 'datetime']) {
    await db.schema.createIndex(`event_${column}`).on('event').columns(['organization', column, 'position']).execute()
  }
  await db.schema.createIndex('event_organization').on('event').columns(['organization', 'position']).execute()
}
