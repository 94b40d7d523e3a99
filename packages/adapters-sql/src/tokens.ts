import type { TokenStore } from '@security-management/domain'
import type { Kysely } from 'kysely'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

const findLive = hot((db, hash: string) =>
  db
    .selectFrom('token')
    .select(['id', 'user_id', 'expires_at', 'last_used_at'])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null),
)

export function sqlTokens(db: Kysely<Schema>): TokenStore {
  return {
    async insert(token) {
      const { id } = await db.insertInto('token').values(token).returning('id').executeTakeFirstOrThrow()
      return id
    },
    async findByHash(hash) {
      const [row] = await findLive(db, hash)
      return row
    },
    async list() {
      return db
        .selectFrom('token')
        .select(['id', 'user_id', 'name', 'prefix', 'created_at', 'expires_at', 'last_used_at', 'revoked_at'])
        .orderBy('id')
        .execute()
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
    async touch(id, at) {
      await db.updateTable('token').set({ last_used_at: at }).where('id', '=', id).execute()
    },
  }
}
