import { hashStep, ITEM_NAME, ITEM_VALUE, lower, type NameTrie, ROOT, type TrieEntry } from './name-trie.ts'
import { MARKED_BYTES, MAX_KEY_BYTES, MAX_KEYS, type MarkedBytes, PLAIN, plainEnd } from './plain-bytes.ts'

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
 * value is built. Numbers, literals, escapes and brackets are checked as JSON has them. One of it in a thread is enough,
 * and no more than one may be there: there is one expectation of `MarkedBytes`.
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
  // The keys of the outermost object of the line before, with quotes and colon, one after the other, and what each stands
  // for: the lines of a log have them in the same order, and to compare one is cheaper than to look it up.
  const memo = new Uint8Array(MAX_KEY_BYTES)
  const memoWords = new DataView(memo.buffer)
  const memoEnds = new Int32Array(MAX_KEYS)
  const memoEntries: (TrieEntry | undefined)[] = []
  let memoCount = 0
  // Whether these keys are the expected ones of the marked bytes, and which of them name a field.
  let isExpected = false
  const wanted: number[] = []
  let bytes: Uint8Array = new Uint8Array(0)
  let end = 0
  let isEscaped = false
  // What the last name of a list's item stands for.
  let item: TrieEntry | undefined

  /** Position after the remembered key of this number, which is at `at`, or 0 if it is not. */
  function skipMemo(key: number, at: number): number {
    const last = memoEnds[key] as number
    let place = key === 0 ? 0 : (memoEnds[key - 1] as number)
    let index = at
    if (at + last - place > end) return 0
    if (markedWords && bytes === markedBytes) {
      for (; place + WORD < last; place += WORD) {
        if (markedWords.getInt32(index) !== memoWords.getInt32(place)) return 0
        index += WORD
      }
      // The last word begins in the middle of the one before it.
      index += last - place
      return markedWords.getInt32(index - WORD) === memoWords.getInt32(last - WORD) ? index : 0
    }
    for (; place < last; place += 1) {
      if (bytes[index] !== memo[place]) return 0
      index += 1
    }
    return index
  }

  /** Remembers the key of this number, with quotes and colon; those behind it stood in another line. */
  function remember(key: number, from: number, to: number, entry: TrieEntry | undefined): void {
    if (key > memoCount) return
    const place = key === 0 ? 0 : (memoEnds[key - 1] as number)
    isExpected = false
    memoCount = key
    if (key === MAX_KEYS || place + to - from > MAX_KEY_BYTES || to - from < WORD) return
    memo.set(bytes.subarray(from, to), place)
    memoEnds[key] = place + to - from
    memoEntries[key] = entry
    memoCount = key + 1
  }

  /** Position after the string that began before `at`. */
  function skipString(at: number): number {
    isEscaped = false
    let index = at
    for (;;) {
      index = plainEnd(bytes, index, end)
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

  /** A name and a value of a list's item: the name comes first. */
  function captureItem(part: number, node: number, kind: number, from: number, to: number): void {
    if (part === ITEM_VALUE) {
      if (item) capture(item.fields, kind, from, to)
      item = undefined
    } else if (part === ITEM_NAME && kind === STRING) {
      let hash = trie.seed(node)
      for (let index = from; index < to; index += 1) hash = hashStep(hash, lower(bytes[index] as number))
      item = trie.find(node, hash, bytes, from, to)
    }
  }

  function capture(entry: number[], kind: number, from: number, to: number): void {
    for (let index = 0; index < entry.length; index += 2) {
      const field = entry[index] as number
      const rank = entry[index + 1] as number
      if (field < 0) captureItem(field, rank, kind, from, to)
      else if (field === every) {
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

  /** Lets objects with the remembered keys be walked at once, as most lines of most logs are: in half the time. */
  function expectAlike(marked: MarkedBytes): void {
    marked.expect(memo, memoEnds, memoCount)
    wanted.length = 0
    for (let key = 0; key < memoCount; key += 1) if (memoEntries[key]) wanted.push(key)
    isExpected = true
  }

  /** Captures from what was walked at once. */
  function captureAlike(values: Int32Array): void {
    for (const key of wanted) {
      const { fields } = memoEntries[key] as TrieEntry
      const from = values[2 * key] as number
      const to = values[2 * key + 1] as number
      const first = bytes[from] as number
      if (first === 0x22) capture(fields, STRING, from + 1, to - 1)
      else if (first === 0x2d || isDigit(first)) capture(fields, NUMBER, from, to)
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
    if (isExpected && MARKED_BYTES && source === markedBytes && source[start] === 0x7b) {
      const after = MARKED_BYTES.walk(start)
      if (after > 0) {
        captureAlike(MARKED_BYTES.values)
        return after
      }
    }
    let isFlat = true
    let isKnown = true
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
        if (depth > 1) isFlat = false
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
        if (depth === 0) {
          // Two lines in a row that look alike will not be the only ones.
          if (MARKED_BYTES && !isExpected && isFlat && isKnown && keys > 0 && keys === memoCount)
            expectAlike(MARKED_BYTES)
          return at
        }
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
          child = trie.isItem(nodes[depth] as number) ? (nodes[depth] as number) : 0
          item = undefined
          break
        }
        // A key.
        if (bytes[at] !== 0x22) return WRONG
        if (depth === 1) {
          const behind = keys < memoCount ? skipMemo(keys, at) : 0
          keys += 1
          if (behind > 0) {
            const entry = memoEntries[keys - 1]
            keyFrom = at + 1
            keyTo = behind - 2
            at = behind
            fieldsHere = entry ? entry.fields : NONE
            child = entry ? entry.child : 0
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
        // Only a key whose colon follows at once is remembered.
        if (depth === 1) isKnown = false
        if (depth === 1 && after < end && bytes[after] === 0x3a && !isEscaped) {
          remember(keys - 1, keyFrom - 1, after + 1, entry)
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

  /** Position after the text that goes on at `at`, `MORE` or `WRONG`. */
  function skipText(source: Uint8Array, at: number, length: number): number {
    bytes = source
    end = length
    return skipString(at)
  }

  return { captured, scan, skipText }
}

/** Bytes that are compared at a time, where they are the marked ones. */
const WORD = 4
const markedBytes = MARKED_BYTES?.bytes
const markedWords = markedBytes && new DataView(markedBytes.buffer)

const NONE: number[] = []
const TRUE = [0x74, 0x72, 0x75, 0x65]
const FALSE = [0x66, 0x61, 0x6c, 0x73, 0x65]
const NULL = [0x6e, 0x75, 0x6c, 0x6c]

/** By byte: 1 for what may follow a backslash, but for `u`. */
const ESCAPES = new Uint8Array(256)
for (const character of '"\\/bfnrt') ESCAPES[character.charCodeAt(0)] = 1

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function isHex(byte: number): boolean {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
}

function isSpace(byte: number, newline: number): boolean {
  return byte === 0x20 || byte === newline || byte === 0x09 || byte === 0x0d
}
