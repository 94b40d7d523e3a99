import { type Kysely, sql } from 'kysely'
import { integer, kindOf } from '../column-types.ts'

/** Requests counted by the hour and by the day as well, so that nobody adds up thousands of slots of five minutes for a chart. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('traffic_sum')
    .addColumn('threat_blocker', integer, (c) => c.notNull().references('threat_blocker.id'))
    .addColumn('seconds', integer, (c) => c.notNull())
    .addColumn('start', integer, (c) => c.notNull())
    .addColumn('total', integer, (c) => c.notNull())
    .addColumn('malicious', integer, (c) => c.notNull())
    .addColumn('found_later', integer, (c) => c.notNull())
    .addPrimaryKeyConstraint('traffic_sum_primary', ['threat_blocker', 'seconds', 'start'])
    .execute()
  // Slots that an older process stores meanwhile would be in no sum.
  if (kindOf(db) === 'postgres') await sql`lock table traffic_slot in share row exclusive mode`.execute(db)
  const { rows } = await sql<{ id: number }>`select id from threat_blocker order by id`.execute(db)
  for (const { id } of rows) {
    for (const seconds of [3600, 86_400]) {
      const length = sql.lit(seconds)
      await sql`
        insert into traffic_sum (threat_blocker, seconds, start, total, malicious, found_later)
        select threat_blocker, ${length}, start - ((start % ${length}) + ${length}) % ${length} as unit,
          sum(total), sum(malicious), sum(found_later)
        from traffic_slot where threat_blocker = ${id} group by threat_blocker, unit
      `.execute(db)
    }
  }
}
