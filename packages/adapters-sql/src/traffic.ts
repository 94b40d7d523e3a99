import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type FoundLater,
  type NewThreat,
  type RequestCount,
  SLOT,
  type SlotCount,
  type Threat,
  type ThreatBlocker,
  type TrafficCounts,
  type TrafficStore,
  type TrafficUpload,
} from '@security-management/domain'
import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely'
import { kindOf } from './column-types.ts'
import { numbers, pageOf, rows } from './expressions.ts'
import { holdFile } from './files.ts'
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
  'found_later',
  'format',
  'rejects',
] as const

const THREAT = [
  'id',
  'kind',
  'value',
  'requests',
  'found_later',
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
  sql<number>`cast(sum(found_later) as bigint)`.as('found_later'),
] as const

/** Start of the unit of `seconds` that a time lies in, before 1970 too, where `%` is negative. */
export function unitOf(seconds: number, column: string): RawBuilder<number> {
  const [start, length] = [sql.ref<number>(column), sql<number>`cast(${seconds} as bigint)`]
  return sql<number>`${start} - ((${start} % ${length}) + ${length}) % ${length}`
}

/** The newest unit of a blocker that has traffic, of those before `end` where that is given; null for none. */
function newest(seconds: number, blocker: RawBuilder<unknown>, end?: RawBuilder<unknown>): RawBuilder<number | null> {
  const early = end ? sql`and start < ${end}` : sql``
  return sql`(
    select max(start) from traffic_sum
    where traffic_sum.threat_blocker = ${blocker} and traffic_sum.seconds = ${sql.lit(seconds)} ${early}
  )`
}

/**
 * The newest `count` units of `seconds`, an hour or a day, that have traffic, of each blocker of a JSON array. Each is found
 * by a step back from the one after it, so that of all that was ever counted only what is shown is read. The look-ups stand
 * by themselves: joined, PostgreSQL may read the whole table instead, and SQLite sorts all units to group them.
 */
function newestUnits(db: Kysely<Schema>, blockers: string, seconds: number, count: number) {
  const countOf = (field: 'total' | 'malicious') =>
    sql<number>`(
      select ${sql.ref(field)} from traffic_sum where traffic_sum.threat_blocker = unit.threat_blocker
        and traffic_sum.seconds = ${sql.lit(seconds)} and traffic_sum.start = unit.start
    )`.as(field)
  return db
    .withRecursive('unit(threat_blocker, start, newest, age)', (is) =>
      is
        .selectFrom((of) =>
          of
            .selectFrom(sql<{ value: number }>`${numbers(db, blockers)}`.as<'asked'>('asked'))
            .distinct()
            .select(['asked.value as threat_blocker', newest(seconds, sql.ref('asked.value')).as('start')])
            .as('first'),
        )
        .select(['first.threat_blocker', 'first.start', 'first.start as newest', sql<number>`1`.as('age')])
        .unionAll(
          is
            .selectFrom('unit')
            .select([
              'unit.threat_blocker',
              newest(seconds, sql.ref('unit.threat_blocker'), sql.ref('unit.start')).as('start'),
              'unit.newest',
              sql<number>`unit.age + 1`.as('age'),
            ])
            .where('unit.start', 'is not', null)
            .where('unit.age', '<', sql.lit(count)),
        ),
    )
    .selectFrom('unit')
    .select(['unit.threat_blocker', sql<number>`unit.start`.as('start'), countOf('total'), countOf('malicious')])
    .where('unit.start', 'is not', null)
    .orderBy('unit.threat_blocker')
    .orderBy('unit.start')
}

// The hours of the day that ends with each blocker's newest one.
const findHours = hot((db, blockers: string) =>
  newestUnits(db, blockers, HOUR, DAY / HOUR).where(
    'unit.start',
    '>=',
    sql<number>`unit.newest - ${sql.lit(DAY - HOUR)}`,
  ),
)

// The newest days of each blocker.
const findDays = hot((db, blockers: string) => newestUnits(db, blockers, DAY, DAYS))

