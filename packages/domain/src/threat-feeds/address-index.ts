import type { Address } from '../traffic/line-addresses.ts'
import { sharedWords } from './domain-index.ts'
import { compareRows, type Networks, networkText, range, V4_WIDTH, V6_WIDTH, type Words } from './networks.ts'
import { inOrder, sortRows } from './radix-sort.ts'

/**
 * Addresses cut into segments, each of which has one answer. All is in shared memory, so that a copy for another thread
 * shares the bytes.
 */
type Segments = {
  /** First address of each segment, ascending; word after word: all first words, then all second ones, … */
  starts: Uint32Array
  /** The entry that each segment belongs to; `NONE` for a gap. */
  owners: Uint32Array
  /** By the upper bits of an address: the segment of the first address that has them; 2^n of them, and the last one again. */
  jumps: Uint32Array
  /**
   * By more of its upper bits, one bit each: whether an entry has any address with these. Most addresses of a log are in no
   * feed, and this is all that is read for them, instead of three places far from each other. 2^n bits.
   */
  occupied: Uint32Array
  /** First and last address of each entry, see `Networks`. */
  entries: Uint32Array
}

/** An index over networks and ranges, IPv4 and IPv6. Entries are numbered as they were added, those of IPv4 first. */
export type AddressIndex = { v4: Segments; v6: Segments }

const NONE = 0xffffffff
/** Most upper bits that `jumps` tells apart, and `occupied`: 256 KiB and 2 MiB. Of few segments they tell fewer apart. */
const MAX_JUMP_BITS = 16
const MAX_OCCUPIED_BITS = 24

/**
 * Makes the index. Where entries overlap, the one with the fewest addresses owns an address, and of several such ones
 * the first.
 */
export function createAddressIndex({ v4, v6 }: Networks): AddressIndex {
  return { v4: segmentsOf(v4, V4_WIDTH), v6: segmentsOf(v6, V6_WIDTH) }
}

/** The number of the entry that an address belongs to; −1 for none. */
export function lookUpAddress({ v4, v6 }: AddressIndex, { kind, words }: Address): number {
  if (kind === 4) return lookUpV4(v4, words[0] as number)
  if (kind !== 6) return -1
  const found = lookUpV6(v6, words)
  return found < 0 ? -1 : found + v4.entries.length / V4_WIDTH
}

/** How far the first word of an address is shifted so that one of `places`, which are a power of two, is left. */
function shiftTo(places: number): number {
  return Math.clz32(places) + 1
}

function isOccupied(occupied: Uint32Array, first: number): boolean {
  const place = first >>> shiftTo(occupied.length * 32)
  return (((occupied[place >>> 5] as number) >>> (place & 31)) & 1) === 1
}

function lookUpV4({ starts, owners, jumps, occupied }: Segments, address: number): number {
  if (!isOccupied(occupied, address)) return -1
  const upper = address >>> shiftTo(jumps.length - 1)
  let low = jumps[upper] as number
  let high = jumps[upper + 1] as number
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((starts[middle] as number) <= address) low = middle
    else high = middle - 1
  }
  const owner = owners[low] as number
  return owner === NONE ? -1 : owner
}

function lookUpV6({ starts, owners, jumps, occupied }: Segments, words: Uint32Array): number {
  const count = owners.length
  const first = words[0] as number
  if (!isOccupied(occupied, first)) return -1
  const upper = first >>> shiftTo(jumps.length - 1)
  let low = jumps[upper] as number
  let high = jumps[upper + 1] as number
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    const start = starts[middle] as number
    if (start < first || (start === first && isNotAfter(starts, middle, count, words))) low = middle
    else high = middle - 1
  }
  const owner = owners[low] as number
  return owner === NONE ? -1 : owner
}

