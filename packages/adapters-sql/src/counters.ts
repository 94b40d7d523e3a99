import type { CounterStore, Tally } from '@security-management/domain'
import { type Kysely, sql } from 'kysely'
import { rows } from './expressions.ts'
import type { Schema } from './schema.ts'

export function sqlCounters(db: Kysely<Schema>): CounterStore {
  return {
    async add(tallies) {
      // In one order everywhere, so that two processes that add wait for each other and do not deadlock.
      const sorted = tallies.toSorted((one, other) => one.start - other.start || (one.name < other.name ? -1 : 1))
      const json = JSON.stringify(sorted.map(({ name, start, count }) => [name, start, count]))
      const number = (index: number) => sql`cast(item.value ->> ${sql.lit(index)} as bigint)`
      const sums = await sql<Tally>`
        insert into counter (name, start, count)
        select cast(item.value ->> 0 as text), ${number(1)}, ${number(2)} from ${rows(db, json)} where true
        on conflict (name, start) do update set count = counter.count + excluded.count
        returning name, start, count
      `.execute(db)
      return sums.rows
    },
    async forget(before) {
      await db.deleteFrom('counter').where('start', '<', before).execute()
    },
  }
}
