/** What the code below exports; positions are those in its memory. */
export type MarkedBytesCode = {
  memory: { buffer: ArrayBuffer }
  /**
   * Writes to `out` the positions from `from` to before `to` of the bytes that are a quote, a backslash or less than a space;
   * of up to fifteen more that follow, too.
   *
   * @returns where it ended to write.
   */
  mark(from: number, to: number, out: number): number
  /**
   * Walks the JSON object behind whose bracket `at` is, if it has these keys in this order, and no object, array, escape or
   * exponent in it, and writes to `out` from where to where each value goes. The bytes have to end with a zero. White
   * space may be one space before a key and one before a value.
   *
   * @param keys for each key: bytes of it, bytes of this entry, eight bytes of nothing, and then in turn sixteen bytes of the
   *   key, with its quotes and colon, and sixteen that have all bits set where the key has a byte.
   * @param last where the keys end.
   * @returns the position after the object; 0 where it is something else, or not all there.
   */
  walk(at: number, keys: number, last: number, out: number): number
}

/**
 * A WebAssembly module with so many pages of memory, by the numbers of its specification, so that nothing has to be built:
 * sixteen bytes are looked at at once, and no index is checked.
 */
export function markedBytesCode(pages: number): Uint8Array {
  const section = (id: number, content: number[]) => [id, ...numberOf(content.length), ...content]
  const name = (text: string) => [text.length, ...asciiOf(text)]
  const functions = [markCode(), walkCode()].flatMap((code) => [...numberOf(code.length), ...code])
  return Uint8Array.from([
    ...[0, ...asciiOf('asm'), 1, 0, 0, 0],
    ...section(1, [2, 0x60, 3, I32, I32, I32, 1, I32, 0x60, 4, I32, I32, I32, I32, 1, I32]),
    ...section(3, [2, 0, 1]),
    ...section(5, [1, 0, ...numberOf(pages)]),
    ...section(7, [3, ...name('memory'), 2, 0, ...name('mark'), 0, 0, ...name('walk'), 0, 1]),
    ...section(10, [2, ...functions]),
  ])
}

/** A number as a module has them: seven bits a byte, the lowest first. */
function numberOf(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...numberOf(value >>> 7)]
}

const asciiOf = (text: string) => Array.from(text, (character) => character.charCodeAt(0))

const [I32, V128, EMPTY] = [0x7f, 0x7b, 0x40]
const LOOP = [0x03, EMPTY]
const IF = [0x04, EMPTY]
const ELSE = [0x05]
const END = [0x0b]
/** To the beginning of the loop that is so many blocks further out. */
const again = (depth: number) => [0x0c, depth]
const againIf = (depth: number) => [0x0d, depth]
const RETURN_0 = [0x41, 0, 0x0f]
const SELECT = 0x1b

const get = (local: number) => [0x20, local]
const set = (local: number) => [0x21, local]
const tee = (local: number) => [0x22, local]
const load = [0x28, 0, 0]
const loadByte = (offset = 0) => [0x2d, 0, offset]
const store = (offset = 0) => [0x36, 0, offset]
const constant = (value: number) => [0x41, ...signed(value)]
const code = (text: string) => constant(text.charCodeAt(0))
/** Four characters as the number that they are in memory. */
const word = (text: string) => constant(asciiOf(text).reduceRight((sum, byte) => sum * 256 + byte, 0))
const [IS_ZERO, EQUAL, DIFFERENT, LESS, GREATER] = [0x45, 0x46, 0x47, 0x49, 0x4b]
const [COUNT_TRAILING_ZEROS, ADD, SUBTRACT, AND, OR] = [0x68, 0x6a, 0x6b, 0x71, 0x72]

const vector = (instruction: number) => [0xfd, ...numberOf(instruction)]
const loadVector = (offset = 0) => [...vector(0), 0, offset]
const splat = (text: string) => [...vector(12), ...new Array<number>(16).fill(text.charCodeAt(0))]
const [EQUAL_BYTES, LESS_BYTES] = [vector(35), vector(38)]
const [AND_VECTORS, OR_VECTORS, XOR_VECTORS] = [vector(78), vector(80), vector(81)]
const [ANY_TRUE, BITMASK] = [vector(83), vector(100)]

/** A number whose last seven bits have its sign. */
function signed(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)]
}

