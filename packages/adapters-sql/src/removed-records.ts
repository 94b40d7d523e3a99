import type { RemovableKind, RemovedRecord, RemovedRecordStore } from '@security-management/domain'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { kindOf } from './column-types.ts'
import type { Schema } from './schema.ts'
import { sumUp } from './traffic.ts'

/** For each kind, whose table is called as the kind, the columns of what an operator is shown of it. */
const SHOWN: Record<RemovableKind, { organization: string; record: string; name: string }> = {
  organization: { organization: 'id', record: 'id', name: 'name' },
  member: { organization: 'organization', record: 'user', name: 'email' },
  threat_blocker: { organization: 'organization', record: 'id', name: 'device_id' },
  vpn_profile: { organization: 'organization', record: 'id', name: 'email' },
  security_framework: { organization: 'organization', record: 'id', name: 'title' },
}

/** What can belong to an organization and has parts of its own. */
const INSIDE = ['member', 'threat_blocker', 'vpn_profile', 'security_framework'] as const

export function sqlRemovedRecords(db: Kysely<Schema>): RemovedRecordStore {
  async function select(kind: RemovableKind, where: RawBuilder<unknown>, limit: number): Promise<RemovedRecord[]> {
    const { organization, record, name } = SHOWN[kind]
    const from = kind === 'member' ? sql`member inner join "user" on "user".id = member."user"` : sql.table(kind)
    const of = (column: string) => sql.ref(column === 'email' && kind === 'member' ? 'user.email' : `${kind}.${column}`)
    const { rows } = await sql<Omit<RemovedRecord, 'kind'>>`
      select ${of('id')} as id, ${of(organization)} as organization, cast(${of(record)} as text) as record,
        ${of(name)} as name, ${of('removed_at')} as removed_at
      from ${from} where ${of('removed_at')} is not null and ${where} order by ${of('id')} limit ${limit}
    `.execute(db)
    return rows.map((row) => ({ kind, ...row }))
  }
  return {
    list(kind, { after, limit, before }) {
      const isOld = before === undefined ? sql`true` : sql`${sql.ref(`${kind}.removed_at`)} < ${before}`
      return select(kind, sql`${sql.ref(`${kind}.id`)} > ${after} and ${isOld}`, limit)
    },
    async find(kind, id) {
      const [record] = await select(kind, sql`${sql.ref(`${kind}.id`)} = ${id}`, 1)
      return record
    },
    async restore(kind, id) {
      const { numAffectedRows = 0n } = await sql`
        update ${sql.table(kind)} set removed_at = null where id = ${id} and removed_at is not null
      `.execute(db)
      return numAffectedRows > 0n
    },
    async purge(kind, id, before, limit) {
      // Locked, so that it is not restored while a part of it goes.
      const lock = kindOf(db) === 'postgres' ? sql`for update` : sql``
      const { rows } = await sql`
        select id from ${sql.table(kind)} where id = ${id} and removed_at < ${before} ${lock}
      `.execute(db)
      if (rows.length === 0) return undefined
      const { purge, counts, files } = eraser(db, limit)
      const isDone = await purge[kind](id)
      return { isDone, counts: Object.fromEntries(counts), files }
    },
  }
}

/** Erases rows, at most `limit` in all, those that refer to others first; each function says whether all are gone. */
function eraser(db: Kysely<Schema>, limit: number) {
  let left = limit
  const counts = new Map<string, number>()
  const files: number[] = []

  /** @param key what tells the rows that belong apart. @param file the column that names a file, if one does. */
  async function erase(table: string, belongs: RawBuilder<unknown>, key = 'id', file?: string): Promise<boolean> {
    const { rows } = await sql<{ file: number | null }>`
      delete from ${sql.table(table)} where ${belongs} and ${sql.ref(key)} in (
        select ${sql.ref(key)} from ${sql.table(table)} where ${belongs} order by ${sql.ref(key)} limit ${left}
      ) returning ${file === undefined ? sql`null` : sql.ref(file)} as file
    `.execute(db)
    for (const row of rows) if (row.file !== null) files.push(row.file)
    if (rows.length > 0) counts.set(table, (counts.get(table) ?? 0) + rows.length)
    left -= rows.length
    return left > 0
  }

  /** The slots of a threat blocker, oldest first, with the hours and days that they are summed up in. */
  async function eraseSlots(id: number): Promise<boolean> {
    const areGone = await erase('traffic_slot', sql`threat_blocker = ${id}`, 'start')
    const { rows } = await sql<{ oldest: number | null }>`
      select min(start) as oldest from traffic_slot where threat_blocker = ${id}
    `.execute(db)
    const oldest = rows[0]?.oldest ?? null
    const isBegun = oldest === null ? sql`true` : sql`start <= ${oldest}`
    await sql`delete from traffic_sum where threat_blocker = ${id} and ${isBegun}`.execute(db)
    // Whoever is restored in the middle of it keeps sums of the slots that are left.
    if (oldest !== null) await sumUp(db, id, oldest)
    return areGone
  }

  /** The record itself: one row, for which there is room when nothing hangs on it any more. */
  async function eraseRecord(kind: RemovableKind, id: number): Promise<boolean> {
    await erase(kind, sql`id = ${id}`)
    return true
  }

  async function firstOf(kind: RemovableKind, organization: number): Promise<number | undefined> {
    const { rows } = await sql<{ id: number }>`
      select id from ${sql.table(kind)} where organization = ${organization} order by id limit 1
    `.execute(db)
    return rows[0]?.id
  }

  const purge: Record<RemovableKind, (id: number) => Promise<boolean>> = {
    async organization(id) {
      for (const kind of INSIDE) {
        for (let inner = await firstOf(kind, id); inner !== undefined; inner = await firstOf(kind, id)) {
          if (left <= 0 || !(await purge[kind](inner))) return false
        }
      }
      for (const table of ['notification', 'assessment', 'cloud_defense']) {
        if (left <= 0 || !(await erase(table, sql`organization = ${id}`))) return false
      }
      return eraseRecord('organization', id)
    },
    async member(id) {
      if (!(await erase('invitation', sql`member = ${id}`))) return false
      // Notifications belong to a person in an organization, whom another membership may still stand for: that of
      // somebody who was removed twice, or is back.
      const alone = sql`
        exists (
          select 1 from member where id = ${id} and organization = notification.organization
            and "user" = notification."user"
        ) and not exists (
          select 1 from member where id <> ${id} and organization = notification.organization
            and "user" = notification."user"
        )
      `
      const owner = sql`"user" = (select "user" from member where id = ${id})`
      if (!(await erase('notification', sql`${owner} and ${alone}`))) return false
      return eraseRecord('member', id)
    },
    async threat_blocker(id) {
      return (
        (await erase('threat', sql`threat_blocker = ${id}`)) &&
        (await eraseSlots(id)) &&
        (await erase('traffic_upload', sql`threat_blocker = ${id}`, 'id', 'raw_file')) &&
        (await eraseRecord('threat_blocker', id))
      )
    },
    async vpn_profile(id) {
      return eraseRecord('vpn_profile', id)
    },
    async security_framework(id) {
      return (
        (await erase('document', sql`framework = ${id}`, 'file', 'file')) &&
        (await erase('control', sql`framework = ${id}`)) &&
        (await eraseRecord('security_framework', id))
      )
    },
  }
  return { purge, counts, files }
}
