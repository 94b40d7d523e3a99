import { find } from './bytes.ts'
import { createJsonScanner, ESCAPED, NUMBER } from './json-scanner.ts'
import { type Address, createAddress, isPrivate, readAddress } from './line-addresses.ts'
import { LINE_NAMES, MALICIOUS_VERDICTS } from './line-names.ts'
import { createTimeReader } from './line-times.ts'
import { createNameTrie, lower } from './name-trie.ts'
import { PLAIN, plainEnd } from './plain-bytes.ts'

// Reads one line. All of it is there once in a thread, not once for each file: V8 makes better code of functions that it
// knows just one of, and nothing lasts longer than a line.

/** One request, as a log line tells of it. There is one such object for all lines: copy what shall last. */
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

const FIELDS = ['time', 'date', 'client', 'forwarded', 'host', 'status', 'verdict'] as const
const [TIME, DATE, CLIENT, FORWARDED, HOST] = [0, 1, 2, 3, 4]
const VERDICT = 6

const TRIE = createNameTrie(FIELDS.map((field) => LINE_NAMES[field]))
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
const NO_LINE: Reject = { field: '', reason: 'neither a text nor an object' }
const NO_FORMAT: Reject = { field: '', reason: 'not in a known log format' }

/** The line that was read last. */
export const LINE: TrafficLine = {
  time: 0,
  client: createAddress(),
  host: new Uint8Array(MAX_HOST),
  hostLength: 0,
  verdict: '',
}

let verdict = ''
const { captured, scan, skipText } = createJsonScanner(TRIE, FIELDS.length, VERDICT, (bytes, from, to) => {
  if (verdict === '' && to - from <= LONGEST_VERDICT + 2) verdict = verdictOf(bytes, from, to)
})
const readTime = createTimeReader()
const forwarded = createAddress()
let unescaped = new Uint8Array(4096)
/** Whether `skipLogLine` walked the line. */
let isLogLine = false

/**
 * Checks and walks the JSON value that begins at `at`, for the parameters and the result see `createJsonScanner`.
 */
export function walkLine(
  source: Uint8Array,
  at: number,
  length: number,
  spaces: boolean,
  isFinal: boolean,
  onArray?: (from: number, to: number) => boolean,
): number {
  verdict = ''
  const after = source[at] === 0x22 ? skipLogLine(source, at, length) : 0
  isLogLine = after > 0
  return isLogLine ? after : scan(source, at, length, spaces, isFinal, onArray)
}

/** Reads into `LINE` what was walked last, from `from` to `to`; returns why it cannot. */
export function readLine(source: Uint8Array, from: number, to: number): Reject | undefined {
  const first = source[from]
  if (first === 0x7b) return readObject(source)
  if (first !== 0x22) return NO_LINE
  const text = from + 1
  if (isLogLine) {
    readLogLine(source, text, logSpace, logBracket)
    return undefined
  }
  if (find(source, 0x5c, text, to) === to) return readText(source, text, to - 1)
  const size = undoEscapes(source, text, to - 1)
  return readText(unescaped, 0, size)
}

function readObject(source: Uint8Array): Reject | undefined {
  if (captured.kind[TIME] === 0) return NO_TIME
  LINE.time = timeOf(source)
  if (Number.isNaN(LINE.time)) return WRONG_TIME
  clientOf(source)
  hostOf(source)
  LINE.verdict = verdict
  return undefined
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
  const { client } = LINE
  client.kind = 0
  if (captured.kind[CLIENT]) readAddress(source, captured.from[CLIENT] as number, captured.to[CLIENT] as number, client)
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
      LINE.client.kind = forwarded.kind
      LINE.client.words.set(forwarded.words)
      return
    }
    first = last + 1
  }
}

function hostOf(source: Uint8Array): void {
  LINE.hostLength = 0
  if (captured.kind[HOST] && captured.kind[HOST] !== NUMBER) {
    setHost(source, captured.from[HOST] as number, captured.to[HOST] as number)
  }
}