/** Leaves a number with a bit for each byte of the vector on top that is a quote, a backslash or less than a space. */
const endsOfText = (bytes: number) => [
  [get(bytes), splat('"'), EQUAL_BYTES],
  [get(bytes), splat('\\'), EQUAL_BYTES, OR_VECTORS],
  [get(bytes), splat(' '), LESS_BYTES, OR_VECTORS],
  [BITMASK],
]

function markCode(): number[] {
  const [from, to, out, mask, bytes] = [0, 1, 2, 3, 4]
  return [
    [2, 1, I32, 1, V128],
    [LOOP],
    [get(from), loadVector(), set(bytes)],
    ...endsOfText(bytes),
    [tee(mask), IF, LOOP],
    [get(out), get(from), get(mask), COUNT_TRAILING_ZEROS, ADD, store()],
    [get(out), constant(4), ADD, set(out)],
    // Without its lowest bit.
    [get(mask), get(mask), constant(1), SUBTRACT, AND, tee(mask), againIf(0)],
    [END, END],
    [get(from), constant(16), ADD, tee(from), get(to), LESS, againIf(0)],
    [END],
    [get(out), END],
  ].flat(2)
}

function walkCode(): number[] {
  const [at, keys, last, out, next, place, mask, bytes] = [0, 1, 2, 3, 4, 5, 6, 7]
  const skip = (count: number) => [get(at), constant(count), ADD, set(at)]
  const skipSpace = [get(at), get(at), loadByte(), code(' '), EQUAL, ADD, set(at)]
  const skipDigits = [
    [get(at), loadByte(), code('0'), SUBTRACT, constant(9), GREATER, IF, RETURN_0, END],
    [LOOP, skip(1)].flat(),
    [get(at), loadByte(), code('0'), SUBTRACT, constant(10), LESS, againIf(0), END],
  ]
  return [
    [2, 3, I32, 1, V128],
    [LOOP],
    skipSpace,

    // The key.
    [get(at), set(place)],
    [get(at), get(keys), load, ADD, set(at)],
    [get(keys), get(keys), constant(4), ADD, load, ADD, set(next)],
    [get(keys), constant(16), ADD, set(keys)],
    [LOOP],
    [get(place), loadVector(), get(keys), loadVector(), XOR_VECTORS, get(keys), loadVector(16), AND_VECTORS],
    [ANY_TRUE, IF, RETURN_0, END],
    [get(place), constant(16), ADD, set(place)],
    [get(keys), constant(32), ADD, tee(keys), get(next), LESS, againIf(0)],
    [END],
    skipSpace,
    [get(out), get(at), store()],

    // A text.
    [get(at), loadByte(), code('"'), EQUAL, IF],
    skip(1),
    [LOOP],
    [get(at), loadVector(), set(bytes)],
    ...endsOfText(bytes),
    [tee(mask), IS_ZERO, IF, ...skip(16), again(1), END],
    [END],
    [get(at), get(mask), COUNT_TRAILING_ZEROS, ADD, tee(at), loadByte(), code('"'), DIFFERENT, IF, RETURN_0, END],
    skip(1),
    [ELSE],

    // A literal.
    [get(at), load, tee(mask), word('true'), EQUAL, get(mask), word('null'), EQUAL, OR, IF],
    skip(4),
    [ELSE],
    [get(mask), word('fals'), EQUAL, get(at), loadByte(4), code('e'), EQUAL, AND, IF],
    skip(5),
    [ELSE],

    // A number.
    [get(at), get(at), loadByte(), code('-'), EQUAL, ADD, tee(at), loadByte(), code('0'), EQUAL, IF],
    skip(1),
    [ELSE],
    ...skipDigits,
    [END],
    [get(at), loadByte(), code('.'), EQUAL, IF],
    skip(1),
    ...skipDigits,
    [END],
    [END, END, END],

    // What follows it.
    [get(out), get(at), store(4)],
    [get(out), constant(8), ADD, set(out)],
    [code(','), code('}'), get(keys), get(last), LESS, SELECT],
    [get(at), loadByte(), DIFFERENT, IF, RETURN_0, END],
    skip(1),
    [get(keys), get(last), LESS, againIf(0)],
    [END],
    [get(at), END],
  ].flat(3)
}
