import type { RequestCount, Threat, TrafficCounts, TrafficStore, TrafficUpload } from '@security-management/domain'
import { type Kysely, type Selectable, sql } from 'kysely'
import { numbers, pageOf, rows } from './expressions.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const DAYS = 30

const UPLOAD = [
  'id',
  'file_name',
  'size',
  'sha256',
  'received',
  'from',
  'to',
  'lines',
  'accepted',
  'rejected',
  'malicious',
  'format',
  'rejects',
] as const

const THREAT = [
  'id',
  'kind',
  'value',
  'requests',
  'first_seen',
  'last_seen',
  'feed',
  'entry',
  'snapshot',
  'verdict',
] as const

/** Sums of counts, which both drivers give as numbers. */
const SUMS = [
  sql<number>`cast(sum(total) as bigint)`.as('total'),
  sql<number>`cast(sum(malicious) as bigint)`.as('malicious'),
] as const

/** Start of the unit of `seconds` that a slot lies in, before 1970 too, where `%` is negative. */
function unitOf(seconds: number) {
  const length = sql<number>`cast(${seconds} as bigint)`
  return sql<number>`traffic_slot.start - ((traffic_slot.start % ${length}) + ${length}) % ${length}`
}

// The hours of the day that ends with each blocker's newest one.
const findHours = hot((db, blockers: string) =>
  db
    .selectFrom((is) =>
      is
        .selectFrom('traffic_slot')
        .innerJoin(
          (of) =>
            of
              .selectFrom('traffic_slot as any_slot')
              .select((found) => ['any_slot.threat_blocker', found.fn.max('any_slot.start').as('start')])
              .where('any_slot.threat_blocker', 'in', numbers(db, blockers))
              .groupBy('any_slot.threat_blocker')
              .as('newest'),
          (join) => join.onRef('newest.threat_blocker', '=', 'traffic_slot.threat_blocker'),
        )
        .select([
          'traffic_slot.threat_blocker',
          unitOf(HOUR).as('start'),
          'traffic_slot.total',
          'traffic_slot.malicious',
        ])
        .where(
          'traffic_slot.start',
          '>=',
          sql<number>`newest.start - ((newest.start % ${sql.lit(HOUR)}) + ${sql.lit(HOUR)}) % ${sql.lit(HOUR)} - ${sql.lit(DAY - HOUR)}`,
        )
        .as('hours'),
    )
    .select(['hours.threat_blocker', 'hours.start', ...SUMS])
    .groupBy(['hours.threat_blocker', 'hours.start'])
    .orderBy('hours.threat_blocker')
    .orderBy('hours.start'),
)

// The newest days of each blocker.
const findDays = hot((db, blockers: string) =>
  db
    .with('by_day', (is) =>
      is
        .selectFrom('traffic_slot')
        .select(['threat_blocker', unitOf(DAY).as('start'), 'total', 'malicious'])
        .where('threat_blocker', 'in', numbers(db, blockers)),
    )
    .selectFrom((is) =>
      is
        .selectFrom('by_day')
        .select([
          'threat_blocker',
          'start',
          ...SUMS,
          sql<number>`row_number() over (partition by threat_blocker order by start desc)`.as('age'),
        ])
        .groupBy(['threat_blocker', 'start'])
        .as('days'),
    )
    .select(['days.threat_blocker', 'days.start', 'days.total', 'days.malicious'])
    .where('days.age', '<=', sql.lit(DAYS))
    .orderBy('days.threat_blocker')
    .orderBy('days.start'),
)

const findUnits = hot((db, blockers: string, from: number, to: number, seconds: number) =>
  db
    .selectFrom((is) =>
      is
        .selectFrom('traffic_slot')
        .select([unitOf(seconds).as('start'), 'total', 'malicious'])
        .where('threat_blocker', 'in', numbers(db, blockers))
        .where('start', '>=', from)
        .where('start', '<', to)
        .as('units'),
    )
    .select(['units.start', ...SUMS])
    .groupBy('units.start')
    .orderBy('units.start'),
)

