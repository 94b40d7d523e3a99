import { type Kysely, sql } from 'kysely'
import { integer } from '../column-types.ts'

/** Requests counted by the day as well, so that nobody adds up thousands of slots of five minutes to know of a month. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('traffic_day')
    .addColumn('threat_blocker', integer, (c) => c.notNull().references('threat_blocker.id'))
    .addColumn('start', integer, (c) => c.notNull())
    .addColumn('total', integer, (c) => c.notNull())
    .addColumn('malicious', integer, (c) => c.notNull())
    .addColumn('found_later', integer, (c) => c.notNull())
    .addPrimaryKeyConstraint('traffic_day_primary', ['threat_blocker', 'start'])
    .execute()
  await sql`
    insert into traffic_day (threat_blocker, start, total, malicious, found_later)
    select threat_blocker, start - ((start % 86400) + 86400) % 86400 as day, sum(total), sum(malicious), sum(found_later)
    from traffic_slot group by threat_blocker, day
  `.execute(db)
}
