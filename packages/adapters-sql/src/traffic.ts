import type { RequestCount, TrafficCounts, TrafficStore, TrafficUpload } from '@security-management/domain'
import { type Kysely, sql } from 'kysely'
import { numbers, pageOf, rows } from './expressions.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const CHART_SPAN = 23 * HOUR
const DAYS = 30

const UPLOAD = ['id', 'file_name', 'size', 'sha256', 'received', 'lines', 'accepted', 'rejected', 'malicious'] as const

// The hours of the day that ends with each blocker's newest one.
const findHours = hot((db, blockers: string) =>
  db
    .selectFrom('traffic_hour')
    .innerJoin(
      (is) =>
        is
          .selectFrom('traffic_hour as any_hour')
          .select((of) => ['any_hour.threat_blocker', of.fn.max('any_hour.start').as('start')])
          .where('any_hour.threat_blocker', 'in', numbers(db, blockers))
          .groupBy('any_hour.threat_blocker')
          .as('newest'),
      (join) => join.onRef('newest.threat_blocker', '=', 'traffic_hour.threat_blocker'),
    )
    .select(['traffic_hour.threat_blocker', 'traffic_hour.start', 'traffic_hour.total', 'traffic_hour.malicious'])
    .where('traffic_hour.start', '>=', sql<number>`newest.start - ${sql.lit(CHART_SPAN)}`)
    .orderBy('traffic_hour.threat_blocker')
    .orderBy('traffic_hour.start'),
)

// The newest days of each blocker.
const findDays = hot((db, blockers: string) =>
  db
    .selectFrom((is) =>
      is
        .selectFrom('traffic_hour')
        .select([
          'threat_blocker',
          'day as start',
          sql<number>`cast(sum(total) as bigint)`.as('total'),
          sql<number>`cast(sum(malicious) as bigint)`.as('malicious'),
          sql<number>`row_number() over (partition by threat_blocker order by day desc)`.as('age'),
        ])
        .where('threat_blocker', 'in', numbers(db, blockers))
        .groupBy(['threat_blocker', 'day'])
        .as('days'),
    )
    .select(['days.threat_blocker', 'days.start', 'days.total', 'days.malicious'])
    .where('days.age', '<=', sql.lit(DAYS))
    .orderBy('days.threat_blocker')
    .orderBy('days.start'),
)

export function sqlTraffic(db: Kysely<Schema>): TrafficStore {
  const uploads = (threatBlocker: number) =>
    db.selectFrom('traffic_upload').select(UPLOAD).where('threat_blocker', '=', threatBlocker)
  return {
    async insertUpload(upload) {
      const row = await db
        .insertInto('traffic_upload')
        .values(upload)
        .onConflict((conflict) => conflict.columns(['threat_blocker', 'sha256']).doNothing())
        .returning('id')
        .executeTakeFirst()
      return row?.id
    },
    async findUpload(threatBlocker, id): Promise<TrafficUpload | undefined> {
      return uploads(threatBlocker).where('id', '=', id).executeTakeFirst()
    },
    async findUploadBySha256(threatBlocker, sha256): Promise<TrafficUpload | undefined> {
      return uploads(threatBlocker).where('sha256', '=', sha256).executeTakeFirst()
    },
    async listUploads(threatBlocker, page) {
      return pageOf(uploads(threatBlocker), page, { id: 'id', received: 'received' }, (row) => row)
    },
    async addHours(threatBlocker, hours) {
      // In one order everywhere, so that two uploads to one blocker wait for each other and do not deadlock.
      const sorted = [...hours].sort((one, other) => one.start - other.start)
      const json = JSON.stringify(
        sorted.map(({ start, total, malicious }) => [start, Math.floor(start / DAY) * DAY, total, malicious]),
      )
      const field = (index: number) => sql`cast(item.value ->> ${sql.lit(index)} as bigint)`
      await sql`
        insert into traffic_hour (threat_blocker, start, day, total, malicious)
        select cast(${threatBlocker} as bigint), ${field(0)}, ${field(1)}, ${field(2)}, ${field(3)}
        from ${rows(db, json)} where true
        on conflict (threat_blocker, start) do update set
          total = traffic_hour.total + excluded.total, malicious = traffic_hour.malicious + excluded.malicious
      `.execute(db)
    },
    async counts(threatBlockers) {
      const json = JSON.stringify(threatBlockers)
      const counts = new Map<number, TrafficCounts>()
      const countsOf = (threatBlocker: number) => {
        const known = counts.get(threatBlocker) ?? { hours: [], days: [] }
        counts.set(threatBlocker, known)
        return known
      }
      for (const row of await findHours(db, json)) countsOf(row.threat_blocker).hours.push(toCount(row))
      for (const row of await findDays(db, json)) countsOf(row.threat_blocker).days.push(toCount(row))
      return counts
    },
  }
}

function toCount({ start, total, malicious }: RequestCount): RequestCount {
  return { start, total, malicious }
}
