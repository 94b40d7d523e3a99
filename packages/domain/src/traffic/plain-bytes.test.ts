import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { MARKED, MARKED_BYTES, plainEnd } from './plain-bytes.ts'

const ending = fc.constantFrom(0x22, 0x5c, 0x00, 0x0a, 0x1f)
const any = fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 0, max: 255 }) }, { weight: 1, arbitrary: ending })
const text = fc.oneof(
  fc.array(any, { maxLength: 200 }),
  fc.array(ending, { maxLength: 100 }),
  fc.array(fc.constantFrom(0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xff), { maxLength: 200 }),
)

test('this runtime marks bytes, so that the tests run with what a server runs with', () => {
  expect(MARKED_BYTES).toBeDefined()
})

test('a run of plain bytes ends at the same byte with marks as without, wherever one looks, forwards and backwards', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 40 }), fc.array(fc.nat(200)), (bytes, shift, places) => {
      if (!MARKED_BYTES) throw new Error('No WebAssembly')
      const plain = Uint8Array.from(bytes)
      const end = plain.length
      MARKED_BYTES.bytes.fill(0x22, shift, shift + end + 40)
      MARKED_BYTES.bytes.set(plain, shift)
      MARKED_BYTES.changed(shift + end)
      for (const place of places) {
        const at = Math.min(place, end)
        const behind = plain.findIndex((byte, index) => index >= at && (byte < 0x20 || byte === 0x22 || byte === 0x5c))
        const wanted = behind < 0 ? end : behind
        expect(plainEnd(MARKED_BYTES.bytes, shift + at, shift + end) - shift).toBe(wanted)
        expect(plainEnd(plain, at, end)).toBe(wanted)
      }
    }),
  )
})

test('all of the memory can be marked, whatever is in it', () => {
  if (!MARKED_BYTES) throw new Error('No WebAssembly')
  const { bytes, changed } = MARKED_BYTES
  for (const byte of [0x22, 0x61]) {
    bytes.fill(byte, 0, 2 * MARKED)
    changed(2 * MARKED)
    plainEnd(bytes, 0, 2 * MARKED)
    expect(plainEnd(bytes, 2 * MARKED - 1, 2 * MARKED)).toBe(byte === 0x22 ? 2 * MARKED - 1 : 2 * MARKED)
    expect(bytes[0]).toBe(byte)
    expect(bytes[2 * MARKED - 1]).toBe(byte)
  }
})

const plainText = fc.string({ maxLength: 70 }).filter((value) => JSON.stringify(value) === `"${value}"`)
const fraction = fc.integer({ min: -99_999, max: 99_999 }).map((value) => value / 100)
const value = fc.oneof(plainText, fc.integer(), fraction, fc.constantFrom(0, true, false, null))
const object = fc.dictionary(plainText, value, { minKeys: 1, maxKeys: 12 })
const colon = fc.constantFrom(':', ': ')
const comma = fc.constantFrom(',', ', ')

/** Writes the object at 100, expects `keys`, and walks. */
function walked(text: string, keys: string[]) {
  if (!MARKED_BYTES) throw new Error('No WebAssembly')
  const bytes = Buffer.from(text)
  MARKED_BYTES.bytes.fill(0x22, 0, 2000)
  MARKED_BYTES.bytes.set(bytes, 100)
  MARKED_BYTES.changed(100 + bytes.length)
  const names = keys.map((key) => Buffer.from(`${JSON.stringify(key)}:`))
  const ends = names.map((_, index) => Buffer.concat(names.slice(0, index + 1)).length)
  MARKED_BYTES.expect(Buffer.concat(names), Int32Array.from(ends), keys.length)
  const end = MARKED_BYTES.walk(100)
  const { values } = MARKED_BYTES
  const pieces = keys.map((_, key) => bytes.subarray((values[2 * key] ?? 0) - 100, (values[2 * key + 1] ?? 0) - 100))
  return { end: end === 0 ? 0 : end - 100, values: pieces.map((piece) => piece.toString()) }
}

function written(entries: [string, unknown][], [colon, comma]: [string, string]): string {
  return `{${entries.map(([key, of]) => JSON.stringify(key) + colon + JSON.stringify(of)).join(comma)}}`
}

test('an object with the expected keys is walked, and each value found', () => {
  fc.assert(
    fc.property(object, fc.tuple(colon, comma), plainText, (fields, signs, behind) => {
      const entries = Object.entries(fields)
      const text = written(entries, signs)
      const wanted = { end: Buffer.byteLength(text), values: entries.map(([, of]) => JSON.stringify(of)) }
      const keys = Object.keys(fields)
      expect(walked(text, keys)).toEqual(wanted)
      expect(walked(text + behind, keys)).toEqual(wanted)
    }),
  )
})

test('what is walked is JSON with just these keys, however it is cut or changed', () => {
  const change = fc.tuple(fc.nat(), fc.constantFrom('', '"', ',', '}', ':', '\\', '0', '1', '.', '-', 'e', ' ', '\n'))
  fc.assert(
    fc.property(object, fc.tuple(colon, comma), change, fc.boolean(), (fields, signs, [place, put], isOver) => {
      const text = written(Object.entries(fields), signs)
      const at = 1 + (place % (text.length - 1))
      const changed = text.slice(0, at) + put + text.slice(isOver ? at + 1 : at)
      const keys = Object.keys(fields)
      const { end, values } = walked(changed, keys)
      const { end: cut } = walked(text.slice(0, at), keys)
      expect(cut).toBe(0)
      if (end === 0) return
      const parsed = JSON.parse(Buffer.from(changed).subarray(0, end).toString())
      expect(Object.keys(parsed)).toEqual(keys)
      expect(values.map((of) => JSON.parse(of))).toEqual(Object.values(parsed))
    }),
    { numRuns: 2000 },
  )
})
