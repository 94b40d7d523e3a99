import type { StoredThreatBlocker, ThreatBlockerEdit, ThreatBlockerStore } from '@security-management/domain'
import type { Kysely } from 'kysely'
import { kindOf } from './column-types.ts'
import { bytesOf, hasOneOf, numbers, pageOf } from './expressions.ts'
import { hot } from './hot.ts'
import { activeOrganizations, SUMMARY, summaryOf } from './organization-summary.ts'
import type { Schema } from './schema.ts'
import { softRemove } from './soft-remove.ts'

const findById = hot((db, id: number) => withColumns(active(db).where('threat_blocker.id', '=', id)))
const findByKey = hot((db, key: string) => withColumns(active(db).where('threat_blocker.atb_key', '=', key)))
// SQLite has one unit at a time anyway.
const lockId = hot((db, id: number) => {
  const query = active(db).select('threat_blocker.id').where('threat_blocker.id', '=', id)
  return kindOf(db) === 'postgres' ? query.forNoKeyUpdate('threat_blocker') : query
})
const findIds = hot((db, organizations: string) =>
  active(db)
    .select('threat_blocker.id')
    .where('threat_blocker.organization', 'in', numbers(db, organizations))
    .orderBy('threat_blocker.id'),
)

export function sqlThreatBlockers(db: Kysely<Schema>): ThreatBlockerStore {
  return {
    async insert({ services, ...blocker }) {
      const { id } = await db
        .insertInto('threat_blocker')
        .values({
          ...blocker,
          services: JSON.stringify(services),
          plugin: JSON.stringify({ name: 'none', config: {} }),
          endpoint: '',
          privateIP: '',
          removed_at: null,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    },
    async findActive(id) {
      const [row] = await findById(db, id)
      return row && toThreatBlocker(row)
    },
    async findActiveByKey(atbKey) {
      const [row] = await findByKey(db, atbKey)
      return row && toThreatBlocker(row)
    },
    async listActive(organizations, { service }, page) {
      let query = withColumns(active(db)).where(
        'threat_blocker.organization',
        'in',
        numbers(db, JSON.stringify(organizations)),
      )
      if (service !== undefined) query = query.where(hasOneOf(db, 'threat_blocker.services', [service]))
      const columns = {
        id: 'threat_blocker.id',
        device_id: 'threat_blocker.device_id',
        type: 'threat_blocker.type',
        email: 'threat_blocker.email',
        organization: 'threat_blocker.organization',
      }
      return pageOf(query, page, columns, toThreatBlocker, bytesOf('threat_blocker.plugin'))
    },
    async idsOf(organizations) {
      return (await findIds(db, JSON.stringify(organizations))).map(({ id }) => id)
    },
    async lock(id) {
      return (await lockId(db, id)).length > 0
    },
    async update(id, edit) {
      const { numUpdatedRows } = await db
        .updateTable('threat_blocker')
        .set({ removed_at: null, ...columnsOf(edit) })
        .where('id', '=', id)
        .where('removed_at', 'is', null)
        .where('organization', 'in', activeOrganizations(db))
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    remove: (id, at) => softRemove(db, 'threat_blocker', id, at),
  }
}

function active(db: Kysely<Schema>) {
  return db
    .selectFrom('threat_blocker')
    .innerJoin('organization', 'organization.id', 'threat_blocker.organization')
    .where('threat_blocker.removed_at', 'is', null)
    .where('organization.removed_at', 'is', null)
}

function withColumns(query: ReturnType<typeof active>) {
  return query
    .select([
      ...SUMMARY,
      'threat_blocker.id',
      'threat_blocker.atb_key',
      'threat_blocker.type',
      'threat_blocker.email',
      'threat_blocker.plugin',
      'threat_blocker.endpoint',
      'threat_blocker.privateIP',
      'threat_blocker.services',
      'threat_blocker.device_id',
      'threat_blocker.created_at',
    ])
    .select((is) => [
      is
        .selectFrom('traffic_upload')
        .select((of) => of.fn.max('traffic_upload.received').as('received'))
        .whereRef('traffic_upload.threat_blocker', '=', 'threat_blocker.id')
        .as('last_upload_at'),
      is
        .selectFrom('vpn_profile')
        .select('vpn_profile.id')
        .whereRef('vpn_profile.organization', '=', 'threat_blocker.organization')
        .where('vpn_profile.removed_at', 'is', null)
        .limit(1)
        .as('some_vpn'),
    ])
}

type Row = Awaited<ReturnType<ReturnType<typeof withColumns>['execute']>>[number]

function toThreatBlocker(row: Row): StoredThreatBlocker {
  return {
    id: row.id,
    organization: summaryOf(row),
    atb_key: row.atb_key,
    type: row.type as StoredThreatBlocker['type'],
    email: row.email,
    plugin: JSON.parse(row.plugin),
    endpoint: row.endpoint,
    privateIP: row.privateIP,
    services: JSON.parse(row.services),
    device_id: row.device_id,
    created_at: row.created_at,
    last_upload_at: row.last_upload_at,
    has_vpn: row.some_vpn !== null,
  }
}

function columnsOf({ services, plugin, ...plain }: ThreatBlockerEdit) {
  const columns = {
    ...plain,
    services: services && JSON.stringify(services),
    plugin: plugin && JSON.stringify(plugin),
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}
