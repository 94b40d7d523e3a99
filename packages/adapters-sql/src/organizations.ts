import { fold, type Organization, type OrganizationEdit, type OrganizationStore } from '@security-management/domain'
import type { Kysely, Selectable } from 'kysely'
import { kindOf } from './column-types.ts'
import { bytesOf, contains, hasOneOf, numbers, pageOf } from './expressions.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

type Row = Selectable<Schema['organization']>

const findRow = hot((db, id: number) => active(db).selectAll().where('id', '=', id))
const findId = hot((db, id: number) => active(db).select('id').where('id', '=', id))
// "No key" leaves room for the records that refer to the organization meanwhile. SQLite has one unit at a time anyway.
const lockId = hot((db, id: number) => {
  const query = active(db).select('id').where('id', '=', id)
  return kindOf(db) === 'postgres' ? query.forNoKeyUpdate() : query
})

export function sqlOrganizations(db: Kysely<Schema>): OrganizationStore {
  return {
    async insert(organization) {
      const { id } = await db
        .insertInto('organization')
        .values({ ...columnsOf(organization), removed_at: null } as Omit<Row, 'id'>)
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    },
    async findActive(id) {
      const [row] = await findRow(db, id)
      return row && toOrganization(row)
    },
    async isActive(id) {
      return (await findId(db, id)).length > 0
    },
    async lock(id) {
      return (await lockId(db, id)).length > 0
    },
    async listActive(ids, { name, sectors, industries }, page) {
      let query = active(db)
        .selectAll()
        .where('id', 'in', numbers(db, JSON.stringify(ids)))
      if (name !== undefined) query = query.where(contains(db, 'name_folded', fold(name)))
      if (sectors) query = query.where(hasOneOf(db, 'sectors', sectors))
      if (industries) query = query.where(hasOneOf(db, 'industries', industries))
      const size = bytesOf('description', 'sectors', 'industries', 'contacts', 'domains', 'ips')
      return pageOf(query, page, { id: 'id', name: 'name', number_employees: 'number_employees' }, toOrganization, size)
    },
    async update(id, edit) {
      const columns = columnsOf(edit)
      if (Object.keys(columns).length === 0) return this.findActive(id)
      const row = await db
        .updateTable('organization')
        .set(columns)
        .where('id', '=', id)
        .where('removed_at', 'is', null)
        .returningAll()
        .executeTakeFirst()
      return row && toOrganization(row)
    },
    async remove(id, at) {
      const row = await db
        .updateTable('organization')
        .set({ removed_at: at })
        .where('id', '=', id)
        .where('removed_at', 'is', null) // one statement, so two callers cannot both remove it
        .returningAll()
        .executeTakeFirst()
      return row && toOrganization(row)
    },
  }
}

function active(db: Kysely<Schema>) {
  return db.selectFrom('organization').where('organization.removed_at', 'is', null)
}

/** The columns that an edit, or a whole new organization, sets. */
function columnsOf(edit: OrganizationEdit): Partial<Row> {
  const { sectors, industries, contacts, domains, ips, ...plain } = edit
  const columns: Partial<Row> = { ...plain }
  if (edit.name !== undefined) columns.name_folded = fold(edit.name)
  for (const [key, value] of Object.entries({ sectors, industries, contacts, domains, ips })) {
    if (value !== undefined) columns[key as 'sectors'] = JSON.stringify(value)
  }
  for (const key of Object.keys(columns) as (keyof Row)[]) if (columns[key] === undefined) delete columns[key]
  return columns
}

function toOrganization(row: Row): Organization {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    number_employees: row.number_employees,
    website: row.website,
    logo: row.logo,
    sectors: JSON.parse(row.sectors),
    industries: JSON.parse(row.industries),
    contacts: JSON.parse(row.contacts),
    domains: JSON.parse(row.domains),
    ips: JSON.parse(row.ips),
    infrastructure: row.infrastructure as Organization['infrastructure'],
  }
}
