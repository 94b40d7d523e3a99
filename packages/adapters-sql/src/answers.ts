import type { AnswerStore } from '@security-management/domain'
import type { Kysely } from 'kysely'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

// One statement: of several at once, PostgreSQL lets the others wait here for the first to end. It locks the row that it
// finds, so that the unit's commit waits for the disk, and takes along the one that kept the answer.
const claim = hot((db, id: string, at: string, since: string) =>
  db
    .insertInto('answer')
    .values({ id, claimed_at: at, sealed: null })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ claimed_at: at, sealed: null })
        .where((is) => is.or([is('answer.claimed_at', '<', since), is('answer.sealed', 'is', null)])),
    )
    .returning('id'),
)
const find = hot((db, id: string, since: string) =>
  db.selectFrom('answer').select('sealed').where('id', '=', id).where('claimed_at', '>=', since),
)

export function sqlAnswers(db: Kysely<Schema>): AnswerStore {
  return {
    async claim(id, at, since) {
      if ((await claim(db, id, at, since)).length > 0) return undefined
      return this.find(id, since)
    },
    async keep(id, sealed) {
      await db.updateTable('answer').set({ sealed }).where('id', '=', id).execute()
    },
    async find(id, since) {
      const [row] = await find(db, id, since)
      return row?.sealed ?? undefined
    },
    async forget(before) {
      await db.deleteFrom('answer').where('claimed_at', '<', before).execute()
    },
  }
}
