import { DomainError } from '../errors.ts'
import { MORE, WRONG } from './json-scanner.ts'
import { WRAPPERS } from './line-names.ts'
import { LINE, type Reject, readLine, type TrafficLine, walkLine } from './line-reader.ts'
import { MARKED, MARKED_BYTES, type MarkedBytes } from './plain-bytes.ts'
import type { TRAFFIC_SHAPES } from './traffic-upload.ts'

/** Longest line, and longest beginning of a file before its shape is known, in bytes. */
export const MAX_LINE_BYTES = 1024 * 1024

/** Told of every line, in order. */
export type LineSink = {
  accept(line: TrafficLine): void
  /** @param blankRows rows with nothing in them that came before. */
  reject(reject: Reject, blankRows: number): void
}

/** Rows that are looked at for one that is JSON. */
const MAX_UNREADABLE = 100

/** How the lines stand in a file. */
export type TrafficShape = (typeof TRAFFIC_SHAPES)[number]

export type TrafficScanner = {
  /** Takes the next bytes of the file; they may be changed afterwards. @throws DomainError `invalid`. */
  push(bytes: Uint8Array): void
  /** The file is complete. @throws DomainError `invalid`. */
  end(): { shape: TrafficShape }
}

const WRAPPER_KEYS = WRAPPERS.map((key) => Uint8Array.from(key, (character) => character.charCodeAt(0)))

const NO_JSON: Reject = { field: '', reason: 'not JSON' }
const TOO_LONG: Reject = { field: '', reason: `longer than ${MAX_LINE_BYTES} bytes` }

/**
 * Reads a traffic file from its bytes as they come, and tells `sink` what each line says. The shape is told from the
 * bytes (decisions.md §4, Traffic file): an array of lines, an object around one array, one line object, or one JSON value
 * a row. In an array a line that is no JSON makes the whole file none; in rows it is a line that cannot be read. That
 * these are rows at all is shown by a first row that is JSON, or, since a log that was cut begins in the middle of a line, by
 * an object or a text among the first rows.
 *
 * Lines were told of by the time that a file proves to be none, so nothing may be kept before `end`.
 */
