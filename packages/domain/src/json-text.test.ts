import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changesBetween, changesInParts } from './events.ts'
import { jsonInParts, jsonPieces, utf8Length } from './json-text.ts'
import { systemSurroundings } from './memory/surroundings.ts'

/** Data of which some parts are too large to be written at once, wherever they stand. */
const data = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom(
      'é"\\\u2028'.repeat(330_000),
      undefined,
      Array.from({ length: 6000 }, (_, index) => index),
      Array.from({ length: 6000 }, () => undefined),
      Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`k${index}`, index])),
      Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`k${index}`, undefined])),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', '', '7', '__proto__', '"'), tie('value'), { maxKeys: 4 }),
  ),
})).value

test('the length of a text is that of its bytes', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '\0', '\x7f', '\x80', '\u07ff', '\u0800', '日', '\uffff', '🛡️') }),
      (text) => {
        expect(utf8Length(text)).toBe(Buffer.byteLength(text))
      },
    ),
  )
})

describe('the text of JSON data, in pieces', () => {
  test('is what JSON.stringify makes of it', async () => {
    await fc.assert(
      fc.asyncProperty(data, async (value) => {
        const text = JSON.stringify(value) ?? 'null'
        expect((await jsonInParts(systemSurroundings(), value)) === text).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  test('comes in pieces that hold a bounded part of it each', () => {
    const evidence = { files: ['/a'], details: 'x', completed: 1 }
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]))
    const long = Array.from({ length: 1000 }, () => 'x'.repeat(10_000))
    for (const value of [Array.from({ length: 100_000 }, () => evidence), wide, [[[wide]]], { long }]) {
      const pieces = [...jsonPieces(value)]
      expect(pieces.length).toBeGreaterThan(5)
      expect(Math.max(...pieces.map((piece) => piece.split(',').length))).toBeLessThan(5500)
      expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(2_000_000)
    }
  })

  test('of what is small is one piece, for which no turn passes', async () => {
    const nextTurn = () => Promise.reject(new Error('A turn passed'))
    expect(await jsonInParts({ nextTurn }, { a: [1, 'x'] })).toBe('{"a":[1,"x"]}')
  })
})

test('changes that are found in parts are those that are found at once', async () => {
  const record = fc.dictionary(fc.constantFrom('a', 'b', 'c'), data)
  await fc.assert(
    fc.asyncProperty(record, record, async (before, after) => {
      for (const later of [after, { ...before, a: after.a }]) {
        expect(await changesInParts(systemSurroundings(), before, later)).toEqual(changesBetween(before, later))
      }
    }),
    { numRuns: 20 },
  )
})
