import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { DomainError } from './errors.ts'
import { orderOf, pageEntries } from './page.ts'
import { object, optionalEntries, parse } from './parse.ts'
import { bounded } from './stream.ts'
import { refusedPaths } from './testing/world.ts'
import { Id } from './values.ts'

const Person = object({ name: v.string(), pets: v.array(object({ age: v.number() })) })

async function pathsOf(schema: v.GenericSchema, input: unknown): Promise<string[]> {
  return refusedPaths(Promise.resolve().then(() => parse(schema, input)))
}

describe('parse', () => {
  test('names the first failing path alone of an input so large that naming all would take its toll', async () => {
    const keys = Object.fromEntries(Array.from({ length: 300_000 }, (_, index) => [index, index]))
    expect(await pathsOf(Person, { ...keys, name: 1, pets: 2 })).toEqual(['name'])
    const pets = Array.from({ length: 30_000 }, () => 1)
    expect(await pathsOf(Person, { name: 'Ada', pets })).toEqual(['pets.0'])
  })

  test('names every failing path, dotted as in the input', async () => {
    expect(await pathsOf(Person, { name: 1, pets: [{ age: 1 }, { age: 'x' }, {}] })).toEqual([
      'name',
      'pets.1.age',
      'pets.2.age',
    ])
    expect(await pathsOf(Person, {})).toEqual(['name', 'pets'])
  })

  test.each([[undefined], [null], ['text'], [1], [true], [[]], [[{ name: 'x', pets: [] }]]])(
    '%j is refused where an object is due',
    async (input) => {
      expect(await pathsOf(Person, input)).toEqual([''])
    },
  )

  test('an array is refused where an object is due, even if all of its fields may be left out', async () => {
    const Edit = object(optionalEntries(Person.entries))
    expect(parse(Edit, {})).toEqual({})
    expect(await pathsOf(Edit, [])).toEqual([''])
    expect(await pathsOf(object({ inner: v.optional(Edit) }), { inner: [] })).toEqual(['inner'])
    expect(await pathsOf(v.array(Edit), [{}, []])).toEqual(['1'])
  })

  test('an edit names only what it names', () => {
    const Edit = object(optionalEntries({ name: v.string(), age: v.number() }))
    expect(Object.keys(parse(Edit, { name: 'x' }))).toEqual(['name'])
  })

  test('keys that nobody knows are dropped', () => {
    expect(parse(Person, { name: 'x', pets: [], admin: true, __proto__: { polluted: true } })).toEqual({
      name: 'x',
      pets: [],
    })
  })

  test.each<[v.GenericSchema, unknown, string]>([
    [Person, { pets: [] }, 'Required'],
    [Person, undefined, 'Required'],
    [object({ id: Id }), {}, 'Required'],
    [Id, '1.0', 'Must be a whole number'],
    [Id, 1.5, 'Must be a whole number of at most 2^53 − 1'],
    [Id, 2 ** 53, 'Must be a whole number of at most 2^53 − 1'],
    [Id, 0, 'Must be at least 1, and is 0'],
    [v.picklist(['a', 'b']), 'c', '"c" is none of "a", "b"'],
    [v.picklist(['a', 'b']), 1, '1 is none of "a", "b"'],
    [v.picklist(['a']), 'x'.repeat(100), `"${'x'.repeat(59)}… is none of "a"`],
    [v.picklist(['x'.repeat(300)]), 'c', `"c" is none of "${'x'.repeat(184)}…`],
  ])('%o refuses %j in words of ours', (schema, input, message) => {
    expect(() => parse(schema, input)).toThrow(
      expect.objectContaining({ details: [{ path: expect.any(String), message }] }),
    )
  })

  test('a long value is not quoted whole', () => {
    let caught: unknown
    try {
      parse(v.picklist(['a']), 'x'.repeat(10_000))
    } catch (error) {
      caught = error
    }
    expect(caught).toBeInstanceOf(DomainError)
    expect((caught as DomainError).message.length).toBeLessThan(300)
  })
})

describe('a page request', () => {
  const Query = object(pageEntries(['id', 'name'], '-id'))

  test('defaults to the fifty newest', () => {
    expect(parse(Query, {})).toEqual({ limit: 50, offset: 0, order: '-id' })
  })

  test.each([
    { limit: 0, offset: 0, order: 'name' },
    { limit: 1000, offset: Number.MAX_SAFE_INTEGER, order: '-name' },
  ])('%j is accepted as it is', (query) => {
    expect(parse(Query, query)).toEqual(query)
  })

  test.each<[string, object]>([
    ['limit', { limit: 1001 }],
    ['limit', { limit: -1 }],
    ['limit', { limit: 1.5 }],
    ['limit', { limit: '10' }],
    ['limit', { limit: Number.NaN }],
    ['limit', { limit: null }],
    ['offset', { offset: -1 }],
    ['offset', { offset: 2 ** 53 }],
    ['offset', { offset: Number.POSITIVE_INFINITY }],
    ['order', { order: '' }],
    ['order', { order: 'secret' }],
    ['order', { order: '--id' }],
    ['order', { order: '-' }],
  ])('a wrong %s is refused: %j', async (path, query) => {
    expect(await pathsOf(Query, query)).toEqual([path])
  })

  test('an order is a field and a direction', () => {
    expect(orderOf('name')).toEqual({ field: 'name', descending: false })
    expect(orderOf('-name')).toEqual({ field: 'name', descending: true })
  })
})

describe('bounded', () => {
  async function* pieces(...sizes: number[]) {
    for (const size of sizes) yield new Uint8Array(size)
  }
  async function sizeOf(content: AsyncIterable<Uint8Array>): Promise<number> {
    let size = 0
    for await (const piece of content) size += piece.length
    return size
  }

  test('passes on what fits exactly', async () => {
    expect(await sizeOf(bounded(pieces(3, 0, 7), 10))).toBe(10)
    expect(await sizeOf(bounded(pieces(), 0))).toBe(0)
  })

  test('refuses one byte more', async () => {
    await expect(sizeOf(bounded(pieces(3, 8), 10))).rejects.toMatchObject({ code: 'too_large' })
  })
})
