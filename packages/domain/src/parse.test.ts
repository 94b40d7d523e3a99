import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { DomainError } from './errors.ts'
import { systemSurroundings } from './memory/surroundings.ts'
import { orderOf, pageEntries } from './page.ts'
import { checkInParts, object, optionalEntries, parse } from './parse.ts'
import { NewSecurityFramework, SecurityFrameworkEdit } from './security-frameworks/security-framework.ts'
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

describe('input that is looked at in parts', () => {
  const outcome = async (schema: v.GenericSchema, input: unknown) => {
    const of = (given: unknown) => {
      try {
        return { output: parse(schema, given) }
      } catch (error) {
        if (error instanceof DomainError) return { code: error.code, details: error.details }
        throw error
      }
    }
    return { atOnce: of(input), inParts: of(await checkInParts(systemSurroundings(), schema, input)) }
  }

  test('comes to what it comes to at once', async () => {
    const text = fc.constantFrom('', 'a', 'b ', '\u0000', 1)
    const some = <T>(key: string, value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined }).map((v) => [key, v])
    const entries = (...of: fc.Arbitrary<unknown[]>[]) =>
      fc.tuple(...of).map((pairs) => Object.fromEntries(pairs.filter(([, value]) => value !== undefined)))
    const evidence = entries(
      some(
        'files',
        fc.oneof(fc.array(text, { maxLength: 3 }), fc.array(fc.constant('/f'), { minLength: 101, maxLength: 110 })),
      ),
      some('completed', fc.constantFrom(0, 1, -1)),
      some('datetime', fc.constantFrom('2020-01-01', 'never')),
    )
    const json = fc.oneof(
      fc.constant({}),
      fc.constant([]),
      fc.dictionary(fc.constantFrom('a', '\u0001'), fc.jsonValue()),
    )
    const control = entries(
      some('id', fc.constantFrom('a', 'b', '..')),
      some('title', text),
      some('details', json),
      some('evidences', fc.oneof(fc.array(evidence, { maxLength: 4 }), fc.constant(null))),
    )
    const framework = entries(some('title', text), some('security_frameworks', fc.array(control, { maxLength: 4 })))
    await fc.assert(
      fc.asyncProperty(fc.oneof(framework, fc.jsonValue()), async (input) => {
        const { atOnce, inParts } = await outcome(NewSecurityFramework, input)
        expect(inParts).toEqual(atOnce)
      }),
      { numRuns: 1000 },
    )
  })

  test.each([0, 999, 1000, 1001, 24_999])('is refused for its item %i, and for the first of them', async (wrong) => {
    const evidences = Array.from({ length: 25_000 }, (_, index) => (index < wrong ? {} : { completed: -1 }))
    const input = {
      title: 'T',
      security_frameworks: [
        { id: 'a', title: 'A' },
        { id: 'b', title: 'B', evidences },
      ],
    }
    const { atOnce, inParts } = await outcome(NewSecurityFramework, input)
    expect(inParts).toEqual(atOnce)
    const path = `security_frameworks.1.evidences.${wrong}.completed`
    expect(inParts).toMatchObject({ code: 'invalid', details: [{ path }] })
  })

  test('is refused for what comes first, whatever comes later', async () => {
    const wrong = Array.from({ length: 25_000 }, () => ({ completed: -1 }))
    const controls = [
      { id: 'a', title: '' },
      { id: 'b', title: 'B', evidences: wrong },
    ]
    const titled = await outcome(NewSecurityFramework, { title: '', security_frameworks: controls })
    expect(titled.inParts).toMatchObject({ details: [{ path: 'title' }] })
    const untitled = await outcome(NewSecurityFramework, { title: 'T', security_frameworks: controls })
    expect(untitled.inParts).toMatchObject({ details: [{ path: 'security_frameworks.0.title' }] })
    expect([titled.inParts, untitled.inParts]).toEqual([titled.atOnce, untitled.atOnce])
  })

  test('is refused where an array is too long, or an object holds what cannot be stored', async () => {
    const files = Array.from({ length: 30_000 }, () => '/f')
    const details = { a: Array.from({ length: 300 }, () => ({ b: [{ c: '\u0000' }] })) }
    for (const control of [
      { evidences: [{ files }] },
      { details },
      { details: { a: files } },
      { evidences: [{ files }], details },
    ]) {
      const input = { title: 'T', security_frameworks: [{ id: 'a', title: 'A', ...control }] }
      const { atOnce, inParts } = await outcome(NewSecurityFramework, input)
      expect(inParts).toEqual(atOnce)
      expect(inParts).toMatchObject({ code: 'invalid' })
    }
  })

  test('may be one array in two places, of which each is looked at by its own schema', async () => {
    const shared = Array.from({ length: 200 }, () => ({}))
    const input = {
      title: 'T',
      security_frameworks: [{ id: 'a', title: 'A', evidences: [...shared, { files: shared }] }],
    }
    const same = {
      ...input,
      security_frameworks: [
        { id: 'a', title: 'A', evidences: shared },
        { id: 'b', title: 'B', evidences: shared },
      ],
    }
    for (const each of [input, same]) {
      const { atOnce, inParts } = await outcome(NewSecurityFramework, each)
      expect(inParts).toEqual(atOnce)
    }
  })

  test('is looked at once, and for one schema alone', async () => {
    const checked = await checkInParts(systemSurroundings(), NewSecurityFramework, { title: 'T' })
    expect(await checkInParts(systemSurroundings(), NewSecurityFramework, checked)).toBe(checked)
    expect(parse(NewSecurityFramework, checked)).toEqual({ title: 'T', security_frameworks: [] })
    expect(() => parse(SecurityFrameworkEdit, checked)).toThrow('another schema')
  })

  test('lets a turn pass after every thousand values', async () => {
    let turns = 0
    const nextTurn = async () => {
      turns += 1
    }
    const evidences = Array.from({ length: 10_000 }, () => ({ files: ['/a'] }))
    const details = { a: Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => 1)) }
    await checkInParts({ nextTurn }, NewSecurityFramework, {
      title: 'T',
      security_frameworks: [{ id: 'a', title: 'A', evidences }],
    })
    expect(turns).toBe(20)
    await checkInParts({ nextTurn }, NewSecurityFramework, {
      title: 'T',
      security_frameworks: [{ id: 'a', title: 'A', details }],
    })
    expect(turns).toBe(30)
  })
})