export function sqlTraffic(db: Kysely<Schema>): TrafficStore {
  const uploads = (threatBlocker: number) =>
    db.selectFrom('traffic_upload').select(UPLOAD).where('threat_blocker', '=', threatBlocker)
  return {
    async insertUpload({ rejects, raw, ...upload }) {
      const row = await db
        .insertInto('traffic_upload')
        .values({
          ...upload,
          rejects: JSON.stringify(rejects),
          raw_file: raw?.file ?? null,
          raw_size: raw?.size ?? null,
        })
        .onConflict((conflict) => conflict.columns(['threat_blocker', 'sha256']).doNothing())
        .returning('id')
        .executeTakeFirst()
      return row?.id
    },
    async findUpload(threatBlocker, id) {
      const row = await uploads(threatBlocker).where('id', '=', id).executeTakeFirst()
      return row && toUpload(row)
    },
    async findUploadBySha256(threatBlocker, sha256) {
      const row = await uploads(threatBlocker).where('sha256', '=', sha256).executeTakeFirst()
      return row && toUpload(row)
    },
    async listUploads(threatBlocker, page) {
      return pageOf(uploads(threatBlocker), page, { id: 'id', received: 'received' }, toUpload)
    },
    async findRaw(threatBlocker, id) {
      const row = await db
        .selectFrom('traffic_upload')
        .select(['raw_file', 'raw_size'])
        .where('threat_blocker', '=', threatBlocker)
        .where('id', '=', id)
        .executeTakeFirst()
      if (!row || row.raw_file === null || row.raw_size === null) return undefined
      return { file: row.raw_file, size: row.raw_size }
    },
    async forgetRaw(before) {
      await db
        .updateTable('traffic_upload')
        .set({ raw_file: null, raw_size: null })
        .where('raw_file', 'is not', null)
        .where('received', '<', before)
        .execute()
    },
    async addSlots(threatBlocker, slots) {
      // In one order everywhere, so that two uploads to one blocker wait for each other and do not deadlock.
      const sorted = slots.toSorted((one, other) => one.start - other.start)
      const json = JSON.stringify(sorted.map(({ start, total, malicious }) => [start, total, malicious]))
      const field = (index: number) => sql`cast(item.value ->> ${sql.lit(index)} as bigint)`
      await sql`
        insert into traffic_slot (threat_blocker, start, total, malicious)
        select cast(${threatBlocker} as bigint), ${field(0)}, ${field(1)}, ${field(2)}
        from ${rows(db, json)} where true
        on conflict (threat_blocker, start) do update set
          total = traffic_slot.total + excluded.total, malicious = traffic_slot.malicious + excluded.malicious
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
    async statistics(threatBlockers, from, to, seconds) {
      return (await findUnits(db, JSON.stringify(threatBlockers), from, to, seconds)).map(toCount)
    },
    async addThreats(threatBlocker, threats) {
      // In one order everywhere, see `addSlots`.
      const items = threats
        .map(({ kind, value, feed, entry, verdict, snapshot, requests, first_seen, last_seen }) => ({
          key: JSON.stringify([kind, value, feed, entry, verdict]),
          item: [kind, value, feed, entry, verdict, snapshot, requests, first_seen, last_seen],
        }))
        .sort((one, other) => (one.key < other.key ? -1 : 1))
        .map(({ item }) => item)
      const text = (index: number) => sql`cast(item.value ->> ${sql.lit(index)} as text)`
      const number = (index: number) => sql`cast(item.value ->> ${sql.lit(index)} as bigint)`
      await sql`
        insert into threat (threat_blocker, kind, value, feed, entry, verdict, snapshot, requests, first_seen, last_seen)
        select cast(${threatBlocker} as bigint), ${text(0)}, ${text(1)}, ${text(2)}, ${text(3)}, ${text(4)},
          ${number(5)}, ${number(6)}, ${text(7)}, ${text(8)}
        from ${rows(db, JSON.stringify(items))} where true
        on conflict (threat_blocker, kind, value, feed, entry, verdict) do update set
          requests = threat.requests + excluded.requests,
          snapshot = case when excluded.snapshot > threat.snapshot then excluded.snapshot else threat.snapshot end,
          first_seen = case when excluded.first_seen < threat.first_seen then excluded.first_seen else threat.first_seen end,
          last_seen = case when excluded.last_seen > threat.last_seen then excluded.last_seen else threat.last_seen end
      `.execute(db)
    },
    async listThreats(threatBlocker, { kind, from, to }, page) {
      let query = db.selectFrom('threat').select(THREAT).where('threat_blocker', '=', threatBlocker)
      if (kind !== undefined) query = query.where('kind', '=', kind)
      if (from !== undefined) query = query.where('last_seen', '>=', from)
      if (to !== undefined) query = query.where('first_seen', '<=', to)
      const columns = {
        id: 'id',
        value: 'value',
        requests: 'requests',
        first_seen: 'first_seen',
        last_seen: 'last_seen',
      }
      return pageOf(query, page, columns, (row) => ({ ...row, kind: row.kind as Threat['kind'] }))
    },
  }
}

function toUpload({ rejects, format, ...row }: Pick<Selectable<Schema['traffic_upload']>, (typeof UPLOAD)[number]>) {
  return { ...row, format: format as TrafficUpload['format'], rejects: JSON.parse(rejects) }
}

function toCount({ start, total, malicious }: RequestCount): RequestCount {
  return { start, total, malicious }
}
