import { type Evidence, lastCompleted } from '@security-management/domain'
import { type Kysely, sql } from 'kysely'
import { text } from '../column-types.ts'

/** Controls that are read at a time; each may have evidences of some MiB. */
const BATCH = 10

/** When the last evidence of a control was completed, so that nobody reads the evidences to know it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('control').addColumn('last_completed', text(db)).execute()
  for (let after = { framework: 0, id: '' }; ; ) {
    const { rows } = await sql<{ framework: number; id: string; evidences: string }>`
      select framework, id, evidences from control where (framework, id) > (${after.framework}, ${after.id})
      order by framework, id limit ${BATCH}
    `.execute(db)
    const last = rows.at(-1)
    if (!last) break
    for (const { framework, id, evidences } of rows) {
      const completed = lastCompleted(JSON.parse(evidences) as Evidence[])
      if (completed === undefined) continue
      await sql`
        update control set last_completed = ${completed} where framework = ${framework} and id = ${id}
      `.execute(db)
    }
    after = last
  }
  // Everything that the look for due evidence takes of a control: what follows the evidences in a row of SQLite is only
  // reached through them.
  await db.schema.dropIndex('control_scheduled').execute()
  await db.schema
    .createIndex('control_scheduled')
    .on('control')
    .columns(['framework', 'position', 'id', 'frequency', 'told', 'last_completed'])
    .where(sql.ref('frequency'), '<>', sql.lit(''))
    .execute()
}