const findSums = hot((db, blockers: string, from: number, to: number, seconds: number) =>
  db
    .selectFrom('traffic_sum')
    .select(['start', ...SUMS])
    .where('threat_blocker', 'in', numbers(db, blockers))
    .where('seconds', '=', seconds)
    .where('start', '>=', from)
    .where('start', '<', to)
    .groupBy('start'),
)

const findUnits = hot((db, blockers: string, from: number, to: number, seconds: number) =>
  db
    .selectFrom((is) =>
      is
        .selectFrom('traffic_slot')
        .select([unitOf(seconds, 'traffic_slot.start').as('start'), 'total', 'malicious', 'found_later'])
        .where('threat_blocker', 'in', numbers(db, blockers))
        .where('start', '>=', from)
        .where('start', '<', to)
        .as('units'),
    )
    .select(['units.start', ...SUMS])
    .groupBy('units.start'),
)

/** Uploads of active blockers that were judged by feeds before this version, and can be judged again. */
function outdated(db: Kysely<Schema>, version: number, since: string) {
  return db
    .selectFrom('traffic_upload')
    .innerJoin('threat_blocker', 'threat_blocker.id', 'traffic_upload.threat_blocker')
    .innerJoin('organization', 'organization.id', 'threat_blocker.organization')
    .where('traffic_upload.raw_file', 'is not', null)
    .where('traffic_upload.judged_version', '<', version)
    .where('traffic_upload.received', '>=', since)
    .where('threat_blocker.removed_at', 'is', null)
    .where('organization.removed_at', 'is', null)
}

/** Active organizations with finds that nobody was told of, and no upload left to judge. */
function untoldOrganizations(db: Kysely<Schema>, version: number, since: string) {
  return db
    .selectFrom('traffic_upload as found')
    .innerJoin('threat_blocker as finder', 'finder.id', 'found.threat_blocker')
    .innerJoin('organization', 'organization.id', 'finder.organization')
    .select('organization.id as organization')
    .where('found.untold', '>', sql.lit(0))
    .where('organization.removed_at', 'is', null)
    .where(({ not, exists }) =>
      not(
        exists(
          outdated(db, version, since)
            .select('traffic_upload.id')
            .where('threat_blocker.organization', '=', sql.ref<number>('finder.organization')),
        ),
      ),
    )
}

const findBacklog = hot((db, version: number, since: string, now: string) =>
  db.selectNoFrom(({ case: when, or, exists }) =>
    when()
      .when(
        or([
          exists(
            outdated(db, version, since)
              .select('traffic_upload.id')
              .where((is) =>
                is.or([is('traffic_upload.lease_until', 'is', null), is('traffic_upload.lease_until', '<=', now)]),
              ),
          ),
          exists(untoldOrganizations(db, version, since)),
        ]),
      )
      .then(sql.lit(1))
      .else(sql.lit(0))
      .end()
      .as('has_backlog'),
  ),
)

const findRawSize = hot((db, organization: number) =>
  db
    .selectFrom('traffic_upload')
    .innerJoin('threat_blocker', 'threat_blocker.id', 'traffic_upload.threat_blocker')
    .select(sql<number>`cast(coalesce(sum(traffic_upload.raw_size), 0) as bigint)`.as('size'))
    .where('threat_blocker.organization', '=', organization)
    .where('traffic_upload.raw_size', 'is not', null),
)

