import { find } from '../traffic/bytes.ts'
import { createAddress, readAddress } from '../traffic/line-addresses.ts'
import type { DomainSet } from './domain-index.ts'
import { createDomainName, readDomainName } from './domain-name.ts'
import { type Networks, readNetwork, readRange } from './networks.ts'
import { utf8Text } from './utf8-text.ts'

/** A line of a feed that is neither an entry nor a comment. */
export type UnreadableLine = {
  /** Number of the line, from 1. */
  line: number
  /** Its first 100 characters; what cannot be shown is U+FFFD. */
  text: string
  reason: string
}

/** What was read beside the entries. */
export type FeedReading = {
  lines: number
  unreadable: number
  /** The first 20 of the unreadable lines. */
  samples: UnreadableLine[]
}

/** Reads a feed from its bytes as they come, uncompressed. */
export type FeedReader = {
  /** Takes the next bytes; they may be changed afterwards. */
  push(bytes: Uint8Array): void
  /** The feed is complete. */
  end(): FeedReading
}

/** Longest line, in bytes. */
const MAX_LINE = 8192
const MAX_SAMPLES = 20
const SAMPLE_LENGTH = 100

const [LINE_FEED, HASH, COMMA, SEMICOLON] = [0x0a, 0x23, 0x2c, 0x3b]
const [EXCLAMATION, DOLLAR, STAR, DASH, DOT, AT, BRACKET, CARET, BAR] = [
  0x21, 0x24, 0x2a, 0x2d, 0x2e, 0x40, 0x5b, 0x5e, 0x7c,
]

/**
 * A reader of addresses, networks and ranges, one a line. What follows an entry after white space, a comma or the start
 * of a comment (`#`, `;`) is ignored.
 */
export function networkReader(networks: Networks): FeedReader {
  const address = createAddress()
  return createReader((bytes, from, to) => {
    const end = endOfEntry(bytes, from, to)
    const next = skipSpace(bytes, end, to)
    const endsInDash = end > from && bytes[end - 1] === DASH
    if (!endsInDash && (next === to || bytes[next] !== DASH)) return readNetwork(bytes, from, end, networks)
    const lastFrom = skipSpace(bytes, endsInDash ? end : next + 1, to)
    const lastTo = endOfEntry(bytes, lastFrom, to)
    const isRemark = !endsInDash && !readAddress(bytes, lastFrom, lastTo, address)
    if (isRemark) return readNetwork(bytes, from, end, networks)
    return readRange(bytes, from, endsInDash ? end - 1 : end, lastFrom, lastTo, networks)
  })
}

/**
 * A reader of domain names: one a line, in the lines of a hosts file (`0.0.0.0 name name`, where names of the machine
 * itself are no entries), or as `||name^`. `*.` and `.` before a name are dropped. A name without a dot, which every
 * word would be, is read only with one of those marks.
 */
export function domainReader(domains: DomainSet): FeedReader {
  const name = createDomainName()
  const address = createAddress()

  /** Reads what stands behind the address in a line of a hosts file. */
  function readHosts(bytes: Uint8Array, from: number, to: number): string {
    let problem = 'an address, not a name'
    let isFirst = true
    for (let at = skipSpace(bytes, from, to); at < to && !isComment(bytes[at] as number); ) {
      const end = Math.max(at + 1, endOfEntry(bytes, at, to))
      const isAddress = readAddress(bytes, at, end, address)
      const found = isAddress || isOfMachine(bytes, at, end) ? '' : readName(bytes, at, end, false)
      if (isFirst || found !== '') problem = found
      isFirst = false
      at = skipSpace(bytes, end, to)
    }
    return problem
  }

  function readName(bytes: Uint8Array, from: number, to: number, isMarked: boolean): string {
    const isWild = bytes[from] === STAR && bytes[from + 1] === DOT
    const start = isWild ? from + 2 : bytes[from] === DOT ? from + 1 : from
    if (!readDomainName(bytes, start, to, name)) return NO_NAME
    if (name.labels === 1 && !isMarked && start === from) return 'a name without a dot'
    domains.add(name.bytes, 0, name.length)
    return ''
  }

  return createReader((bytes, from, to) => {
    const first = bytes[from]
    if (first === EXCLAMATION || first === BRACKET) return ''
    if (first === AT) return 'an exception'
    if (first === BAR) {
      if (bytes[from + 1] !== BAR) return NO_NAME
      const end = endOfEntry(bytes, from, to)
      const caret = find(bytes, CARET, from, end)
      if (caret === end) return NO_NAME
      const hasOptions = end > caret + 1 && !(end === caret + 2 && bytes[caret + 1] === DOLLAR)
      return hasOptions ? 'a rule with options' : readName(bytes, from + 2, caret, true)
    }
    const end = endOfEntry(bytes, from, to)
    const problem = readName(bytes, from, end, false)
    return problem === NO_NAME && readAddress(bytes, from, end, address) ? readHosts(bytes, end, to) : problem
  })
}

