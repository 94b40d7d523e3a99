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
      MARKED_BYTES.mark(shift, shift + end)
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
  const { bytes, mark } = MARKED_BYTES
  for (const byte of [0x22, 0x61]) {
    bytes.fill(byte, 0, 2 * MARKED)
    mark(0, 2 * MARKED)
    expect(plainEnd(bytes, 2 * MARKED - 1, 2 * MARKED)).toBe(byte === 0x22 ? 2 * MARKED - 1 : 2 * MARKED)
    expect(bytes[0]).toBe(byte)
    expect(bytes[2 * MARKED - 1]).toBe(byte)
  }
})
