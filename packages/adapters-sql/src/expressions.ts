import { setImmediate as nextTurn } from 'node:timers/promises'
import { orderOf, type Page, type PageRequest, requirePageSize } from '@security-management/domain'
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { kindOf } from './column-types.ts'
import type { Schema } from './schema.ts'

/** A JSON array of numbers, bound as one value, so that the SQL text does not depend on their number; its column is `value`. */
export function numbers(db: Kysely<Schema>, json: string): RawBuilder<number> {
  return kindOf(db) === 'postgres'
    ? sql`(select cast(value as bigint) as value from json_array_elements_text(cast(${json} as json)))`
    : sql`(select value from json_each(${json}))`
}

/** A JSON array of texts, bound as one value. */
export function texts(db: Kysely<Schema>, json: string): RawBuilder<string> {
  return kindOf(db) === 'postgres'
    ? sql`(select value collate "C" from json_array_elements_text(cast(${json} as json)))`
    : sql`(select value from json_each(${json}))`
}

/** A JSON array of arrays, bound as one value, as rows: `item.value ->> 0` is the first field of each. */
export function rows(db: Kysely<Schema>, json: string): RawBuilder<unknown> {
  return kindOf(db) === 'postgres'
    ? sql`json_array_elements(cast(${json} as json)) as item(value)`
    : sql`json_each(${json}) as item`
}

/** Whether `column` contains `part`, to the letter. */
export function contains(db: Kysely<Schema>, column: string, part: string): RawBuilder<boolean> {
  return kindOf(db) === 'postgres'
    ? sql<boolean>`strpos(${sql.ref(column)}, ${part}) > 0`
    : sql<boolean>`instr(${sql.ref(column)}, ${part}) > 0`
}

/** Whether the JSON array of texts in `column` has one of these; they come from closed lists. */
export function hasOneOf(db: Kysely<Schema>, column: string, values: readonly string[]): RawBuilder<boolean> {
  if (values.length === 0) return sql<boolean>`1 = 0`
  return sql<boolean>`(${sql.join(
    values.map((value) => contains(db, column, JSON.stringify(value))),
    sql` or `,
  )})`
}

/** Bytes of all of these columns, which hold texts; also of long ones found without reading them. */
export function bytesOf(...columns: string[]): RawBuilder<number> {
  return sql<number>`${sql.join(
    columns.map((column) => sql`octet_length(${sql.ref(column)})`),
    sql` + `,
  )}`
}

/** Bytes of rows that are made to records in one turn of the event loop. */
const PART = 256 * 1024

/**
 * One page of `query`, and how many rows it has in all.
 *
 * @param columns the column to order by for each field of the list's closed set, and `id`, on which ties break.
 * @param size bytes of what may be long in a row, see `requirePageSize`.
 */
export async function pageOf<DB, Tables extends keyof DB, Row, Item, Field extends string>(
  query: SelectQueryBuilder<DB, Tables, Row>,
  request: PageRequest<Field>,
  columns: { [Key in Field]: string } & { id: string },
  toItem: (row: Row) => Item,
  size?: RawBuilder<number>,
): Promise<Page<Item>> {
  const { field, descending } = orderOf(request.order)
  const direction = descending ? 'desc' : 'asc'
  const ordered = query.orderBy(sql.ref(columns[field]), direction)
  const page = (field === 'id' ? ordered : ordered.orderBy(sql.ref(columns.id), direction))
    .limit(request.limit)
    .offset(request.offset)
  const sizes = size && page.clearSelect().select(size.as('size'))
  const [counted] = await query
    .clearSelect()
    .select([
      sql<number>`count(*)`.as('total'),
      sizes
        ? sql<number>`(select cast(coalesce(sum(size), 0) as bigint) from ${sizes} as page)`.as('bytes')
        : sql.lit(0).as('bytes'),
    ])
    .execute()
  const { total, bytes } = counted as { total: number; bytes: number }
  if (total === 0 || request.limit === 0) return { total, data: [] }
  requirePageSize(request, total, bytes)
  const data: Item[] = []
  for (const row of await page.execute()) {
    data.push(toItem(row as Row))
    if (bytes > PART) await nextTurn()
  }
  return { total, data }
}
