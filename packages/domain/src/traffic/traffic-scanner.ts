import { DomainError } from '../errors.ts'
import { find } from './bytes.ts'
import { createJsonScanner, ESCAPED, MORE, NUMBER, PLAIN, WRONG } from './json-scanner.ts'
import { type Address, createAddress, isPrivate, readAddress } from './line-addresses.ts'
import { LINE_NAMES, MALICIOUS_VERDICTS, WRAPPERS } from './line-names.ts'
import { createTimeReader } from './line-times.ts'
import { createNameTrie, lower } from './name-trie.ts'
import type { TRAFFIC_SHAPES } from './traffic-upload.ts'

/** Longest line, and longest beginning of a file before its shape is known, in bytes. */
export const MAX_LINE_BYTES = 1024 * 1024

/** One request, as a log line tells of it. The scanner uses one such object for all lines: copy what shall last. */
export type TrafficLine = {
  /** Milliseconds since 1970. */
  time: number
  /** Who asked; `kind` 0 where the line does not say, or says a name. */
  client: Address
  /** The host that was asked for, in lower case, without port: the first `hostLength` bytes. */
  host: Uint8Array
  hostLength: number
  /** What the line itself says against the request, in lower case; `""` for nothing. */
  verdict: string
}

/** Why a line could not be read. */
export type Reject = {
  /** What was missing or wrong, `""` where it is the line as a whole. */
  field: '' | 'time'
  reason: string
}

/** Told of every line, in order. */
export type LineSink = {
  accept(line: TrafficLine): void
  reject(reject: Reject): void
}

/** How the lines stand in a file. */
export type TrafficShape = (typeof TRAFFIC_SHAPES)[number]

export type TrafficScanner = {
  /** Takes the next bytes of the file; they may be changed afterwards. @throws DomainError `invalid`. */
  push(bytes: Uint8Array): void
  /** The file is complete. @throws DomainError `invalid`. */
  end(): { shape: TrafficShape }
}

const FIELDS = ['time', 'date', 'client', 'forwarded', 'host', 'status', 'verdict'] as const
const [TIME, DATE, CLIENT, FORWARDED, HOST] = [0, 1, 2, 3, 4]
const VERDICT = 6

const TRIE = createNameTrie(FIELDS.map((field) => LINE_NAMES[field]))
const WRAPPER_KEYS = WRAPPERS.map((key) => Uint8Array.from(key, (character) => character.charCodeAt(0)))
const VERDICTS = new Set<string>(MALICIOUS_VERDICTS)
/** By their first two bytes: 1 for what may be one of the verdicts, or white space before it. */
const MAY_BE_VERDICT = new Uint8Array(256 * 256)
for (const verdict of MALICIOUS_VERDICTS) MAY_BE_VERDICT[verdict.charCodeAt(0) * 256 + verdict.charCodeAt(1)] = 1
MAY_BE_VERDICT.fill(1, 0x20 * 256, 0x21 * 256)

const LONGEST_VERDICT = Math.max(...MALICIOUS_VERDICTS.map((verdict) => verdict.length))
/** Longest host name in a log that is looked at. */
const MAX_HOST = 255

const NO_TIME: Reject = { field: 'time', reason: 'missing' }
const WRONG_TIME: Reject = { field: 'time', reason: 'not a time' }
const NO_JSON: Reject = { field: '', reason: 'not JSON' }
const NO_LINE: Reject = { field: '', reason: 'neither a text nor an object' }
const NO_FORMAT: Reject = { field: '', reason: 'not in a known log format' }
const TOO_LONG: Reject = { field: '', reason: `longer than ${MAX_LINE_BYTES} bytes` }

/**
 * Reads a traffic file from its bytes as they come, and tells `sink` what each line says. The shape is told from the
 * bytes (decisions.md §4, Traffic file): an array of lines, an object around one array, one line object, or one JSON value
 * a row. In an array a line that is no JSON makes the whole file none; in rows it is a line that cannot be read, but for
 * the first, which shows that these are rows at all.
 *
 * Lines were told of by the time that a file proves to be none, so nothing may be kept before `end`.
 */