const NO_NAME = 'not a domain name'

/** Names that a hosts file gives to the machine itself. */
const OF_MACHINE = new Set([
  'localhost',
  'localhost.localdomain',
  'local',
  'broadcasthost',
  'ip6-localhost',
  'ip6-loopback',
  'ip6-localnet',
  'ip6-mcastprefix',
  'ip6-allnodes',
  'ip6-allrouters',
  'ip6-allhosts',
])
const LONGEST_OF_MACHINE = Math.max(...Array.from(OF_MACHINE, ({ length }) => length))

function isOfMachine(bytes: Uint8Array, from: number, to: number): boolean {
  return to - from <= LONGEST_OF_MACHINE && OF_MACHINE.has(utf8Text(bytes, from, to).toLowerCase())
}

/** Divides the bytes into lines. `read` is given each without white space around it, and says what is wrong with it. */
function createReader(read: (bytes: Uint8Array, from: number, to: number) => string): FeedReader {
  const reading: FeedReading = { lines: 0, unreadable: 0, samples: [] }
  const begun = new Uint8Array(MAX_LINE + 1)
  let length = 0

  function keep(bytes: Uint8Array, from: number, to: number): void {
    const end = Math.min(to, from + begun.length - length)
    begun.set(bytes.subarray(from, end), length)
    length += end - from
  }

  function line(bytes: Uint8Array, lineFrom: number, lineTo: number): void {
    reading.lines += 1
    let from = lineFrom
    let to = lineTo
    // A byte order mark.
    if (reading.lines === 1 && bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf) from += 3
    while (from < to && isSpace(bytes[from] as number)) from += 1
    while (to > from && isSpace(bytes[to - 1] as number)) to -= 1
    if (from === to || isComment(bytes[from] as number)) return
    const problem = to - from > MAX_LINE ? `longer than ${MAX_LINE} bytes` : read(bytes, from, to)
    if (problem === '') return
    reading.unreadable += 1
    if (reading.samples.length === MAX_SAMPLES) return
    reading.samples.push({ line: reading.lines, text: sampleOf(bytes, from, to), reason: problem })
  }

  return {
    push(bytes) {
      let from = 0
      for (;;) {
        const end = bytes.indexOf(LINE_FEED, from)
        if (end < 0) return keep(bytes, from, bytes.length)
        if (length === 0) line(bytes, from, end)
        else {
          keep(bytes, from, end)
          line(begun, 0, length)
          length = 0
        }
        from = end + 1
      }
    },
    end() {
      if (length > 0) line(begun, 0, length)
      length = 0
      return reading
    },
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f]/g

function sampleOf(bytes: Uint8Array, from: number, to: number): string {
  const text = utf8Text(bytes, from, Math.min(to, from + 4 * SAMPLE_LENGTH))
  return Array.from(text).slice(0, SAMPLE_LENGTH).join('').replace(UNSHOWN, '\ufffd')
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte <= 0x0d && byte >= 0x09)
}

function isComment(byte: number): boolean {
  return byte === HASH || byte === SEMICOLON
}

function endOfEntry(bytes: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number
    if (byte === COMMA || isSpace(byte) || isComment(byte)) return at
  }
  return to
}

function skipSpace(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && isSpace(bytes[at] as number)) at += 1
  return at
}
