import type { FoundToken, Token, TokenStore } from '@security-management/domain'
import { type Kysely, sql } from 'kysely'
import { pageOf } from './expressions.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

// One query for both of a token's secrets, each of which has an index.
const findLive = hot((db, hash: string) =>
  valid(db)
    .select(['id', 'user_id', 'last_used_at', 'access', 'organizations'])
    .select(sql<string | null>`case when hash = ${hash} then expires_at else previous_expires_at end`.as('expires_at'))
    .where((is) => is.or([is('hash', '=', hash), is('previous_hash', '=', hash)])),
)

const COLUMNS = [
  'id',
  'user_id',
  'name',
  'prefix',
  'access',
  'organizations',
  'created_at',
  'expires_at',
  'last_used_at',
  'revoked_at',
] as const

export function sqlTokens(db: Kysely<Schema>): TokenStore {
  return {
    async insert({ organizations, ...token }) {
      const { id } = await db
        .insertInto('token')
        .values({ ...token, organizations: organizations && JSON.stringify(organizations) })
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    },
    async findByHash(hash) {
      const [row] = await findLive(db, hash)
      return row && toToken<FoundToken>(row)
    },
    async find(id) {
      const row = await valid(db).select(COLUMNS).where('id', '=', id).executeTakeFirst()
      return row && toToken<Token>(row)
    },
    async list() {
      const rows = await db.selectFrom('token').select(COLUMNS).orderBy('id').execute()
      return rows.map((row) => toToken<Token>(row))
    },
    async listOf(user, page, only) {
      let query = valid(db).select(COLUMNS).where('user_id', '=', user)
      if (only !== undefined) query = query.where('id', '=', only)
      return pageOf(query, page, { id: 'id', name: 'name', created_at: 'created_at' }, (row) => toToken<Token>(row))
    },
    async countLive(user, now) {
      const { count } = await valid(db)
        .select(sql<number>`count(*)`.as('count'))
        .where('user_id', '=', user)
        .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', now)]))
        .executeTakeFirstOrThrow()
      return count
    },
    async rotate(id, { hash, prefix }, overlapUntil) {
      const { numUpdatedRows } = await db
        .updateTable('token')
        .set((was) => ({
          hash,
          prefix,
          previous_hash: overlapUntil === null ? null : was.ref('hash'),
          previous_expires_at: overlapUntil,
        }))
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    async revoke(id, at) {
      const { numUpdatedRows } = await db
        .updateTable('token')
        .set({ revoked_at: at })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    async touch(id, at, since) {
      const { numUpdatedRows } = await db
        .updateTable('token')
        .set({ last_used_at: at })
        .where('id', '=', id)
        .where((is) => is.or([is('last_used_at', 'is', null), is('last_used_at', '<=', since)]))
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
  }
}

/** Tokens that are not revoked, expired or not. */
function valid(db: Kysely<Schema>) {
  return db.selectFrom('token').where('revoked_at', 'is', null)
}

function toToken<Kind extends FoundToken | Token>(row: { access: string; organizations: string | null }): Kind {
  return { ...row, organizations: row.organizations && JSON.parse(row.organizations) } as Kind
}