/** Whether a segment whose first word is that of the address begins at the address or before it. */
function isNotAfter(starts: Uint32Array, segment: number, count: number, words: Uint32Array): boolean {
  for (let word = 1; word < 4; word += 1) {
    const start = starts[word * count + segment] as number
    const wanted = words[word] as number
    if (start !== wanted) return start < wanted
  }
  return true
}

/** How many entries the index has of each kind. */
export function countEntries({ v4, v6 }: AddressIndex): { v4: number; v6: number } {
  return { v4: v4.entries.length / V4_WIDTH, v6: v6.entries.length / V6_WIDTH }
}

/** The entry of this number as text: `10.0.0.0/8`, `192.0.2.1`, `2001:db8::-2001:db8::5`. */
export function networkOf({ v4, v6 }: AddressIndex, entry: number): string {
  const countV4 = v4.entries.length / V4_WIDTH
  return entry < countV4
    ? networkText(v4.entries, entry * V4_WIDTH, V4_WIDTH)
    : networkText(v6.entries, (entry - countV4) * V6_WIDTH, V6_WIDTH)
}

/** Goes over the addresses from 0 up, with the entries that hold the present one in a heap. */
function segmentsOf({ words, length }: Words, width: number): Segments {
  const size = width / 2
  const count = length / width
  const byStart = sortRows(inOrder(count), words, width, range(0, size))
  const bySize = sortRows(inOrder(count), sizesOf(words, count, width), size, range(0, size))
  const rank = new Uint32Array(count)
  for (let place = 0; place < count; place += 1) rank[bySize[place] as number] = place

  const inside = createHeap(count)
  const position = new Uint32Array(size)
  const starts = new Uint32Array((2 * count + 1) * size)
  const owners = new Uint32Array(2 * count + 1)
  let segments = 0
  let next = 0
  for (;;) {
    while (next < count && compareRows(words, (byStart[next] as number) * width, position, 0, size) <= 0) {
      inside.push(rank[byStart[next] as number] as number)
      next += 1
    }
    while (inside.size > 0 && compareRows(words, endOf(inside.least()), position, 0, size) < 0) inside.pop()
    const owner = inside.size === 0 ? NONE : (bySize[inside.least()] as number)
    if (segments === 0 || owners[segments - 1] !== owner) {
      copyRow(position, 0, starts, segments * size, size)
      owners[segments] = owner
      segments += 1
    }
    const start = next < count ? (byStart[next] as number) * width : -1
    const end = owner === NONE ? -1 : owner * width + size
    if (start < 0 && end < 0) break
    if (end >= 0 && (start < 0 || compareRows(words, end, words, start, size) < 0)) {
      if (!follow(position, words, end)) break
    } else copyRow(words, start, position, 0, size)
  }

  function endOf(ranked: number): number {
    return (bySize[ranked] as number) * width + size
  }

  return {
    starts: sharedWords(byColumns(starts, segments, size)),
    owners: sharedWords(owners.subarray(0, segments)),
    jumps: sharedWords(jumpsOf(starts, segments, size)),
    occupied: sharedWords(occupiedOf(starts, owners, segments, size)),
    entries: sharedWords(words.subarray(0, length)),
  }
}

/** For a few words `set` takes longer. */
function copyRow(words: Uint32Array, from: number, target: Uint32Array, to: number, size: number): void {
  for (let word = 0; word < size; word += 1) target[to + word] = words[from + word] as number
}

/** Row by row, how many addresses an entry has beyond its first. */
function sizesOf(words: Uint32Array, count: number, width: number): Uint32Array {
  const size = width / 2
  const sizes = new Uint32Array(count * size)
  for (let row = 0; row < count; row += 1) {
    let borrow = 0
    for (let word = size - 1; word >= 0; word -= 1) {
      const difference = (words[row * width + size + word] as number) - (words[row * width + word] as number) - borrow
      sizes[row * size + word] = difference
      borrow = difference < 0 ? 1 : 0
    }
  }
  return sizes
}

