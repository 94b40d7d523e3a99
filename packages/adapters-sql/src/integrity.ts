import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import type { Schema } from './schema.ts'
import { SUMMED, unitOf } from './traffic.ts'

/** Problems that are told of; a database that is broken has as many as it has pages. */
const MAX_PROBLEMS = 100

/**
 * What is wrong with the database, a line each. SQLite checks every page and index of its file. PostgreSQL has no such
 * command; what can be asked of it is whether every index is valid and every reference leads to a row. Its pages are
 * for its own checksums and `pg_amcheck`. Of both it is asked whether sums of traffic are right.
 */
export function integrity({ kind, patiently }: Database): Promise<string[]> {
  return patiently(async (db) => {
    const problems = kind === 'sqlite' ? await sqliteProblems(db) : await postgresProblems(db)
    for await (const problem of wrongSums(db)) {
      if (problems.length >= MAX_PROBLEMS) break
      problems.push(problem)
    }
    return problems.slice(0, MAX_PROBLEMS)
  })
}

/** Hours and days of traffic that are not what their slots of five minutes come to. */
async function* wrongSums(db: Kysely<Schema>): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    // One at a time: each may have slots of many years.
    const { rows: blockers } = await sql<{ id: number }>`
      select id from threat_blocker where id > ${after} order by id limit 1
    `.execute(db)
    const blocker = blockers[0]
    if (!blocker) return
    for (const seconds of SUMMED) {
      const { rows } = await sql<{ unit: number }>`
        select unit from (
          select ${unitOf(seconds, 'start')} as unit, total, malicious, found_later
          from traffic_slot where threat_blocker = ${blocker.id}
          union all
          select start, -total, -malicious, -found_later
          from traffic_sum where threat_blocker = ${blocker.id} and seconds = ${seconds}
        ) as counted
        group by unit having sum(total) <> 0 or sum(malicious) <> 0 or sum(found_later) <> 0
        order by unit limit ${MAX_PROBLEMS}
      `.execute(db)
      for (const row of rows) {
        const time = new Date(row.unit * 1000)
        const start = Number.isNaN(time.getTime()) ? row.unit : time.toISOString()
        yield `the ${seconds === 3600 ? 'hour' : 'day'} from ${start} of threat blocker ${blocker.id} is not what its slots come to`
      }
    }
    after = blocker.id
  }
}

async function sqliteProblems(db: Kysely<Schema>): Promise<string[]> {
  const checked = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db)
  const dangling = await sql<{ table: string; rowid: number | null; parent: string }>`
    pragma foreign_key_check
  `.execute(db)
  return [
    ...checked.rows.map((row) => row.integrity_check).filter((line) => line !== 'ok'),
    ...dangling.rows.map(({ table, rowid, parent }) => `row ${rowid} of ${table} refers to no row of ${parent}`),
  ]
}

async function postgresProblems(db: Kysely<Schema>): Promise<string[]> {
  const problems: string[] = []
  const invalid = await sql<{ name: string }>`
    select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = current_schema()::regnamespace and not (i.indisvalid and i.indisready)
  `.execute(db)
  for (const { name } of invalid.rows) problems.push(`the index ${name} is not valid`)

  const references = await sql<{ child: string; parent: string; columns: string[]; targets: string[] }>`
    select child.relname as child, parent.relname as parent,
      array(select attname::text from unnest(k.conkey) with ordinality as u(n, place) join pg_attribute a
        on a.attrelid = k.conrelid and a.attnum = u.n order by place) as columns,
      array(select attname::text from unnest(k.confkey) with ordinality as u(n, place) join pg_attribute a
        on a.attrelid = k.confrelid and a.attnum = u.n order by place) as targets
    from pg_constraint k join pg_class child on child.oid = k.conrelid join pg_class parent on parent.oid = k.confrelid
    where k.contype = 'f' and k.connamespace = current_schema()::regnamespace order by k.conname
  `.execute(db)
  for (const { child, parent, columns, targets } of references.rows) {
    const pairs = columns.map((column, index) => sql`p.${sql.ref(targets[index] ?? '')} = c.${sql.ref(column)}`)
    const isSet = columns.map((column) => sql`c.${sql.ref(column)} is not null`)
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(child)} as c where ${sql.join(isSet, sql` and `)}
        and not exists (select 1 from ${sql.table(parent)} as p where ${sql.join(pairs, sql` and `)})
    `.execute(db)
    const count = rows[0]?.count ?? 0
    if (count > 0) problems.push(`${count} rows of ${child} refer to no row of ${parent}`)
  }
  return problems
}
