import { expect } from 'vitest'
import type { Page, PageRequest } from '../page.ts'
import type { Needs, Stores } from '../ports.ts'

type Sortable = string | number | boolean

/** Texts whose order differs between code points, UTF-16 units, and the alphabets of people; with ties. */
export const TEXTS_TO_SORT = [
  'b',
  'B',
  'a',
  'é',
  'e\u0301',
  '\u{1F6E1}',
  '\uFF5E',
  'Z',
  'a',
  '10',
  '9',
  'b a',
  'ba',
  '_',
]

/**
 * Lists by every field, both ways, whole and in pages, and compares with a naive sort: texts by code points, ties on
 * `id` in the same direction.
 *
 * @param rows all records that the list has, with the values that they sort by.
 */
export async function expectOrderAndPages<Field extends string, Item>(
  fields: readonly Field[],
  rows: readonly (Record<Field, Sortable> & { id: string | number })[],
  list: (page: PageRequest<Field>) => Promise<Page<Item>>,
  idOf: (item: Item) => string | number,
): Promise<void> {
  const total = rows.length
  for (const field of fields) {
    const ascending = rows
      .toSorted((a, b) => codePointOrder(a[field], b[field]) || codePointOrder(a.id, b.id))
      .map(({ id }) => id)
    for (const [order, expected] of [
      [field, ascending],
      [`-${field}`, ascending.toReversed()],
    ] as const) {
      const whole = await list({ limit: 1000, offset: 0, order })
      expect({ order, total: whole.total, ids: whole.data.map(idOf) }).toEqual({ order, total, ids: expected })
      const page = await list({ limit: 3, offset: 2, order })
      expect({ order, total: page.total, ids: page.data.map(idOf) }).toEqual({
        order,
        total,
        ids: expected.slice(2, 5),
      })
    }
  }
  const order = fields[0] as Field
  expect(await list({ limit: 0, offset: 0, order })).toEqual({ total, data: [] })
  expect(await list({ limit: 10, offset: total, order })).toEqual({ total, data: [] })
  expect(await list({ limit: 10, offset: Number.MAX_SAFE_INTEGER, order })).toEqual({ total, data: [] })
}

function codePointOrder(a: Sortable, b: Sortable): number {
  if (typeof a !== 'string' || typeof b !== 'string') return Number(a) - Number(b)
  const [left, right] = [[...a], [...b]].map((characters) => characters.map((one) => one.codePointAt(0) ?? 0))
  for (const [index, code] of (left ?? []).entries()) {
    const other = right?.[index]
    if (other === undefined) return 1
    if (code !== other) return code - other
  }
  return (left?.length ?? 0) - (right?.length ?? 0)
}

/** All of a list, ascending by `id` or the first field. */
export function all<Field extends string>(order: Field): PageRequest<Field> {
  return { limit: 1000, offset: 0, order }
}

/**
 * Expects that a page of more than one record is refused past the bytes it may have, to the byte.
 *
 * @param list a list of three records.
 * @param long what may be long in each, in the list's order: texts as they are, all else is stored as JSON.
 */
export async function expectPageSizeBound<Field extends string, Item>(
  list: (page: PageRequest<Field>) => Promise<Page<Item>>,
  order: Field,
  long: unknown[][],
): Promise<void> {
  const texts = long.map((values) => values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))))
  const [first = 0, second = 0, third = 0] = texts.map((record) => Buffer.byteLength(record.join('')))
  const count = async (limit: number, bytes: number, offset = 0) =>
    (await list({ limit, offset, order, bytes })).data.length
  const refused = { code: 'invalid', details: [{ path: 'limit' }] }
  expect(await count(1000, first + second + third)).toBe(3)
  await expect(count(1000, first + second + third - 1)).rejects.toMatchObject(refused)
  expect(await count(2, first + second)).toBe(2)
  await expect(count(2, first + second - 1)).rejects.toMatchObject(refused)
  expect(await count(2, second + third, 1)).toBe(2)
  await expect(count(2, second + third - 1, 1)).rejects.toMatchObject(refused)
  // One is shown however large it is.
  expect([await count(0, 0), await count(1, 0), await count(1000, 0, 2), await count(1000, 0, 3)]).toEqual([0, 1, 1, 0])
}

/** Makes the changes in a unit of work that fails, and expects that nothing of them can be read afterwards. */
export async function expectRolledBack(
  ports: Needs<'transact'>,
  change: (stores: Stores) => Promise<unknown>,
  read: () => Promise<unknown>,
): Promise<void> {
  const before = await read()
  const failure = new Error('the unit fails')
  const unit = ports.transact(async (stores) => {
    await change(stores)
    throw failure
  })
  await expect(unit).rejects.toBe(failure)
  expect(await read()).toEqual(before)
}

/** Runs the same thing ten times at once and returns what became of each. */
export async function tenAtOnce<Result>(
  run: (index: number) => Promise<Result>,
): Promise<PromiseSettledResult<Result>[]> {
  return Promise.allSettled(Array.from({ length: 10 }, (_, index) => run(index)))
}

/** The results of those that did not fail. */
export function fulfilled<Result>(results: PromiseSettledResult<Result>[]): Result[] {
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
