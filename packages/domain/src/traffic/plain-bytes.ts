import { type MarkedBytesCode, markedBytesCode } from './marked-bytes-code.ts'

/** Bytes that are looked at at a time, and how many of them may come from before: a beginning of a line. */
export const MARKED = 64 * 1024

/** By byte: 1 for what stands for itself in a JSON string. */
export const PLAIN = new Uint8Array(256).fill(1, 0x20)
PLAIN[0x22] = 0
PLAIN[0x5c] = 0

/**
 * Memory of one WebAssembly module, in which sixteen bytes are looked at at a time. All readings of a thread share it, one
 * after the other.
 */
export type MarkedBytes = {
  /** Room for twice `MARKED` bytes, and some more: to look at what follows the last one is no error. */
  bytes: Uint8Array
  /** To be called whenever the bytes have changed, with how far they reach; the one at `end` becomes a zero. */
  changed(end: number): void
  /**
   * What `walk` looks for: the bytes of all keys, with quotes and colon, and where each one of the `count` ends. There may be
   * `MAX_KEYS` of `MAX_KEY_BYTES` in all.
   */
  expect(keys: Uint8Array, ends: Int32Array, count: number): void
  /**
   * Checks and walks the object at `at`, if it has just the expected keys, in order, no object, array or escape in it, and no
   * number with an exponent.
   *
   * @returns the position after it; 0 where it is something else, or not all there.
   */
  walk(at: number): number
  /** Of the object that was walked last: where each key's value begins and ends, texts with their quotes. */
  values: Int32Array
}

/** Keys that can be expected, and bytes of them. */
export const MAX_KEYS = 64
export const MAX_KEY_BYTES = 4096

const PAGE = 64 * 1024
const BYTES = 3 * MARKED
/** Behind the bytes: the keys, see `MarkedBytesCode`, and the values. */
const KEYS_AT = BYTES
const VALUES_AT = KEYS_AT + MAX_KEYS * (16 + 32) + 2 * MAX_KEY_BYTES
/** The marks: positions of the bytes that are not plain, in order. Each byte may be one. */
const MARKS_AT = BYTES + PAGE
const PAGES = (MARKS_AT + 4 * BYTES) / PAGE

let code: MarkedBytesCode | undefined
let marks = new Int32Array(0)
/** The bytes are marked from here on, up to `markedTo`; none are, if it lies behind them. */
let markedFrom = 0
let markedTo = 0
/** Of the mark that is looked at. */
let mark = 0

/** Undefined where there is no WebAssembly, or one without vectors: then bytes are looked at one by one. */
export const MARKED_BYTES = openMarkedBytes()

const markedBytes = MARKED_BYTES?.bytes

/** Position of the first byte from `at` on that is not plain, or `end`, up to which the bytes reach. */
export function plainEnd(bytes: Uint8Array, at: number, end: number): number {
  if (bytes === markedBytes) {
    if (at < markedFrom) markFrom(at)
    while (mark > 0 && (marks[mark - 1] as number) >= at) mark -= 1
    while ((marks[mark] as number) < at) mark += 1
    return marks[mark] as number
  }
  let index = at
  while (index < end && PLAIN[bytes[index] as number] === 1) index += 1
  return index
}

/** Marks are made when they are asked for: objects that look alike are walked without. */
function markFrom(at: number): void {
  code?.mark(at, markedTo + 1, MARKS_AT)
  markedFrom = at
  mark = 0
}

/** What there is of WebAssembly in every runtime. */
type Runtime = {
  validate(code: Uint8Array): boolean
  Module: new (code: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

function openMarkedBytes(): MarkedBytes | undefined {
  const { WebAssembly } = globalThis as { WebAssembly?: Runtime }
  const module = markedBytesCode(PAGES)
  if (!WebAssembly?.validate(module)) return undefined
  const exports = new WebAssembly.Instance(new WebAssembly.Module(module)).exports as MarkedBytesCode
  const { buffer } = exports.memory
  const bytes = new Uint8Array(buffer, 0, BYTES)
  const memory = new DataView(buffer)
  const { walk } = exports
  let keysEnd = KEYS_AT
  code = exports
  marks = new Int32Array(buffer, MARKS_AT)
  return {
    bytes,
    values: new Int32Array(buffer, VALUES_AT, 2 * MAX_KEYS),
    changed(end) {
      bytes[end] = 0
      markedFrom = end + 1
      markedTo = end
    },
    expect(keys, ends, count) {
      let at = KEYS_AT
      let from = 0
      for (const to of ends.subarray(0, count)) {
        const blocks = Math.ceil((to - from) / 16)
        const size = 16 + 32 * blocks
        new Uint8Array(buffer, at, size).fill(0)
        memory.setInt32(at, to - from, true)
        memory.setInt32(at + 4, size, true)
        for (let index = 0; from + index < to; index += 1) {
          const place = at + 16 + 32 * (index >>> 4) + (index & 15)
          memory.setUint8(place, keys[from + index] as number)
          memory.setUint8(place + 16, 0xff)
        }
        at += size
        from = to
      }
      keysEnd = at
    },
    walk: (at) => walk(at + 1, KEYS_AT, keysEnd, VALUES_AT),
  }
}
