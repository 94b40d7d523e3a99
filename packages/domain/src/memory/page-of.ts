import { orderOf, type Page, type PageRequest } from '../page.ts'

type Sortable = string | number | boolean

/** Texts by code points, as the UTF-8 bytes of them sort in SQL; JavaScript itself compares UTF-16 units. */
export function compare<Value extends Sortable>(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return Number(a) - Number(b)
}

/** One page of all matching rows, in the order asked for. */
export function pageOf<Field extends string, Row extends { id: string | number } & Record<Field, Sortable>>(
  rows: Row[],
  { limit, offset, order }: PageRequest<Field>,
): Page<Row> {
  const { field, descending } = orderOf(order)
  const sorted = rows.toSorted((a, b) => compare<Sortable>(a[field], b[field]) || compare(a.id, b.id))
  if (descending) sorted.reverse()
  return { total: rows.length, data: sorted.slice(offset, offset + limit) }
}
