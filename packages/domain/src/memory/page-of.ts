import { orderOf, type Page, type PageRequest, requirePageSize } from '../page.ts'

type Sortable = string | number | boolean

/** Texts by code points, as the UTF-8 bytes of them sort in SQL; JavaScript itself compares UTF-16 units. */
export function compare<Value extends Sortable>(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return Number(a) - Number(b)
}

/** Bytes of values as they are stored in SQL: texts as they are, all else as JSON. */
export function bytesOf(...values: unknown[]): number {
  const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

/**
 * One page of all matching rows, in the order asked for.
 *
 * @param sizeOf bytes of what may be long in a row.
 */
export function pageOf<Field extends string, Row extends { id: string | number } & Record<Field, Sortable>>(
  rows: Row[],
  request: PageRequest<Field>,
  sizeOf: (row: Row) => number = () => 0,
): Page<Row> {
  const { limit, offset, order } = request
  const { field, descending } = orderOf(order)
  const sorted = rows.toSorted((a, b) => compare<Sortable>(a[field], b[field]) || compare(a.id, b.id))
  if (descending) sorted.reverse()
  const data = sorted.slice(offset, offset + limit)
  const bytes = data.reduce((sum, row) => sum + sizeOf(row), 0)
  requirePageSize(request, rows.length, bytes)
  return { total: rows.length, data }
}
