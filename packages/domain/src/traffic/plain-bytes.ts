/** Bytes that are marked at a time, and how many of them may come from before: a beginning of a line. */
export const MARKED = 64 * 1024

/** By byte: 1 for what stands for itself in a JSON string. */
export const PLAIN = new Uint8Array(256).fill(1, 0x20)
PLAIN[0x22] = 0
PLAIN[0x5c] = 0

/**
 * Memory of one WebAssembly module, in which sixteen bytes at a time are looked at for those that are not plain. Reading
 * goes from one mark to the next, instead of from byte to byte. All readings of a thread share it, one after the other.
 */
export type MarkedBytes = {
  /** Room for twice `MARKED` bytes, and some more: to look at what follows the last one is no error. */
  bytes: Uint8Array
  /** Marks the bytes between `from` and `to`, as they are now; the one at `to` becomes a zero. */
  mark(from: number, to: number): void
}

/** Where the marks begin in the memory, behind the bytes. */
const MARKS_AT = 3 * MARKED
/** Each byte may be one to mark, in a word. */
const PAGES = (MARKS_AT + 4 * 3 * MARKED) / (64 * 1024)

/** Positions of the bytes that are not plain, in order; the last one is the end. */
let marks = new Int32Array(0)
/** Of the mark that is looked at. */
let mark = 0

/** Undefined where there is no WebAssembly, or one without vectors: then bytes are looked at one by one. */
export const MARKED_BYTES = openMarkedBytes()

const markedBytes = MARKED_BYTES?.bytes

/** Position of the first byte from `at` on that is not plain, or `end`, up to which the bytes reach. */
export function plainEnd(bytes: Uint8Array, at: number, end: number): number {
  if (bytes === markedBytes) {
    while (mark > 0 && (marks[mark - 1] as number) >= at) mark -= 1
    while ((marks[mark] as number) < at) mark += 1
    return marks[mark] as number
  }
  let index = at
  while (index < end && PLAIN[bytes[index] as number] === 1) index += 1
  return index
}

// --- The module -------------------------------------------------------------------------------------------------------

/** What there is of WebAssembly in every runtime. */
type Runtime = {
  validate(code: Uint8Array): boolean
  Module: new (code: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}
type Exports = { memory: { buffer: ArrayBuffer }; mark(from: number, to: number, out: number): number }

function openMarkedBytes(): MarkedBytes | undefined {
  const { WebAssembly } = globalThis as { WebAssembly?: Runtime }
  const code = moduleCode()
  if (!WebAssembly?.validate(code)) return undefined
  const exports = new WebAssembly.Instance(new WebAssembly.Module(code)).exports as Exports
  const bytes = new Uint8Array(exports.memory.buffer, 0, MARKS_AT)
  marks = new Int32Array(exports.memory.buffer, MARKS_AT)
  return {
    bytes,
    mark(from, to) {
      bytes[to] = 0
      exports.mark(from, to + 1, MARKS_AT)
      mark = 0
    },
  }
}

/**
 * The code of the module, an instruction a line, by the numbers of the WebAssembly specification:
 *
 * ```c
 * int32_t *mark(uint8_t *from, uint8_t *to, int32_t *out) {
 *   do {
 *     v128 bytes = load(from)
 *     for (int mask = bitmask(bytes == '"' | bytes == '\\' | bytes < ' '); mask != 0; mask &= mask - 1)
 *       *out++ = from + ctz(mask)
 *     from += 16
 *   } while (from < to)
 *   return out
 * }
 * ```
 */
function moduleCode(): Uint8Array {
  const [from, to, out, mask, bytes] = [0, 1, 2, 3, 4]
  const [i32, v128, empty] = [0x7f, 0x7b, 0x40]
  const [loop, when, end, branchIf] = [0x03, 0x04, 0x0b, 0x0d]
  const get = (local: number) => [0x20, local]
  const set = (local: number) => [0x21, local]
  const tee = (local: number) => [0x22, local]
  const constant = (value: number) => [0x41, value]
  const [less, countTrailingZeros, add, subtract, and] = [0x49, 0x68, 0x6a, 0x6b, 0x71]
  const store = [0x36, 2, 0]
  const vector = (instruction: number) => [0xfd, ...number(instruction)]
  const load = [...vector(0), 0, 0]
  const splat = (byte: number) => [...vector(12), ...new Array<number>(16).fill(byte)]
  const [equalBytes, lessBytes, or, bitmask] = [vector(35), vector(38), vector(80), vector(100)]

  const body = [
    [loop, empty],
    [get(from), load, tee(bytes)],
    [splat(0x22), equalBytes],
    [get(bytes), splat(0x5c), equalBytes, or],
    [get(bytes), splat(0x20), lessBytes, or],
    [bitmask, tee(mask)],
    [when, empty],
    [loop, empty],
    [get(out), get(from), get(mask), countTrailingZeros, add, store],
    [get(out), constant(4), add, set(out)],
    [get(mask), get(mask), constant(1), subtract, and, tee(mask)],
    [branchIf, 0],
    [end, end],
    [get(from), constant(16), add, tee(from)],
    [get(to), less, branchIf, 0],
    [end],
    [get(out), end],
  ].flat(2)
  const locals = [2, 1, i32, 1, v128]
  const section = (id: number, content: number[]) => [id, ...number(content.length), ...content]
  const name = (text: string) => [text.length, ...Array.from(text, (character) => character.charCodeAt(0))]
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 3, i32, i32, i32, 1, i32]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, ...number(PAGES)]),
    ...section(7, [2, ...name('memory'), 2, 0, ...name('mark'), 0, 0]),
    ...section(10, [1, ...number(locals.length + body.length), ...locals, ...body]),
  ])
}

/** A number as the module has them: seven bits a byte, the lowest first. */
function number(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...number(value >>> 7)]
}
