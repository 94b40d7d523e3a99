import type { CloudDefense, CloudDefenseStore } from '@security-management/domain'
import type { Kysely } from 'kysely'
import { bytesOf, hasOneOf, numbers, pageOf } from './expressions.ts'
import { hot } from './hot.ts'
import { SUMMARY, summaryOf } from './organization-summary.ts'
import type { Schema } from './schema.ts'

const findById = hot((db, id: number) => active(db).where('cloud_defense.id', '=', id))

export function sqlCloudDefenses(db: Kysely<Schema>): CloudDefenseStore {
  return {
    async insert({ check, services, ...defense }) {
      const { id } = await db
        .insertInto('cloud_defense')
        .values({ ...defense, check: JSON.stringify(check), services: JSON.stringify(services) })
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    },
    async findActive(id) {
      const [row] = await findById(db, id)
      return row && toCloudDefense(row)
    },
    async listActive(organizations, { service }, page) {
      let query = active(db).where('cloud_defense.organization', 'in', numbers(db, JSON.stringify(organizations)))
      if (service !== undefined) query = query.where(hasOneOf(db, 'cloud_defense.services', [service]))
      const columns = {
        id: 'cloud_defense.id',
        fqdn: 'cloud_defense.fqdn',
        email: 'cloud_defense.email',
        organization: 'cloud_defense.organization',
      }
      return pageOf(query, page, columns, toCloudDefense, bytesOf('cloud_defense.check', 'cloud_defense.services'))
    },
  }
}

function active(db: Kysely<Schema>) {
  return db
    .selectFrom('cloud_defense')
    .innerJoin('organization', 'organization.id', 'cloud_defense.organization')
    .where('organization.removed_at', 'is', null)
    .select([
      ...SUMMARY,
      'cloud_defense.id',
      'cloud_defense.email',
      'cloud_defense.fqdn',
      'cloud_defense.check',
      'cloud_defense.endpoint',
      'cloud_defense.services',
    ])
}

type Row = Awaited<ReturnType<ReturnType<typeof active>['execute']>>[number]

function toCloudDefense(row: Row): CloudDefense {
  return {
    id: row.id,
    organization: summaryOf(row),
    email: row.email,
    fqdn: row.fqdn,
    check: JSON.parse(row.check),
    endpoint: row.endpoint,
    services: JSON.parse(row.services),
  }
}
