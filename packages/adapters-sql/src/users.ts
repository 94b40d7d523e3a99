import { fold, type User, type UserStore } from '@security-management/domain'
import type { Kysely, Selectable } from 'kysely'
import { kindOf } from './column-types.ts'
import { texts } from './expressions.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

type Row = Selectable<Schema['user']>

/** Keeps what a search looks through apart; no text may hold it. */
const SEPARATOR = '\u001f'

const findRow = hot((db, id: string) => db.selectFrom('user').selectAll().where('id', '=', id))
const findRowByEmail = hot((db, email: string) => db.selectFrom('user').selectAll().where('email_folded', '=', email))
// In the order of the ids, so that two units that lock the same people do not wait for each other. See `lockId` of
// organizations for the rest.
const lockRows = hot((db, ids: string) => {
  const query = db.selectFrom('user').select('id').where('id', 'in', texts(db, ids)).orderBy('id')
  return kindOf(db) === 'postgres' ? query.forNoKeyUpdate() : query
})

export function sqlUsers(db: Kysely<Schema>): UserStore {
  return {
    async insert(user) {
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('user')
        .values({ ...user, email_folded: fold(user.email), search_folded: searchable(user) })
        .onConflict((conflict) => conflict.column('email_folded').doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows > 0n
    },
    async find(id) {
      const [row] = await findRow(db, id)
      return row && toUser(row)
    },
    async findByEmail(email) {
      const [row] = await findRowByEmail(db, fold(email))
      return row && toUser(row)
    },
    async update(id, edit) {
      const before = await this.find(id)
      if (!before) return
      const { first_name = before.first_name, last_name = before.last_name, locale = before.locale } = edit
      await db
        .updateTable('user')
        .set({ first_name, last_name, locale, search_folded: searchable({ ...before, first_name, last_name }) })
        .where('id', '=', id)
        .execute()
    },
    async lock(ids) {
      await lockRows(db, JSON.stringify(ids))
    },
    async list() {
      const rows = await db.selectFrom('user').selectAll().orderBy('email').orderBy('id').execute()
      return rows.map(toUser)
    },
    async isEmpty() {
      const row = await db.selectFrom('user').select('id').limit(1).executeTakeFirst()
      return row === undefined
    },
  }
}

function searchable({ username, email, first_name, last_name }: Omit<User, 'id' | 'locale'>): string {
  return [username, email, first_name, last_name].map(fold).join(SEPARATOR)
}

function toUser(row: Row): User {
  const { id, username, email, first_name, last_name, locale } = row
  return { id, username, email, first_name, last_name, locale: locale as User['locale'] }
}