export function createTrafficScanner(sink: LineSink): TrafficScanner {
  let mode: 'start' | 'object' | 'items' | 'rows' | 'single' | 'tail' = 'start'
  let shape: TrafficShape = 'rows'
  /** What is being read: the marked bytes, or what is kept. */
  let buffer: Uint8Array = new Uint8Array(0)
  /** What is left between two calls: a beginning of a line, mostly. */
  let kept = new Uint8Array(0)
  let keptLength = 0
  let length = 0
  let at = 0
  let isFinal = false
  let lines = 0
  let blankRows = 0
  /** Bytes before the first value. */
  let skipped = 0
  /** Whether an item must come next: after a comma. */
  let afterComma = false
  /** Whether the rest of a row is dropped. */
  let skipping = false
  /** Whether a row has shown that these are rows. */
  let areRows = false
  let firstRowIsObject = false
  let wrapperEnded = false

  /** Each step goes as far as the bytes reach; true if another mode goes on from there. */
  const steps = {
    start(): boolean {
      for (; at < length && (isSpace(buffer[at] as number) || isMark()); at += 1) {
        if (buffer[at] === 0x0a) blankRows += 1
        skipped += 1
      }
      if (at >= length) return false
      const first = buffer[at]
      if (first === 0x5b) {
        shape = 'array'
        mode = 'items'
        at += 1
      } else mode = first === 0x7b ? 'object' : 'rows'
      return true
    },

    /** A first object, which is a line, or has the array of lines. */
    object(): boolean {
      let array = false
      const inside = walkLine(buffer, at, length, true, isFinal, (from, to) => {
        array = WRAPPER_KEYS.some((key) => isSame(key, buffer, from, to))
        return array
      })
      if (inside === WRONG) throw malformed('it is no JSON')
      if (inside === MORE) return tooLong(length - at)
      const after = array ? walkLine(buffer, at, length, true, isFinal) : inside
      if (after === WRONG) throw malformed('it is no JSON')
      if (array) {
        // Where more values follow, it is one row of several after all, which happens to have such an array.
        const isOneOfSeveral = after >= 0 && !buffer.subarray(after, length).every(isSpace)
        if (!isOneOfSeveral && !isFinal && length - at <= MAX_LINE_BYTES) return false
        if (!isOneOfSeveral) {
          shape = 'wrapped array'
          mode = 'items'
          at = inside
          return true
        }
      }
      tell(after)
      shape = 'object'
      firstRowIsObject = true
      mode = 'single'
      at = after
      return true
    },

    items(): boolean {
      for (;;) {
        while (at < length && isSpace(buffer[at] as number)) at += 1
        if (at >= length) return false
        if (buffer[at] === 0x5d && !afterComma) {
          at += 1
          mode = 'tail'
          return true
        }
        const after = walkLine(buffer, at, length, true, isFinal)
        if (after === WRONG) throw malformed('it is no JSON')
        if (after === MORE) return tooLong(length - at)
        let next = after
        while (next < length && isSpace(buffer[next] as number)) next += 1
        if (next >= length) return tooLong(length - at)
        const separator = buffer[next]
        if (separator !== 0x2c && separator !== 0x5d) throw malformed('it is no JSON')
        tooLong(after - at)
        tell(after)
        at = next + 1
        afterComma = separator === 0x2c
        if (!afterComma) {
          mode = 'tail'
          return true
        }
      }
    },

    rows(): boolean {
      for (;;) {
        if (skipping) {
          const end = buffer.subarray(0, length).indexOf(0x0a, at)
          at = end < 0 ? length : end + 1
          if (end < 0) return false
          skipping = false
        }
        for (; at < length && isSpace(buffer[at] as number); at += 1) if (buffer[at] === 0x0a) blankRows += 1
        if (at >= length) return false
        const first = buffer[at]
        const after = walkLine(buffer, at, length, false, isFinal)
        let next = after
        while (next >= 0 && next < length && isBlank(buffer[next] as number)) next += 1
        const isWhole = after >= 0 && (next < length ? buffer[next] === 0x0a : isFinal)
        if (isWhole) {
          if (lines === 0) firstRowIsObject = first === 0x7b
          areRows ||= lines === 0 || first === 0x7b || first === 0x22
          if (after - at > MAX_LINE_BYTES) rejectRow(TOO_LONG)
          else tell(after)
          at = Math.min(next + 1, length)
        } else if (after === WRONG || (after >= 0 && next < length) || isFinal) {
          rejectRow(NO_JSON)
          skipping = true
        } else {
          if (length - at <= MAX_LINE_BYTES) return false
          rejectRow(TOO_LONG)
          skipping = true
        }
      }
    },

    /** After one object: white space alone, or, from a new row on, further rows. */
    single(): boolean {
      for (; at < length; at += 1) {
        const byte = buffer[at] as number
        if (byte === 0x0a) {
          shape = 'rows'
          mode = 'rows'
          areRows = true
          at += 1
          return true
        }
        if (!isBlank(byte)) throw malformed('more than one value stands in a row')
      }
      return false
    },

    /** After the array: white space, and the rest of the object around it. */
    tail(): boolean {
      while (at < length && isSpace(buffer[at] as number)) at += 1
      if (at >= length) return false
      if (shape !== 'wrapped array') throw malformed('something follows the end')
      // What is left of the object is checked as an object of its own, once it is all there.
      if (!isFinal) return tooLong(length - at)
      const rest = new Uint8Array(EMPTY_ENTRY.length + length - at)
      rest.set(EMPTY_ENTRY)
      rest.set(buffer.subarray(at, length), EMPTY_ENTRY.length)
      const after = walkLine(rest, 0, rest.length, true, true, (from, to) => {
        if (WRAPPER_KEYS.some((key) => isSame(key, rest, from, to))) throw malformed('it has two arrays of lines')
        return false
      })
      if (after === MORE) throw malformed('it ends in the middle')
      if (after === WRONG || !rest.subarray(after).every(isSpace)) throw malformed('it is no JSON')
      at = length
      wrapperEnded = true
      return false
    },
  }

  function rejectRow(reason: Reject): void {
    lines += 1
    if (!areRows && lines === MAX_UNREADABLE) throw malformed(`its first ${MAX_UNREADABLE} rows are no JSON`)
    sink.reject(reason, blankRows)
  }

  /** Tells of the line that was walked last, from `at` to `after`. */
  function tell(after: number): void {
    const wrong = readLine(buffer, at, after)
    lines += 1
    if (wrong) sink.reject(wrong, shape === 'rows' ? blankRows : 0)
    else sink.accept(LINE)
  }

  function isMark(): boolean {
    const byte = buffer[at]
    return skipped < 3 && (byte === 0xef || byte === 0xbb || byte === 0xbf)
  }

  /** What waits for more bytes must not wait for ever. */
  function tooLong(waiting: number): false {
    if (waiting > MAX_LINE_BYTES) throw malformed('a line is too long')
    return false
  }

  /** Puts the next bytes, of which there are at most `MARKED`, behind what is left of those before. */
  function addMarked(marked: MarkedBytes, part: Uint8Array): void {
    const from = MARKED - (length - at)
    marked.bytes.set(buffer.subarray(at, length), from)
    marked.bytes.set(part, MARKED)
    buffer = marked.bytes
    at = from
    length = MARKED + part.length
    marked.changed(length)
  }

  /** The same, for lines so long that they are read without marks. */
  function add(part: Uint8Array): void {
    const rest = buffer.subarray(at, length)
    length -= at
    at = 0
    if (length + part.length > kept.length) kept = new Uint8Array(Math.max(kept.length * 2, length + part.length))
    kept.set(rest)
    kept.set(part, length)
    buffer = kept
    length += part.length
  }

  /** Puts aside what is left: the marked bytes are everybody's. */
  function keep(): void {
    keptLength = length - at
    if (keptLength > kept.length) kept = new Uint8Array(2 * keptLength)
    kept.set(buffer.subarray(at, length))
  }

  function run(): void {
    while (steps[mode]()) if (at >= length && !isFinal) break
  }

  return {
    push(bytes) {
      buffer = kept
      at = 0
      length = keptLength
      for (let taken = 0; taken < bytes.length; ) {
        const marked = length - at <= MARKED ? MARKED_BYTES : undefined
        const part = bytes.subarray(taken, marked && taken + MARKED)
        if (marked) addMarked(marked, part)
        else add(part)
        taken += part.length
        run()
      }
      keep()
    },
    end() {
      buffer = kept
      at = 0
      length = keptLength
      isFinal = true
      run()
      if (mode === 'start') throw malformed('nothing is in it')
      if (mode === 'object' || mode === 'items' || (mode === 'tail' && shape === 'wrapped array' && !wrapperEnded)) {
        throw malformed('it ends in the middle')
      }
      if (mode === 'rows' && !areRows) throw malformed('none of its rows is JSON')
      if (mode === 'rows' && lines === 1 && !firstRowIsObject) throw malformed('it is one value that is no line')
      return { shape }
    },
  }
}

/** Stands for what came before in an object of which only the rest is looked at. */
const EMPTY_ENTRY = Uint8Array.from('{"":0', (character) => character.charCodeAt(0))

function isSame(key: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  return to - from === key.length && key.every((byte, index) => bytes[from + index] === byte)
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** White space within a row. */
function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x09
}

function malformed(reason: string): DomainError {
  return new DomainError('invalid', [{ path: '', message: `Not a traffic file: ${reason}` }])
}
