import * as v from 'valibot'
import { invalid } from './errors.ts'
import { Count } from './values.ts'

/** Default and greatest number of records in one answer (decisions.md §2). */
export const DEFAULT_LIMIT = 50
/** Records that one page of a list can have (decisions.md §2). */
export const MAX_LIMIT = 1000

/** Bytes that the records of one page have together, as they are stored, unless it is one alone: 64 MiB. */
export const MAX_PAGE_BYTES = 64 * 1024 * 1024

/** One page of a list. `total` counts everything that matches the filter, not the entries of `data`. */
export type Page<Item> = { total: number; data: Item[] }

/** Which part of a list, in which order. Ties always break on `id`, in the same direction. */
export type PageRequest<Field extends string = string> = {
  /** 0 to 1000. */
  limit: number
  offset: number
  /** A field of the list's closed set, `-` in front for descending. */
  order: Field | `-${Field}`
  /** Bytes of all of its records, as they are stored; `MAX_PAGE_BYTES` where nothing is said. */
  bytes?: number
}

/**
 * Asked before the records of a page are read, so that none is too large for who reads it.
 *
 * @param total records that match the filter.
 * @param bytes of what may be long in the records of the page.
 * @throws DomainError `invalid` for more than one record, past the bytes of the request.
 */
export function requirePageSize(request: PageRequest, total: number, bytes: number): void {
  const { limit, offset, bytes: most = MAX_PAGE_BYTES } = request
  if (Math.min(limit, total - offset) <= 1 || bytes <= most) return
  throw invalid('limit', `These records have more than ${most} bytes together: ask for fewer`)
}

/** Entries of a list's input: `limit`, `offset`, and `order` from the fields that the list can be ordered by. */
export function pageEntries<const Field extends string>(fields: readonly Field[], byDefault: Field | `-${Field}`) {
  const orders = fields.flatMap((field) => [field, `-${field}` as const])
  return {
    limit: v.optional(v.pipe(Count, v.maxValue(MAX_LIMIT)), DEFAULT_LIMIT),
    offset: v.optional(Count, 0),
    order: v.optional(v.picklist(orders as (Field | `-${Field}`)[]), byDefault as never),
  }
}

/** Splits `-name` into the field and its direction. */
export function orderOf<Field extends string>(order: Field | `-${Field}`): { field: Field; descending: boolean } {
  return order.startsWith('-')
    ? { field: order.slice(1) as Field, descending: true }
    : { field: order as Field, descending: false }
}