function setHost(source: Uint8Array, from: number, to: number): void {
  const { host } = LINE
  let size = 0
  for (let index = from; index < to && size < MAX_HOST; index += 1) {
    const byte = source[index] as number
    // The port; an address in brackets is no name.
    if (byte === 0x3a || byte === 0x5b) break
    host[size] = lower(byte)
    size += 1
  }
  if (size > 0 && host[size - 1] === 0x2e) size -= 1
  LINE.hostLength = size
}

/** A line in Common or Combined Log Format, with or without the virtual host in front. */
function readText(source: Uint8Array, from: number, to: number): Reject | undefined {
  let first = from
  while (first < to && source[first] !== 0x20) first += 1
  let open = first
  while (open < to && !(source[open] === 0x5b && source[open - 1] === 0x20)) open += 1
  const close = open + 27
  if (open >= to || close + 2 >= to || source[close] !== 0x5d || source[close + 2] !== 0x22) return NO_FORMAT
  let quote = close + 3
  while (quote < to && source[quote] !== 0x22) quote += source[quote] === 0x5c ? 2 : 1
  if (!isStatus(source, quote + 1, to)) return NO_FORMAT
  LINE.time = readTime(source, open + 1, close)
  if (Number.isNaN(LINE.time)) return WRONG_TIME
  readLogLine(source, from, first, open)
  return undefined
}

/** The line's time is known; its client and host stand between `from`, the first space and the bracket. */
function readLogLine(source: Uint8Array, from: number, first: number, open: number): void {
  LINE.client.kind = 0
  LINE.hostLength = 0
  LINE.verdict = ''
  if (!readAddress(source, from, first, LINE.client)) {
    let second = first + 1
    while (second < open && source[second] !== 0x20) second += 1
    if (second < open && readAddress(source, first + 1, second, LINE.client)) setHost(source, from, first)
  } else if (source[first + 1] !== 0x2d) {
    // A virtual host may itself be an address: then the client follows it.
    let second = first + 1
    while (second < open && source[second] !== 0x20) second += 1
    readSecond(source, first + 1, second)
  }
}

function readSecond(source: Uint8Array, from: number, to: number): void {
  if (readAddress(source, from, to, forwarded)) {
    LINE.client.kind = forwarded.kind
    LINE.client.words.set(forwarded.words)
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
function skipLogLine(source: Uint8Array, from: number, length: number): number {
  let index = from + 1
  while (index < length && PLAIN[source[index] as number] === 1 && source[index] !== 0x20) index += 1
  logSpace = index
  while (index < length && PLAIN[source[index] as number] === 1) {
    if (source[index] === 0x5b && source[index - 1] === 0x20) break
    index += 1
  }
  logBracket = index
  const close = index + 27
  if (close + 4 > length || source[index] !== 0x5b || source[close] !== 0x5d) return 0
  if (PLAIN[source[close + 1] as number] !== 1 || !isEscapedQuote(source, close + 2)) return 0
  index = plainEnd(source, close + 4, length)
  if (index + 7 > length || !isEscapedQuote(source, index) || !isStatus(source, index + 2, length)) return 0
  const after = skipText(source, index + 2, length)
  if (after < 0) return 0
  // A time has no byte that may not stand in a text.
  LINE.time = readTime(source, logBracket + 1, close)
  return Number.isNaN(LINE.time) ? 0 : after
}

function isEscapedQuote(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x5c && bytes[at + 1] === 0x22
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
  // Behind the end is what an earlier line has left.
  if (at + 1 >= to || bytes[at] !== 0x20) return false
  if (bytes[at + 1] === 0x2d) return at + 2 === to || bytes[at + 2] === 0x20
  for (let index = at + 1; index <= at + 3; index += 1) {
    const byte = bytes[index] as number
    if (index >= to || byte < 0x30 || byte > 0x39) return false
  }
  return at + 4 === to || bytes[at + 4] === 0x20
}
