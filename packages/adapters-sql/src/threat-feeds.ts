import type { FeedEdit, ThreatFeed, ThreatFeedStore } from '@security-management/domain'
import { type Kysely, type Selectable, sql } from 'kysely'
import { kindOf } from './column-types.ts'
import { holdFile } from './files.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

/** A lease puts off what is due. */
const DUE = sql<string>`case when lease_until > next_refresh_at then lease_until else next_refresh_at end`

const findVersion = hot((db) => db.selectFrom('threat_feed_version').select(['version', 'gained_version']))
const findNextDue = hot((db) => db.selectFrom('threat_feed').select(sql<string | null>`min(${DUE})`.as('due')))

export function sqlThreatFeeds(db: Kysely<Schema>): ThreatFeedStore {
  /** @param gains whether there are entries now that speak against somebody, and did not before. */
  async function countChange(gains: boolean): Promise<void> {
    const next = sql<number>`version + 1`
    await db
      .updateTable('threat_feed_version')
      .set({ version: next, ...(gains && { gained_version: next }) })
      .execute()
  }
  return {
    async insert({ samples, snapshot, ...feed }) {
      await holdFile(db, snapshot.file)
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('threat_feed')
        .values({ ...feed, samples: JSON.stringify(samples), ...columnsOf(snapshot) })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .executeTakeFirstOrThrow()
      if (!numInsertedOrUpdatedRows) return false
      await countChange(isGain(feed.kind, snapshot))
      return true
    },
    async find(name) {
      const row = await db.selectFrom('threat_feed').selectAll().where('name', '=', name).executeTakeFirst()
      return row && toThreatFeed(row)
    },
    async list() {
      const rows = await db.selectFrom('threat_feed').selectAll().orderBy('name').execute()
      return rows.map(toThreatFeed)
    },
    async version() {
      const [row] = await findVersion(db)
      return row?.version ?? 0
    },
    async gainedVersion() {
      const [row] = await findVersion(db)
      return row?.gained_version ?? 0
    },
    async nextDue() {
      const [row] = await findNextDue(db)
      return row?.due ?? undefined
    },
    async leaseDue(now, leaseUntil) {
      let due = db.selectFrom('threat_feed').select('name').where(DUE, '<=', now).orderBy(DUE).orderBy('name').limit(1)
      // Another process that leases at the same time is passed by, not waited for.
      if (kindOf(db) === 'postgres') due = due.forUpdate().skipLocked()
      const row = await db
        .updateTable('threat_feed')
        .set({ lease_until: leaseUntil })
        .where('name', 'in', due)
        .returningAll()
        .executeTakeFirst()
      return row && toThreatFeed(row)
    },
    async lease(name, now, leaseUntil) {
      const row = await db
        .updateTable('threat_feed')
        .set({ lease_until: leaseUntil })
        .where('name', '=', name)
        .where((is) => is.or([is('lease_until', 'is', null), is('lease_until', '<=', now)]))
        .returningAll()
        .executeTakeFirst()
      return row && toThreatFeed(row)
    },
    async finish(name, leaseUntil, edit) {
      if (edit.snapshot) await holdFile(db, edit.snapshot.file)
      const edited = await db
        .updateTable('threat_feed')
        .set({ lease_until: null, ...editedColumns(edit) })
        .where('name', '=', name)
        .where('lease_until', '=', leaseUntil) // one statement, so that a lost lease changes nothing
        .returning('kind')
        .executeTakeFirst()
      if (!edited) return false
      if (edit.snapshot) await countChange(isGain(edited.kind, edit.snapshot))
      return true
    },
    async remove(name) {
      const row = await db.deleteFrom('threat_feed').where('name', '=', name).returningAll().executeTakeFirst()
      if (!row) return undefined
      await countChange(false)
      return toThreatFeed(row)
    },
  }
}

function isGain(kind: string, { gained }: ThreatFeed['snapshot']): boolean {
  return (kind === 'ip' || kind === 'domain') && gained > 0
}

function columnsOf({ number, created_at, ...snapshot }: ThreatFeed['snapshot']) {
  return { ...snapshot, snapshot: number, snapshot_at: created_at }
}

function editedColumns({ samples, snapshot, ...plain }: FeedEdit) {
  return { ...plain, ...(samples && { samples: JSON.stringify(samples) }), ...(snapshot && columnsOf(snapshot)) }
}

function toThreatFeed({
  lease_until: _,
  snapshot,
  snapshot_at,
  file,
  size,
  sha256,
  entries,
  gained,
  ...row
}: Selectable<Schema['threat_feed']>): ThreatFeed {
  return {
    ...row,
    kind: row.kind as ThreatFeed['kind'],
    samples: JSON.parse(row.samples),
    snapshot: { number: snapshot, created_at: snapshot_at, file, size, sha256, entries, gained },
  }
}
