import { fold, type Member, type MemberStore, type Role } from '@security-management/domain'
import type { Kysely } from 'kysely'
import { contains, pageOf, texts } from './expressions.ts'
import { hot } from './hot.ts'
import { activeOrganizations, SUMMARY, summaryOf } from './organization-summary.ts'
import type { Schema } from './schema.ts'

const findMembership = hot((db, organization: number, user: string) =>
  active(db)
    .select(['member.id', 'member.role'])
    .where('member.organization', '=', organization)
    .where('member.user', '=', user),
)
const findOrganizations = hot((db, user: string, roles: string) =>
  active(db)
    .select('member.organization as id')
    .where('member.user', '=', user)
    .where('member.role', 'in', texts(db, roles))
    .orderBy('member.organization'),
)
const findMemberships = hot((db, user: string) =>
  active(db)
    .select([...SUMMARY, 'member.role'])
    .where('member.user', '=', user)
    .orderBy('member.organization'),
)
const findWithRoles = hot((db, organization: number, roles: string) =>
  active(db)
    .select('member.user')
    .where('member.organization', '=', organization)
    .where('member.role', 'in', texts(db, roles))
    .orderBy('member.user'),
)

export function sqlMembers(db: Kysely<Schema>): MemberStore {
  return {
    async insert(membership) {
      const row = await db
        .insertInto('member')
        .values({ ...membership, removed_at: null })
        .onConflict((conflict) =>
          conflict.columns(['organization', 'user']).where('removed_at', 'is', null).doNothing(),
        )
        .returning('id')
        .executeTakeFirst()
      return row?.id
    },
    async find(organization, user) {
      const [row] = await findMembership(db, organization, user)
      return row?.id
    },
    async roleOf(organization, user) {
      const [row] = await findMembership(db, organization, user)
      return row?.role as Role | undefined
    },
    async organizationsOf(user, roles) {
      return (await findOrganizations(db, user, JSON.stringify(roles))).map(({ id }) => id)
    },
    async membershipsOf(user) {
      const rows = await findMemberships(db, user)
      return rows.map((row) => ({ organization: summaryOf(row), role: row.role as Role }))
    },
    async withRoles(organization, roles) {
      return (await findWithRoles(db, organization, JSON.stringify(roles))).map(({ user }) => user)
    },
    async listActive(organization, { role, search }, page) {
      let query = active(db)
        .innerJoin('user', 'user.id', 'member.user')
        .select(['user.id', 'user.username', 'user.email', 'user.first_name', 'user.last_name', 'member.role'])
        .where('member.organization', '=', organization)
      if (role !== undefined) query = query.where('member.role', '=', role)
      if (search !== undefined) query = query.where(contains(db, 'user.search_folded', fold(search)))
      const columns = {
        id: 'user.id',
        username: 'user.username',
        email: 'user.email',
        first_name: 'user.first_name',
        last_name: 'user.last_name',
        role: 'member.role',
      }
      return pageOf(query, page, columns, (row): Member => ({ ...row, role: row.role as Role }))
    },
    async setRole(organization, user, role) {
      const { numUpdatedRows } = await db
        .updateTable('member')
        .set({ role })
        .where('organization', '=', organization)
        .where('user', '=', user)
        .where('removed_at', 'is', null)
        .where('organization', 'in', activeOrganizations(db))
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    async remove(organization, user, at) {
      const row = await db
        .updateTable('member')
        .set({ removed_at: at })
        .where('organization', '=', organization)
        .where('user', '=', user)
        .where('removed_at', 'is', null)
        .where('organization', 'in', activeOrganizations(db))
        .returning('role')
        .executeTakeFirst()
      return row?.role as Role | undefined
    },
  }
}

/** Memberships that count: neither they nor their organization are removed. */
function active(db: Kysely<Schema>) {
  return db
    .selectFrom('member')
    .innerJoin('organization', 'organization.id', 'member.organization')
    .where('member.removed_at', 'is', null)
    .where('organization.removed_at', 'is', null)
}
