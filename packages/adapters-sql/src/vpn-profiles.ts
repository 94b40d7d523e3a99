import type { VpnProfile, VpnProfileStore } from '@security-management/domain'
import type { Kysely } from 'kysely'
import { numbers, pageOf } from './expressions.ts'
import { hot } from './hot.ts'
import { SUMMARY, summaryOf } from './organization-summary.ts'
import type { Schema } from './schema.ts'
import { softRemove } from './soft-remove.ts'

const findById = hot((db, id: number) => active(db).where('vpn_profile.id', '=', id))

export function sqlVpnProfiles(db: Kysely<Schema>): VpnProfileStore {
  return {
    async insert(profile) {
      const { id } = await db
        .insertInto('vpn_profile')
        .values({ ...profile, removed_at: null })
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    },
    async findActive(id) {
      const [row] = await findById(db, id)
      return row && toVpnProfile(row)
    },
    async listActive(organizations, page) {
      const query = active(db).where('vpn_profile.organization', 'in', numbers(db, JSON.stringify(organizations)))
      const columns = {
        id: 'vpn_profile.id',
        created_at: 'vpn_profile.created_at',
        email: 'vpn_profile.email',
        organization: 'vpn_profile.organization',
      }
      return pageOf(query, page, columns, toVpnProfile)
    },
    remove: (id, at) => softRemove(db, 'vpn_profile', id, at),
  }
}

function active(db: Kysely<Schema>) {
  return db
    .selectFrom('vpn_profile')
    .innerJoin('organization', 'organization.id', 'vpn_profile.organization')
    .where('vpn_profile.removed_at', 'is', null)
    .where('organization.removed_at', 'is', null)
    .select([...SUMMARY, 'vpn_profile.id', 'vpn_profile.created_at', 'vpn_profile.user_id', 'vpn_profile.email'])
}

type Row = Awaited<ReturnType<ReturnType<typeof active>['execute']>>[number]

function toVpnProfile(row: Row): VpnProfile {
  const { id, created_at, user_id, email } = row
  return { id, organization: summaryOf(row), created_at, user_id, email }
}
