import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from './json.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const parsed = (bytes: Uint8Array | string, part: number, maxValues = 1_000_000) =>
  parseJson(typeof bytes === 'string' ? bytesOf(bytes) : bytes, maxValues, part).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )

function expected(text: string) {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { error: expect.objectContaining({ code: 'invalid', details: [expect.objectContaining({ path: '' })] }) }
  }
}

/** JSON texts with names that mean something to objects, and with space where it may be. */
const json = fc
  .tuple(
    fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('\\', '"', '[{', ',', ']}', ':'),
        fc.array(tie('value'), { maxLength: 8 }),
        fc
          .array(
            fc.tuple(fc.constantFrom('a', 'b', '', '7', '3', '"', '__proto__', 'constructor', ',{'), tie('value')),
            {
              maxLength: 8,
            },
          )
          .map((members) => ({ members })),
      ),
    })).value,
    fc.constantFrom('', ' ', '\n\t \r'),
  )
  .map(([value, space]) => written(value, space))

/** Unlike `JSON.stringify` it writes names that come twice. */
function written(value: unknown, space: string): string {
  const between = (open: string, members: string[], close: string) =>
    `${open}${space}${members.join(`${space},${space}`)}${space}${close}`
  if (Array.isArray(value))
    return between(
      '[',
      value.map((item) => written(item, space)),
      ']',
    )
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = (value as { members: [string, unknown][] }).members
  return between(
    '{',
    members.map(([name, item]) => `${JSON.stringify(name)}${space}:${space}${written(item, space)}`),
    '}',
  )
}

describe('a JSON text that is parsed in parts', () => {
  test('is what JSON.parse makes of it', async () => {
    await fc.assert(
      fc.asyncProperty(json, fc.integer({ min: 1, max: 40 }), async (text, part) => {
        const got = await parsed(text, part)
        expect(got).toEqual(expected(text))
        // The order of names, and names that come twice, too.
        expect(JSON.stringify(got)).toBe(JSON.stringify(expected(text)))
      }),
      { numRuns: 300 },
    )
  })

  test('is refused where JSON.parse refuses it', async () => {
    const change = fc.record({
      at: fc.nat(),
      remove: fc.nat(2),
      insert: fc.constantFrom('', ',', ':', '[', ']', '{', '}', '"', '\\', ' ', '0', '\ufeff', 'x', ',,', '],[', '},{'),
    })
    await fc.assert(
      fc.asyncProperty(json, change, fc.integer({ min: 1, max: 40 }), async (text, { at, remove, insert }, part) => {
        const place = at % (text.length + 1)
        const changed = text.slice(0, place) + insert + text.slice(place + remove)
        fc.pre(!/\p{Surrogate}/u.test(changed) && !changed.startsWith('\ufeff'))
        expect(await parsed(changed, part)).toEqual(expected(changed))
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    '[1,2,]',
    '[,1]',
    '[ , ]',
    '[1 2]',
    '[[1,2,3},4]',
    '{"a":[1,2,3}',
    '{"a":1,}',
    '{,}',
    '{"a" 1}',
    '[1,2,3',
    '',
    ' ',
    '[1]]',
    '1,2',
    '{a:[1,2,3]}',
    '{"a":[1,2,3]"b":1}',
  ])('%s is none, wherever it is cut', async (text) => {
    for (let part = 1; part <= text.length + 1; part += 1) expect(await parsed(text, part)).toEqual(expected(text))
  })

  test('may begin with a byte order mark, and have none elsewhere', async () => {
    for (const part of [1, 3, 100]) {
      expect(await parsed('\ufeff[1,[2,3]]', part)).toEqual({ value: [1, [2, 3]] })
      for (const text of ['[\ufeff1,[2,3]]', '[1,\ufeff[2,3]]', '\ufeff\ufeff[1]'])
        expect(await parsed(text, part)).toEqual({ error: expect.objectContaining({ code: 'invalid' }) })
    }
  })

  test('has no object with more than ten thousand names', async () => {
    const object = (names: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: names }, (_, at) => [at, []])))
    const text = `[${object(10_000)},[${object(10_000)}],"{"]`
    expect(await parsed(text, 1000)).toEqual(expected(text))
    expect(await parsed(JSON.stringify([{ a: Array(20_000).fill(0) }]), 1000)).toHaveProperty('value')
    expect(await parsed(`{"a":[1,${object(10_001)}]}`, 1000)).toMatchObject({
      error: { details: [{ message: 'An object of the body has more than 10000 names' }] },
    })
  })

  test('that is not UTF-8 is refused', async () => {
    const bytes = Uint8Array.of(...bytesOf('["'), 0xc3, ...bytesOf('",1]'))
    for (const part of [1, 3, 100]) {
      expect(await parsed(bytes, part)).toMatchObject({ error: { details: [{ message: 'The body is not UTF-8' }] } })
    }
  })

  test('lets other work go on meanwhile', async () => {
    const text = JSON.stringify(Array.from({ length: 1000 }, (_, index) => ({ index, more: [{ index }] })))
    let turns = 0
    const count = () => {
      turns += 1
      immediate = setImmediate(count)
    }
    let immediate = setImmediate(count)
    await parsed(text, 1000)
    clearImmediate(immediate)
    expect(turns).toBeGreaterThan(text.length / 1000 / 2)
  })
})
