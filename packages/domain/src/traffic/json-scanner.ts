import { hashStep, lower, type NameTrie, ROOT, type TrieEntry } from './name-trie.ts'

/** Answers of a scan that is not the end of a value: more bytes are needed; these bytes are no JSON. */
export const MORE = -1
export const WRONG = -2

/** Levels of nesting that a line may have (decisions.md §2). */
const MAX_DEPTH = 32

/** Kinds of captured values. */
export const STRING = 1
/** A string that holds a backslash. */
export const ESCAPED = 2
export const NUMBER = 3

/** The values of one line: for each field where its value lies, of the best name that was there. */
export type Captured = {
  /** `STRING`, `ESCAPED`, `NUMBER`, or 0 for none; by field. */
  kind: Uint8Array
  /** Bytes of the value, strings without their quotes; `to` is exclusive. */
  from: Int32Array
  to: Int32Array
  rank: Uint8Array
}

/**
 * Makes a function that checks and walks one JSON value, and captures the fields that the trie names on its way: no
 * value is built. Numbers, literals, escapes and brackets are checked as JSON has them.
 *
 * @param every field of which every value counts, not the best name alone: `onEvery` is told of each.
 */
export function createJsonScanner(
  trie: NameTrie,
  fields: number,
  every: number,
  onEvery: (bytes: Uint8Array, from: number, to: number) => void,
) {
  const captured: Captured = {
    kind: new Uint8Array(fields),
    from: new Int32Array(fields),
    to: new Int32Array(fields),
    rank: new Uint8Array(fields),
  }
  // By depth: whether it is an object, the trie's node of it, and what a value directly in it stands for.
  const isObject = new Uint8Array(MAX_DEPTH + 2)
  const nodes = new Int32Array(MAX_DEPTH + 2)
  // The keys of the outermost object of the line before, with quotes and colon, and what each stands for: the lines of a
  // log have them in the same order, and to compare one is cheaper than to look it up.
  const memo: { text: Uint8Array; entry: TrieEntry | undefined }[] = []
  let bytes: Uint8Array = new Uint8Array(0)
  let end = 0
  let isEscaped = false

  function isAt(text: Uint8Array, at: number): boolean {
    if (at + text.length > end) return false
    for (let index = 0; index < text.length; index += 1) {
      if (bytes[at + index] !== text[index]) return false
    }
    return true
  }

  /** Position after the string that began before `at`. */
  function skipString(at: number): number {
    isEscaped = false
    let index = at
    for (;;) {
      while (index < end && PLAIN[bytes[index] as number] === 1) index += 1
      if (index >= end) return MORE
      const byte = bytes[index] as number
      if (byte === 0x22) return index + 1
      if (byte !== 0x5c) return WRONG
      isEscaped = true
      index += 1
      if (index >= end) return MORE
      const letter = bytes[index] as number
      if (letter === 0x75) {
        for (let digit = 1; digit <= 4; digit += 1) {
          if (index + digit >= end) return MORE
          if (!isHex(bytes[index + digit] as number)) return WRONG
        }
        index += 4
      } else if (ESCAPES[letter] !== 1) return WRONG
      index += 1
    }
  }

  /** Position after the number at `at`. */
  function skipNumber(at: number, isFinal: boolean): number {
    let index = at
    if (bytes[index] === 0x2d) index += 1
    if (index >= end) return isFinal ? WRONG : MORE
    if (bytes[index] === 0x30) index += 1
    else {
      const first = index
      while (index < end && isDigit(bytes[index] as number)) index += 1
      if (index === first) return WRONG
    }
    if (index < end && bytes[index] === 0x2e) {
      const first = index + 1
      index = first
      while (index < end && isDigit(bytes[index] as number)) index += 1
      if (index === first) return index < end || isFinal ? WRONG : MORE
    }
    if (index < end && ((bytes[index] as number) | 0x20) === 0x65) {
      index += 1
      if (index < end && (bytes[index] === 0x2b || bytes[index] === 0x2d)) index += 1
      const first = index
      while (index < end && isDigit(bytes[index] as number)) index += 1
      if (index === first) return index < end || isFinal ? WRONG : MORE
    }
    // A number that ends with the bytes may go on with the next ones.
    return index < end || isFinal ? index : MORE
  }

  function skipLiteral(at: number): number {
    const literal = bytes[at] === 0x74 ? TRUE : bytes[at] === 0x66 ? FALSE : NULL
    for (let index = 0; index < literal.length; index += 1) {
      if (at + index >= end) return MORE
      if (bytes[at + index] !== literal[index]) return WRONG
    }
    return at + literal.length
  }

  function capture(entry: number[], kind: number, from: number, to: number): void {
    for (let index = 0; index < entry.length; index += 2) {
      const field = entry[index] as number
      const rank = entry[index + 1] as number
      if (field === every) {
        if (kind === STRING) onEvery(bytes, from, to)
      } else if (captured.kind[field] === 0 || rank < (captured.rank[field] as number)) {
        // An empty text says nothing, and a lesser name may.
        if (to === from) continue
        captured.kind[field] = kind
        captured.from[field] = from
        captured.to[field] = to
        captured.rank[field] = rank
      }
    }
  }

  /**
   * Walks the value that begins at `start` of `source`.
   *
   * @param spaces whether line breaks may stand between tokens.
   * @param isFinal whether nothing follows the `length` bytes.
   * @param onArray asked where an array begins directly in the outermost object, with the key's bytes; true ends the scan
   *   there, after the bracket.
   * @returns the position after the value, `MORE` or `WRONG`.
   */
  function scan(
    source: Uint8Array,
    start: number,
    length: number,
    spaces: boolean,
    isFinal: boolean,
    onArray?: (from: number, to: number) => boolean,
  ): number {
    bytes = source
    end = length
    for (let field = 0; field < fields; field += 1) captured.kind[field] = 0
    let keys = 0
    const newline = spaces ? 0x0a : 0x20
    let depth = 0
    let at = start
    let keyFrom = 0
    let keyTo = 0
    // What the value that comes next stands for: its fields, and the node beneath.
    let fieldsHere = NONE
    let child = ROOT
    for (;;) {
      // A value.
      while (at < end && isSpace(bytes[at] as number, newline)) at += 1
      if (at >= end) return MORE
      const first = bytes[at] as number
      let opened = false
      if (first === 0x22) {
        const after = skipString(at + 1)
        if (after < 0) return after
        if (fieldsHere !== NONE) capture(fieldsHere, isEscaped ? ESCAPED : STRING, at + 1, after - 1)
        at = after
      } else if (first === 0x7b || first === 0x5b) {
        if (first === 0x5b && depth === 1 && isObject[1] === 1 && onArray?.(keyFrom, keyTo)) return at + 1
        depth += 1
        if (depth > MAX_DEPTH) return WRONG
        isObject[depth] = first === 0x7b ? 1 : 0
        nodes[depth] = child
        at += 1
        opened = true
      } else if (first === 0x2d || isDigit(first)) {
        const after = skipNumber(at, isFinal)
        if (after < 0) return after
        if (fieldsHere !== NONE) capture(fieldsHere, NUMBER, at, after)
        at = after
      } else if (first === 0x74 || first === 0x66 || first === 0x6e) {
        at = skipLiteral(at)
        if (at < 0) return at
      } else return WRONG

      // What follows it, up to where the next value begins.
      for (;;) {
        if (depth === 0) return at
        while (at < end && isSpace(bytes[at] as number, newline)) at += 1
        if (at >= end) return MORE
        const byte = bytes[at] as number
        const inObject = isObject[depth] === 1
        if (byte === (inObject ? 0x7d : 0x5d)) {
          depth -= 1
          at += 1
          opened = false
          fieldsHere = NONE
          continue
        }
        if (!opened) {
          if (byte !== 0x2c) return WRONG
          at += 1
          while (at < end && isSpace(bytes[at] as number, newline)) at += 1
          if (at >= end) return MORE
        }
        if (!inObject) {
          // Items of an array stand for what the array stands for, which is still at hand in the outermost ones.
          child = 0
          break
        }
        // A key.
        if (bytes[at] !== 0x22) return WRONG
        if (depth === 1) {
          const known = memo[keys]
          keys += 1
          if (known && isAt(known.text, at)) {
            keyFrom = at + 1
            keyTo = at + known.text.length - 2
            at += known.text.length
            fieldsHere = known.entry ? known.entry.fields : NONE
            child = known.entry ? known.entry.child : 0
            break
          }
        }
        const node = nodes[depth] as number
        keyFrom = at + 1
        let index = keyFrom
        let hash = 0
        if (node !== 0) {
          hash = trie.seed(node)
          for (; index < end; index += 1) {
            const character = bytes[index] as number
            if (PLAIN[character] !== 1) break
            hash = hashStep(hash, lower(character))
          }
        }
        const after = skipString(index)
        if (after < 0) return after
        keyTo = after - 1
        const entry = node === 0 || isEscaped ? undefined : trie.find(node, hash, bytes, keyFrom, keyTo)
        fieldsHere = entry ? entry.fields : NONE
        child = entry ? entry.child : 0
        // Only a key whose colon follows at once is remembered, and only of so many.
        if (depth === 1 && keys <= MAX_MEMO && after < end && bytes[after] === 0x3a && !isEscaped) {
          memo[keys - 1] = { text: bytes.slice(keyFrom - 1, after + 1), entry }
        }
        at = after
        while (at < end && isSpace(bytes[at] as number, newline)) at += 1
        if (at >= end) return MORE
        if (bytes[at] !== 0x3a) return WRONG
        at += 1
        break
      }
    }
  }

  return { captured, scan }
}

/** Keys of a line that are remembered. */
const MAX_MEMO = 64

const NONE: number[] = []
const TRUE = [0x74, 0x72, 0x75, 0x65]
const FALSE = [0x66, 0x61, 0x6c, 0x73, 0x65]
const NULL = [0x6e, 0x75, 0x6c, 0x6c]

/** By byte: 1 for what may follow a backslash, but for `u`. */
const ESCAPES = new Uint8Array(256)
for (const character of '"\\/bfnrt') ESCAPES[character.charCodeAt(0)] = 1

/** By byte: 1 for what stands for itself in a string. */
const PLAIN = new Uint8Array(256).fill(1, 0x20)
PLAIN[0x22] = 0
PLAIN[0x5c] = 0

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function isHex(byte: number): boolean {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
}

function isSpace(byte: number, newline: number): boolean {
  return byte === 0x20 || byte === newline || byte === 0x09 || byte === 0x0d
}