export function createTrafficScanner(sink: LineSink): TrafficScanner {
  let verdict = ''
  const { captured, scan, skipText } = createJsonScanner(TRIE, FIELDS.length, VERDICT, (bytes, from, to) => {
    if (verdict === '' && to - from <= LONGEST_VERDICT + 2) verdict = verdictOf(bytes, from, to)
  })
  const readTime = createTimeReader()
  const line: TrafficLine = {
    time: 0,
    client: createAddress(),
    host: new Uint8Array(MAX_HOST),
    hostLength: 0,
    verdict: '',
  }
  const forwarded = createAddress()
  let unescaped = new Uint8Array(4096)

  let mode: 'start' | 'object' | 'items' | 'rows' | 'single' | 'tail' = 'start'
  let shape: TrafficShape = 'rows'
  // Grows with what is pushed at a time: most files are small.
  let buffer = new Uint8Array(4096)
  let length = 0
  let at = 0
  let isFinal = false
  let lines = 0
  /** Whether an item must come next: after a comma. */
  let afterComma = false
  /** Whether the rest of a row is dropped. */
  let skipping = false
  let firstRowIsObject = false
  let wrapperEnded = false

  function reject(reason: Reject): undefined {
    sink.reject(reason)
  }

  // --- One line -----------------------------------------------------------------------------------------------------

  function acceptObject(source: Uint8Array): undefined {
    if (captured.kind[TIME] === 0) return reject(NO_TIME)
    line.time = timeOf(source)
    if (Number.isNaN(line.time)) return reject(WRONG_TIME)
    clientOf(source)
    hostOf(source)
    line.verdict = verdict
    sink.accept(line)
  }

  function timeOf(source: Uint8Array): number {
    const from = captured.from[TIME] as number
    const to = captured.to[TIME] as number
    const time = captured.kind[TIME] === ESCAPED ? readUnescaped(source, from, to) : readTime(source, from, to)
    if (!Number.isNaN(time) || captured.kind[DATE] === 0) return time
    // A time of day, beside the day.
    const day = source.subarray(captured.from[DATE], captured.to[DATE])
    const joined = new Uint8Array(day.length + 1 + to - from)
    joined.set(day)
    joined[day.length] = 0x54
    joined.set(source.subarray(from, to), day.length + 1)
    return readTime(joined, 0, joined.length)
  }

  /** CLF times are often written with `\/`. */
  function readUnescaped(source: Uint8Array, from: number, to: number): number {
    const size = undoEscapes(source, from, to)
    return readTime(unescaped, 0, size)
  }

  function clientOf(source: Uint8Array): void {
    const { client } = line
    client.kind = 0
    if (captured.kind[CLIENT])
      readAddress(source, captured.from[CLIENT] as number, captured.to[CLIENT] as number, client)
    if (captured.kind[FORWARDED] && (client.kind === 0 || isPrivate(client))) {
      publicForwarded(source, captured.from[FORWARDED] as number, captured.to[FORWARDED] as number)
    }
  }

  /** The first public address of a list takes the client's place. */
  function publicForwarded(source: Uint8Array, from: number, to: number): void {
    for (let first = from; first < to; ) {
      let last = first
      while (last < to && source[last] !== 0x2c) last += 1
      let start = first
      let end = last
      while (start < end && source[start] === 0x20) start += 1
      while (end > start && source[end - 1] === 0x20) end -= 1
      if (readAddress(source, start, end, forwarded) && !isPrivate(forwarded)) {
        line.client.kind = forwarded.kind
        line.client.words.set(forwarded.words)
        return
      }
      first = last + 1
    }
  }

  function hostOf(source: Uint8Array): void {
    line.hostLength = 0
    if (captured.kind[HOST] && captured.kind[HOST] !== NUMBER) {
      setHost(source, captured.from[HOST] as number, captured.to[HOST] as number)
    }
  }

  function setHost(source: Uint8Array, from: number, to: number): void {
    const { host } = line
    let size = 0
    for (let index = from; index < to && size < MAX_HOST; index += 1) {
      const byte = source[index] as number
      // The port; an address in brackets is no name.
      if (byte === 0x3a || byte === 0x5b) break
      host[size] = lower(byte)
      size += 1
    }
    if (size > 0 && host[size - 1] === 0x2e) size -= 1
    line.hostLength = size
  }

  /** A line in Common or Combined Log Format, with or without the virtual host in front. */
  function acceptText(source: Uint8Array, from: number, to: number): undefined {
    let first = from
    while (first < to && source[first] !== 0x20) first += 1
    let open = first
    while (open < to && !(source[open] === 0x5b && source[open - 1] === 0x20)) open += 1
    const close = open + 27
    if (open >= to || close + 2 >= to || source[close] !== 0x5d || source[close + 2] !== 0x22) return reject(NO_FORMAT)
    let quote = close + 3
    while (quote < to && source[quote] !== 0x22) quote += source[quote] === 0x5c ? 2 : 1
    if (!isStatus(source, quote + 1, to)) return reject(NO_FORMAT)
    line.time = readTime(source, open + 1, close)
    if (Number.isNaN(line.time)) return reject(WRONG_TIME)
    acceptLogLine(source, from, first, open)
  }

  /** The line's time is known; its client and host stand between `from`, the first space and the bracket. */
  function acceptLogLine(source: Uint8Array, from: number, first: number, open: number): void {
    line.client.kind = 0
    line.hostLength = 0
    line.verdict = ''
    if (!readAddress(source, from, first, line.client)) {
      let second = first + 1
      while (second < open && source[second] !== 0x20) second += 1
      if (second < open && readAddress(source, first + 1, second, line.client)) setHost(source, from, first)
    } else if (source[first + 1] !== 0x2d) {
      // A virtual host may itself be an address: then the client follows it.
      let second = first + 1
      while (second < open && source[second] !== 0x20) second += 1
      readSecond(source, first + 1, second)
    }
    sink.accept(line)
  }

  function readSecond(source: Uint8Array, from: number, to: number): void {
    if (readAddress(source, from, to, forwarded)) {
      line.client.kind = forwarded.kind
      line.client.words.set(forwarded.words)
    }
  }

  // Where the first space and the bracket are of the text that `skipLogLine` went over last.
  let logSpace = 0
  let logBracket = 0

  /**
   * Walks a text that is a log line as most are, with nothing escaped in it up to its status but the quotes of the request,
   * and reads its time: in one pass what takes four in general.
   *
   * @returns the position after the text; 0 where it is something else, or not all there.
   */
  function skipLogLine(from: number): number {
    let index = from + 1
    while (index < length && PLAIN[buffer[index] as number] === 1 && buffer[index] !== 0x20) index += 1
    logSpace = index
    while (index < length && PLAIN[buffer[index] as number] === 1) {
      if (buffer[index] === 0x5b && buffer[index - 1] === 0x20) break
      index += 1
    }
    logBracket = index
    const close = index + 27
    if (close + 4 > length || buffer[index] !== 0x5b || buffer[close] !== 0x5d) return 0
    if (PLAIN[buffer[close + 1] as number] !== 1 || !isEscapedQuote(close + 2)) return 0
    index = close + 4
    while (index < length && PLAIN[buffer[index] as number] === 1) index += 1
    if (index + 7 > length || !isEscapedQuote(index) || !isStatus(buffer, index + 2, length)) return 0
    const after = skipText(buffer, index + 2, length)
    if (after < 0) return 0
    // A time has no byte that may not stand in a text.
    line.time = readTime(buffer, logBracket + 1, close)
    return Number.isNaN(line.time) ? 0 : after
  }

  /** The text at `at` that `skipLogLine` went over. */
  function acceptSkipped(): void {
    lines += 1
    acceptLogLine(buffer, at + 1, logSpace, logBracket)
  }

  function isEscapedQuote(index: number): boolean {
    return buffer[index] === 0x5c && buffer[index + 1] === 0x22
  }

  /** The value between `from` and `to` was checked already. */
  function acceptValue(source: Uint8Array, from: number, to: number): undefined {
    lines += 1
    const first = source[from]
    if (first === 0x7b) return acceptObject(source)
    if (first !== 0x22) return reject(NO_LINE)
    const text = from + 1
    if (find(source, 0x5c, text, to) === to) return acceptText(source, text, to - 1)
    const size = undoEscapes(source, text, to - 1)
    acceptText(unescaped, 0, size)
  }

  /** Undoes the escapes of a JSON string, into `unescaped`; returns how many bytes that makes. */
  function undoEscapes(source: Uint8Array, from: number, to: number): number {
    if (unescaped.length < to - from) unescaped = new Uint8Array(2 * (to - from))
    let size = 0
    for (let index = from; index < to; index += 1) {
      let byte = source[index] as number
      if (byte === 0x5c) {
        index += 1
        byte = source[index] as number
        if (byte === 0x75) {
          // What is read of a line is ASCII; of another character it only matters that it is none of those.
          const code = Number.parseInt(String.fromCharCode(...source.subarray(index + 1, index + 5)), 16)
          byte = code < 0x80 ? code : 0x3f
          index += 4
        } else byte = UNESCAPED[byte] ?? byte
      }
      unescaped[size] = byte
      size += 1
    }
    return size
  }

  // --- The file -----------------------------------------------------------------------------------------------------

  /** Each step goes as far as the bytes reach; true if another mode goes on from there. */
  const steps = {
    start(): boolean {
      while (at < length && (isSpace(buffer[at] as number) || isMark(at))) at += 1
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
      verdict = ''
      let array = false
      const inside = scan(buffer, at, length, true, isFinal, (from, to) => {
        array = WRAPPER_KEYS.some((key) => isSame(key, buffer, from, to))
        return array
      })
      if (inside === WRONG) throw malformed('it is no JSON')
      if (inside === MORE) return tooLong(length - at)
      if (array) verdict = ''
      const after = array ? scan(buffer, at, length, true, isFinal) : inside
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
      acceptValue(buffer, at, after)
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
        verdict = ''
        const logLine = buffer[at] === 0x22 ? skipLogLine(at) : 0
        const after = logLine || scan(buffer, at, length, true, isFinal)
        if (after === WRONG) throw malformed('it is no JSON')
        if (after === MORE) return tooLong(length - at)
        let next = after
        while (next < length && isSpace(buffer[next] as number)) next += 1
        if (next >= length) return tooLong(length - at)
        const separator = buffer[next]
        if (separator !== 0x2c && separator !== 0x5d) throw malformed('it is no JSON')
        tooLong(after - at)
        if (logLine) acceptSkipped()
        else acceptValue(buffer, at, after)
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
        while (at < length && isSpace(buffer[at] as number)) at += 1
        if (at >= length) return false
        verdict = ''
        const logLine = buffer[at] === 0x22 ? skipLogLine(at) : 0
        const after = logLine || scan(buffer, at, length, false, isFinal)
        let next = after
        while (next >= 0 && next < length && isBlank(buffer[next] as number)) next += 1
        const isWhole = after >= 0 && (next < length ? buffer[next] === 0x0a : isFinal)
        if (isWhole) {
          if (lines === 0) firstRowIsObject = buffer[at] === 0x7b
          if (after - at > MAX_LINE_BYTES) rejectRow(TOO_LONG)
          else if (logLine) acceptSkipped()
          else acceptValue(buffer, at, after)
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
      const after = scan(rest, 0, rest.length, true, true, (from, to) => {
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

  /** The first row shows that these are rows at all. */
  function rejectRow(reason: Reject): void {
    if (lines === 0) throw malformed(`its first row is ${reason.reason}`)
    lines += 1
    sink.reject(reason)
  }

  function isMark(index: number): boolean {
    const byte = buffer[index]
    return index < 3 && (byte === 0xef || byte === 0xbb || byte === 0xbf)
  }

  /** What waits for more bytes must not wait for ever. */
  function tooLong(waiting: number): false {
    if (waiting > MAX_LINE_BYTES) throw malformed('a line is too long')
    return false
  }

  function run(): void {
    while (steps[mode]()) if (at >= length && !isFinal) break
  }

  return {
    push(bytes) {
      if (at > 0) {
        buffer.copyWithin(0, at, length)
        length -= at
        at = 0
      }
      if (length + bytes.length > buffer.length) {
        const larger = new Uint8Array(Math.max(buffer.length * 2, length + bytes.length))
        larger.set(buffer.subarray(0, length))
        buffer = larger
      }
      buffer.set(bytes, length)
      length += bytes.length
      run()
    },
    end() {
      isFinal = true
      run()
      if (mode === 'start') throw malformed('nothing is in it')
      if (mode === 'object' || mode === 'items' || (mode === 'tail' && shape === 'wrapped array' && !wrapperEnded)) {
        throw malformed('it ends in the middle')
      }
      if (mode === 'rows' && lines === 1 && !firstRowIsObject) throw malformed('it is one value that is no line')
      return { shape }
    },
  }
}

/** Stands for what came before in an object of which only the rest is looked at. */
const EMPTY_ENTRY = Uint8Array.from('{"":0', (character) => character.charCodeAt(0))

const UNESCAPED: Record<number, number> = { 110: 0x0a, 116: 0x09, 114: 0x0d, 98: 0x08, 102: 0x0c }

function verdictOf(bytes: Uint8Array, from: number, to: number): string {
  // Most say that all was well, with a word that begins otherwise.
  if (to - from < 4 || !MAY_BE_VERDICT[((bytes[from] as number) | 0x20) * 256 + ((bytes[from + 1] as number) | 0x20)]) {
    return ''
  }
  let text = ''
  for (let index = from; index < to; index += 1) text += String.fromCharCode(lower(bytes[index] as number))
  text = text.trim()
  return VERDICTS.has(text) ? text : ''
}

/** A space, three digits or a dash, and then a space or the end. */
function isStatus(bytes: Uint8Array, at: number, to: number): boolean {
  if (bytes[at] !== 0x20) return false
  if (bytes[at + 1] === 0x2d) return at + 2 === to || bytes[at + 2] === 0x20
  for (let index = at + 1; index <= at + 3; index += 1) {
    const byte = bytes[index] as number
    if (index >= to || byte < 0x30 || byte > 0x39) return false
  }
  return at + 4 === to || bytes[at + 4] === 0x20
}

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
