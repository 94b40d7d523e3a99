import { type Address, addressText, createAddress, readAddress } from '../traffic/line-addresses.ts'
import { inOrder, sortRows } from './radix-sort.ts'

/** Words of 32 bits, of which the first `length` count. */
export type Words = { words: Uint32Array; length: number }

/**
 * Networks and other ranges of addresses, without an object for each. An entry of `v4` is two words, its first and its
 * last address; one of `v6` is eight, four for each, the most significant first.
 */
export type Networks = { v4: Words; v6: Words }

/** Words of an entry. */
export const V4_WIDTH = 2
export const V6_WIDTH = 8

export function createNetworks(): Networks {
  return { v4: { words: new Uint32Array(1024), length: 0 }, v6: { words: new Uint32Array(1024), length: 0 } }
}

/** How many entries there are of each kind. */
export function countNetworks({ v4, v6 }: Networks): { v4: number; v6: number } {
  return { v4: v4.length / V4_WIDTH, v6: v6.length / V6_WIDTH }
}

/** Appends the words of an entry. */
function append(list: Words, first: Uint32Array, last: Uint32Array, width: number): void {
  const { length } = list
  if (length + width > list.words.length) {
    const larger = new Uint32Array(list.words.length * 2)
    larger.set(list.words)
    list.words = larger
  }
  const half = width / 2
  for (let word = 0; word < half; word += 1) {
    list.words[length + word] = first[word] as number
    list.words[length + half + word] = last[word] as number
  }
  list.length = length + width
}

const DASH = 0x2d
const SLASH = 0x2f
const COLON = 0x3a

const first = createAddress()
const last = createAddress()

/**
 * Reads an address, a network in CIDR notation (bits of the host do not matter) or a range `a-b`, and appends it to
 * `networks`. IPv4 inside of IPv6 is IPv4.
 *
 * @returns why it cannot be read; `""` when it was.
 */
export function readNetwork(bytes: Uint8Array, from: number, to: number, networks: Networks): string {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at]
    if (byte === SLASH) return readPrefixed(bytes, from, at, to, networks)
    if (byte === DASH) return readRange(bytes, from, at, at + 1, to, networks)
  }
  if (!readAddress(bytes, from, to, first)) return NO_ADDRESS
  add(networks, first, first)
  return ''
}

const NO_ADDRESS = 'not an address'

/** Reads a range whose first address ends before `firstTo` and whose last one begins at `lastFrom`; see `readNetwork`. */
export function readRange(
  bytes: Uint8Array,
  from: number,
  firstTo: number,
  lastFrom: number,
  to: number,
  networks: Networks,
): string {
  if (!readAddress(bytes, from, firstTo, first) || !readAddress(bytes, lastFrom, to, last)) return NO_ADDRESS
  if (first.kind !== last.kind) return 'a range from one kind of address to another'
  if (isBefore(last, first)) return 'a range that ends before it begins'
  add(networks, first, last)
  return ''
}

function readPrefixed(bytes: Uint8Array, from: number, slash: number, to: number, networks: Networks): string {
  if (!readAddress(bytes, from, slash, first)) return NO_ADDRESS
  const isMapped = first.kind === 4 && bytes.subarray(from, slash).includes(COLON)
  const prefix = prefixOf(bytes, slash + 1, to, first.kind === 4 && !isMapped ? 32 : 128) - (isMapped ? 96 : 0)
  if (prefix < 0) return 'not a prefix length'
  last.kind = first.kind
  for (let word = 0; word < (first.kind === 4 ? 1 : 4); word += 1) {
    const host = hostMask(prefix - word * 32)
    last.words[word] = (first.words[word] as number) | host
    first.words[word] = (first.words[word] as number) & ~host
  }
  add(networks, first, last)
  return ''
}

/** The bits of a word that are the host's, when `prefix` of its bits are the network's. */
function hostMask(prefix: number): number {
  return prefix >= 32 ? 0 : prefix <= 0 ? -1 : -1 >>> prefix
}