/** Sets `position` to the address after the one at `end`; false where there is none. */
function follow(position: Uint32Array, words: Uint32Array, end: number): boolean {
  let carry = 1
  for (let word = position.length - 1; word >= 0; word -= 1) {
    const sum = (words[end + word] as number) + carry
    position[word] = sum
    carry = sum > 0xffffffff ? 1 : 0
  }
  return carry === 0
}

function byColumns(rows: Uint32Array, count: number, size: number): Uint32Array {
  if (size === 1) return rows.subarray(0, count)
  const columns = new Uint32Array(count * size)
  for (let row = 0; row < count; row += 1) {
    for (let column = 0; column < size; column += 1) {
      columns[column * count + row] = rows[row * size + column] as number
    }
  }
  return columns
}

function jumpsOf(starts: Uint32Array, segments: number, size: number): Uint32Array {
  const places = 2 ** Math.min(bitsOf(segments), MAX_JUMP_BITS)
  const shift = shiftTo(places)
  const jumps = new Uint32Array(places + 1).fill(segments - 1)
  let segment = 0
  for (let upper = 0; upper < places; upper += 1) {
    while (segment + 1 < segments && startsBy(starts, (segment + 1) * size, size, upper, shift)) segment += 1
    jumps[upper] = segment
  }
  return jumps
}

/** Bits that tell so many segments apart; at least one, since a word cannot be shifted by all of its bits. */
function bitsOf(segments: number): number {
  return 32 - Math.clz32(segments)
}

/** Whether a segment begins at the first address with these upper bits, or before it. */
function startsBy(starts: Uint32Array, at: number, size: number, upper: number, shift: number): boolean {
  const first = starts[at] as number
  if (first >>> shift !== upper) return first >>> shift < upper
  return first === (upper << shift) >>> 0 && starts.subarray(at + 1, at + size).every((word) => word === 0)
}

function occupiedOf(starts: Uint32Array, owners: Uint32Array, segments: number, size: number): Uint32Array {
  // Sixteen places a segment, so that few addresses share one with an entry that does not have them.
  const places = 2 ** Math.min(bitsOf(segments) + 4, MAX_OCCUPIED_BITS)
  const shift = shiftTo(places)
  const occupied = new Uint32Array(places / 32)
  for (let segment = 0; segment < segments; segment += 1) {
    if (owners[segment] === NONE) continue
    const next = segment + 1
    // The place in which the next segment begins may be this one's last.
    const last = next < segments ? (starts[next * size] as number) >>> shift : places - 1
    const isNextFirst = next < segments && startsBy(starts, next * size, size, last, shift)
    setBits(occupied, (starts[segment * size] as number) >>> shift, isNextFirst ? last - 1 : last)
  }
  return occupied
}

function setBits(words: Uint32Array, from: number, to: number): void {
  for (let bit = from; bit <= to; ) {
    const isWhole = (bit & 31) === 0 && bit + 31 <= to
    words[bit >>> 5] = isWhole ? 0xffffffff : (words[bit >>> 5] as number) | (1 << (bit & 31))
    bit += isWhole ? 32 : 1
  }
}

/** Numbers of which the least one can be taken. */
function createHeap(most: number) {
  const items = new Uint32Array(most)
  let size = 0
  return {
    get size() {
      return size
    },
    least: () => items[0] as number,
    push(item: number): void {
      let at = size
      size += 1
      while (at > 0) {
        const parent = (at - 1) >> 1
        if ((items[parent] as number) <= item) break
        items[at] = items[parent] as number
        at = parent
      }
      items[at] = item
    },
    pop(): void {
      size -= 1
      const item = items[size] as number
      let at = 0
      for (;;) {
        let child = 2 * at + 1
        if (child >= size) break
        if (child + 1 < size && (items[child + 1] as number) < (items[child] as number)) child += 1
        if ((items[child] as number) >= item) break
        items[at] = items[child] as number
        at = child
      }
      items[at] = item
    },
  }
}