export function sqlTraffic(db: Kysely<Schema>): TrafficStore {
  const uploads = (threatBlocker: number) =>
    db.selectFrom('traffic_upload').select(UPLOAD).where('threat_blocker', '=', threatBlocker)
  return {
    async insertUpload({ rejects, raw, judgement, ...upload }) {
      if (raw) await holdFile(db, raw.file)
      const row = await db
        .insertInto('traffic_upload')
        .values({
          ...upload,
          rejects: JSON.stringify(rejects),
          raw_file: raw?.file ?? null,
          raw_size: raw?.size ?? null,
          judged_version: judgement.version,
          malicious_lines: judgement.malicious_lines,
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
    async rawSizeOf(organization) {
      const [row] = await findRawSize(db, organization)
      return row?.size ?? 0
    },
    async forgetRaw(before) {
      await db
        .updateTable('traffic_upload')
        .set({ raw_file: null, raw_size: null, malicious_lines: null })
        .where('raw_file', 'is not', null)
        .where('received', '<', before)
        .execute()
    },
    async hasOutdated(version, since, now) {
      const [row] = await findBacklog(db, version, since, now)
      return row?.has_backlog === 1
    },
    async leaseOutdated(version, since, now, leaseUntil) {
      let due = outdated(db, version, since)
        .select('traffic_upload.id')
        .where((is) =>
          is.or([is('traffic_upload.lease_until', 'is', null), is('traffic_upload.lease_until', '<=', now)]),
        )
        .orderBy('traffic_upload.received', 'desc')
        .orderBy('traffic_upload.id', 'desc')
        .limit(1)
      // Another process that leases at the same time is passed by, not waited for.
      if (kindOf(db) === 'postgres') due = due.forUpdate('traffic_upload').skipLocked()
      const row = await db
        .updateTable('traffic_upload')
        .set({ lease_until: leaseUntil })
        .where('id', 'in', due)
        .returning(['id', 'threat_blocker', 'raw_file', 'raw_size', 'judged_version', 'malicious_lines'])
        .executeTakeFirst()
      if (!row) return undefined
      const { services } = await db
        .selectFrom('threat_blocker')
        .select('services')
        .where('id', '=', row.threat_blocker)
        .executeTakeFirstOrThrow()
      return {
        id: row.id,
        threat_blocker: row.threat_blocker,
        services: JSON.parse(services) as ThreatBlocker['services'],
        raw: { file: row.raw_file ?? 0, size: row.raw_size ?? 0 },
        judgement: { version: row.judged_version ?? 0, malicious_lines: row.malicious_lines ?? new Uint8Array() },
      }
    },
    async finishJudging(upload, leaseUntil, { version, malicious_lines }, found) {
      const { numUpdatedRows } = await db
        .updateTable('traffic_upload')
        .set({
          lease_until: null,
          judged_version: version,
          malicious_lines,
          malicious: sql`malicious + ${found}`,
          found_later: sql`found_later + ${found}`,
          untold: sql`untold + ${found}`,
        })
        .where('id', '=', upload)
        .where('lease_until', '=', leaseUntil) // one statement, so that a lost lease changes nothing
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    async takeFoundLater(version, since) {
      const first = await untoldOrganizations(db, version, since).orderBy('organization.id').limit(1).executeTakeFirst()
      if (!first) return undefined
      let untold = db
        .selectFrom('traffic_upload')
        .select(['id', 'untold'])
        .where('untold', '>', 0)
        .where('threat_blocker', 'in', (is) =>
          is.selectFrom('threat_blocker').select('id').where('organization', '=', first.organization),
        )
        .orderBy('id')
      // Whoever takes them at the same time comes second, and finds none.
      if (kindOf(db) === 'postgres') untold = untold.forUpdate()
      const found = await untold.execute()
      if (found.length === 0) return undefined
      const ids = JSON.stringify(found.map(({ id }) => id))
      await db.updateTable('traffic_upload').set({ untold: 0 }).where('id', 'in', numbers(db, ids)).execute()
      const requests = found.reduce((sum, row) => sum + row.untold, 0)
      return { organization: first.organization, uploads: found.length, requests } satisfies FoundLater
    },
    async addSlots(threatBlocker, slots) {
      const sums = new Map(SUMMED.map((seconds) => [seconds, new Map<number, RequestCount>()]))
      await inParts(slots, byStart, async (part) => {
        await upsertSlots(db, threatBlocker, part)
        for (const [seconds, units] of sums) {
          for (const slot of part) addTo(units, Math.floor(slot.start / seconds) * seconds, slot)
        }
      })
      for (const [seconds, units] of sums) {
        await inParts(units.values(), byStart, (part) => upsertSums(db, threatBlocker, seconds, part))
      }
    },
    async counts(threatBlockers) {
      const counts = new Map<number, TrafficCounts>()
      const countsOf = (threatBlocker: number) => {
        const known = counts.get(threatBlocker) ?? { hours: [], days: [] }
        counts.set(threatBlocker, known)
        return known
      }
      for await (const part of partsOf([...new Set(threatBlockers)], BLOCKERS)) {
        const json = JSON.stringify(part)
        for (const row of await findHours(db, json)) countsOf(row.threat_blocker).hours.push(toCount(row))
        for (const row of await findDays(db, json)) countsOf(row.threat_blocker).days.push(toCount(row))
      }
      return counts
    },
    async statistics(threatBlockers, from, to, seconds) {
      const [find, length] = SUMMED.includes(seconds) ? [findSums, seconds] : [findUnits, SLOT]
      const units = new Map<number, RequestCount>()
      for await (const part of partsOf(threatBlockers, Math.floor((ADDED * length) / (to - from)))) {
        for (const row of await find(db, JSON.stringify(part), from, to, seconds)) addTo(units, row.start, row)
      }
      return [...units.values()].sort(byStart)
    },
    async addThreats(threatBlocker, threats) {
      await inParts(threats, byKey, (part) => upsertThreats(db, threatBlocker, part))
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

/** Rows that are stored with one statement: a few milliseconds on SQLite, where nothing else runs meanwhile. */
const PART = 250

/** Threat blockers whose charts are read with one statement, for the same reason. */
const BLOCKERS = 50

/** Counts that one statement adds up, or more where one threat blocker has more in the period. */
const ADDED = 50_000

/** Lengths of the units that are counted beside the slots, in seconds: an hour and a day. */
export const SUMMED: readonly number[] = [HOUR, DAY]

/** Some of them at a time, at least one, with a turn of the event loop between. */
async function* partsOf(threatBlockers: readonly number[], size: number): AsyncGenerator<number[]> {
  const count = Math.max(1, size)
  for (let index = 0; index < threatBlockers.length; index += count) {
    if (index > 0) await nextTurn()
    yield threatBlockers.slice(index, index + count)
  }
}

/**
 * Stores many rows, a part at a time, with a turn of the event loop between, so that they hold up nothing else. Each part
 * is sorted: in one order everywhere, two uploads to one blocker wait for each other and do not deadlock.
 */
async function inParts<Row>(
  rows: Iterable<Row>,
  order: (one: Row, other: Row) => number,
  store: (part: Row[]) => Promise<void>,
): Promise<void> {
  let part: Row[] = []
  for (const row of rows) {
    part.push(row)
    if (part.length < PART) continue
    await nextTurn()
    await store(part.sort(order))
    part = []
  }
  if (part.length > 0) await store(part.sort(order))
}

async function upsertSlots(db: Kysely<Schema>, threatBlocker: number, slots: RequestCount[]): Promise<void> {
  await sql`
    insert into traffic_slot as known (threat_blocker, start, total, malicious, found_later)
    select cast(${threatBlocker} as bigint), ${countsOf(db, slots)} where true
    on conflict (threat_blocker, start) do update set ${ADD_TO_KNOWN}
  `.execute(db)
}

async function upsertSums(db: Kysely<Schema>, threatBlocker: number, seconds: number, sums: RequestCount[]) {
  await sql`
    insert into traffic_sum as known (threat_blocker, seconds, start, total, malicious, found_later)
    select cast(${threatBlocker} as bigint), cast(${seconds} as bigint), ${countsOf(db, sums)} where true
    on conflict (threat_blocker, seconds, start) do update set ${ADD_TO_KNOWN}
  `.execute(db)
}

/** Counts the hour and the day of a threat blocker that this time lies in, which are not counted yet, from their slots. */
export async function sumUp(db: Kysely<Schema>, threatBlocker: number, time: number): Promise<void> {
  for (const seconds of SUMMED) {
    const start = Math.floor(time / seconds) * seconds
    await sql`
      insert into traffic_sum (threat_blocker, seconds, start, total, malicious, found_later)
      select threat_blocker, cast(${seconds} as bigint), cast(${start} as bigint),
        sum(total), sum(malicious), sum(found_later)
      from traffic_slot where threat_blocker = ${threatBlocker} and start >= ${start} and start < ${start + seconds}
      group by threat_blocker
    `.execute(db)
  }
}

const ADD_TO_KNOWN = sql`
  total = known.total + excluded.total,
  malicious = known.malicious + excluded.malicious,
  found_later = known.found_later + excluded.found_later
`

/** Columns of counts, and where they come from. */
function countsOf(db: Kysely<Schema>, counts: RequestCount[]): RawBuilder<unknown> {
  const items = counts.map(({ start, total, malicious, found_later }) => [start, total, malicious, found_later])
  const field = (index: number) => sql`cast(item.value ->> ${sql.lit(index)} as bigint)`
  return sql`${field(0)}, ${field(1)}, ${field(2)}, ${field(3)} from ${rows(db, JSON.stringify(items))}`
}

/** Adds a count to that of the unit which begins at `start`. */
function addTo(units: Map<number, RequestCount>, start: number, { total, malicious, found_later }: RequestCount): void {
  const known = units.get(start) ?? { start, total: 0, malicious: 0, found_later: 0 }
  known.total += total
  known.malicious += malicious
  known.found_later += found_later
  units.set(start, known)
}

function byStart(one: RequestCount, other: RequestCount): number {
  return one.start - other.start
}

function byKey(one: NewThreat, other: NewThreat): number {
  for (const field of ['kind', 'value', 'feed', 'entry', 'verdict'] as const) {
    if (one[field] !== other[field]) return one[field] < other[field] ? -1 : 1
  }
  return 0
}

async function upsertThreats(db: Kysely<Schema>, threatBlocker: number, threats: NewThreat[]): Promise<void> {
  const items = threats.map(
    ({ kind, value, feed, entry, verdict, snapshot, requests, found_later, first_seen, last_seen }) =>
      [kind, value, feed, entry, verdict, snapshot, requests, found_later, first_seen, last_seen] as const,
  )
  const text = (index: number) => sql`cast(item.value ->> ${sql.lit(index)} as text)`
  const number = (index: number) => sql`cast(item.value ->> ${sql.lit(index)} as bigint)`
  await sql`
    insert into threat
      (threat_blocker, kind, value, feed, entry, verdict, snapshot, requests, found_later, first_seen, last_seen)
    select cast(${threatBlocker} as bigint), ${text(0)}, ${text(1)}, ${text(2)}, ${text(3)}, ${text(4)},
      ${number(5)}, ${number(6)}, ${number(7)}, ${text(8)}, ${text(9)}
    from ${rows(db, JSON.stringify(items))} where true
    on conflict (threat_blocker, kind, value, feed, entry, verdict) do update set
      requests = threat.requests + excluded.requests,
      found_later = threat.found_later + excluded.found_later,
      snapshot = case when excluded.snapshot > threat.snapshot then excluded.snapshot else threat.snapshot end,
      first_seen = case when excluded.first_seen < threat.first_seen then excluded.first_seen else threat.first_seen end,
      last_seen = case when excluded.last_seen > threat.last_seen then excluded.last_seen else threat.last_seen end
  `.execute(db)
}

function toUpload({ rejects, format, ...row }: Pick<Selectable<Schema['traffic_upload']>, (typeof UPLOAD)[number]>) {
  return { ...row, format: format as TrafficUpload['format'], rejects: JSON.parse(rejects) }
}

function toCount({ start, total, malicious }: SlotCount): SlotCount {
  return { start, total, malicious }
}