function prefixOf(bytes: Uint8Array, from: number, to: number, most: number): number {
  if (to === from || to - from > 3 || (to - from > 1 && bytes[from] === 0x30)) return -1
  let prefix = 0
  for (let at = from; at < to; at += 1) {
    const digit = (bytes[at] as number) - 0x30
    if (digit < 0 || digit > 9) return -1
    prefix = prefix * 10 + digit
  }
  return prefix <= most ? prefix : -1
}

function isBefore(one: Address, other: Address): boolean {
  for (let word = 0; word < (one.kind === 4 ? 1 : 4); word += 1) {
    const [left, right] = [one.words[word] as number, other.words[word] as number]
    if (left !== right) return left < right
  }
  return false
}

function add(networks: Networks, from: Address, to: Address): void {
  if (from.kind === 4) append(networks.v4, from.words, to.words, V4_WIDTH)
  else append(networks.v6, from.words, to.words, V6_WIDTH)
}

/** The same entries, each once, by their first address, the larger one before those it holds. */
export function sortNetworks({ v4, v6 }: Networks): Networks {
  return { v4: sorted(v4, V4_WIDTH), v6: sorted(v6, V6_WIDTH) }
}

function sorted({ words, length }: Words, width: number): Words {
  const half = width / 2
  const byLast = sortRows(inOrder(length / width), words, width, range(half, width)).reverse()
  const order = sortRows(byLast, words, width, range(0, half))
  const result = new Uint32Array(length)
  let filled = 0
  for (const row of order) {
    for (let word = 0; word < width; word += 1) result[filled + word] = words[row * width + word] as number
    if (filled === 0 || compareRows(result, filled - width, result, filled, width) !== 0) filled += width
  }
  return { words: result, length: filled }
}

/** The numbers from `from` up to and without `to`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

/** Less than 0 where the words at `at` come before those of the other row at `otherAt`, 0 where they are the same. */
export function compareRows(
  words: Uint32Array,
  at: number,
  other: Uint32Array,
  otherAt: number,
  width: number,
): number {
  for (let word = 0; word < width; word += 1) {
    const [left, right] = [words[at + word] as number, other[otherAt + word] as number]
    if (left !== right) return left - right
  }
  return 0
}

/** How many entries of `after` are not in `before`; both as `sortNetworks` returns them. */
export function countNewNetworks(before: Networks, after: Networks): number {
  return countNew(before.v4, after.v4, V4_WIDTH) + countNew(before.v6, after.v6, V6_WIDTH)
}

function countNew(before: Words, after: Words, width: number): number {
  const half = width / 2
  let count = 0
  let known = 0
  for (let at = 0; at < after.length; at += width) {
    let order = -1
    while (known < before.length) {
      const byFirst = compareRows(before.words, known, after.words, at, half)
      order = byFirst !== 0 ? byFirst : compareRows(after.words, at + half, before.words, known + half, half)
      if (order >= 0) break
      known += width
    }
    if (order !== 0) count += 1
  }
  return count
}

/** The entry whose words begin at `at`, as text: an address, a network in CIDR notation, or a range `a-b`. */
export function networkText(words: Uint32Array, at: number, width: number): string {
  const half = width / 2
  const prefix = prefixLength(words, at, half)
  const text = textAt(words, at, half)
  if (prefix === half * 32) return text
  return prefix < 0 ? `${text}-${textAt(words, at + half, half)}` : `${text}/${prefix}`
}

function textAt(words: Uint32Array, at: number, size: number): string {
  return addressText({ kind: size === 1 ? 4 : 6, words: words.subarray(at, at + size) })
}

/** Bits that all addresses of the entry have in common; −1 where it is no network. */
function prefixLength(words: Uint32Array, at: number, half: number): number {
  let prefix = half * 32
  for (let word = 0; word < half; word += 1) {
    const [from, to] = [words[at + word] as number, words[at + half + word] as number]
    const host = (from ^ to) >>> 0
    if (prefix < half * 32) {
      if (from !== 0 || to !== 0xffffffff) return -1
    } else if (host !== 0) {
      prefix = word * 32 + Math.clz32(host)
      if ((host & (host + 1)) !== 0 || (from & host) !== 0) return -1
    }
  }
  return prefix
}
