import { MAX_NAME } from './domain-name.ts'

/**
 * Domain names and a hash table over them. All is in shared memory, so that a copy for another thread shares the bytes.
 */
export type DomainIndex = {
  /** The names, in lower case, one after the other. */
  names: Uint8Array
  /** Where each name ends; it begins where the one before it ends. */
  ends: Uint32Array
  /** By place in the hash table: 8 bits of the name's hash, 0 for an empty place. */
  tags: Uint8Array
  /** By place in the hash table: the number of the name. */
  entries: Uint32Array
}

const DOT = 0x2e
const PRIME = 0x01000193
const SEED = 0x811c9dc5 | 0

/** The hash so far, mixed so that each of its bits depends on all of the name's. */
function mixed(hash: number): number {
  let mix = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  mix = Math.imul(mix ^ (mix >>> 12), 0x297a2d39)
  return mix ^ (mix >>> 15)
}

function tagOf(mix: number): number {
  return mix >>> 24 || 1
}

/** The hash of a name. It is made from the end on, so that the hashes of its parent domains come up on the way. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = SEED
  for (let at = to - 1; at >= from; at -= 1) hash = Math.imul(hash ^ (bytes[at] as number), PRIME)
  return mixed(hash)
}

/** The number of the name whose hash is `mix`; −1 for none. */
function find({ names, ends, tags, entries }: DomainIndex, mix: number, bytes: Uint8Array, from: number, to: number) {
  const mask = tags.length - 1
  const tag = tagOf(mix)
  for (let place = mix & mask; tags[place] !== 0; place = (place + 1) & mask) {
    if (tags[place] !== tag) continue
    const entry = entries[place] as number
    const start = entry === 0 ? 0 : (ends[entry - 1] as number)
    if ((ends[entry] as number) - start !== to - from) continue
    let at = from
    while (at < to && bytes[at] === names[start + at - from]) at += 1
    if (at === to) return entry
  }
  return -1
}

/**
 * Finds a host, or the nearest of its parent domains. A name in the index never matches in the middle of a label.
 *
 * @param host in lower case, the first `length` bytes; a dot at its end does not matter.
 * @returns the number of the name; −1 for none.
 */
export function lookUpHost(index: DomainIndex, host: Uint8Array, length: number): number {
  const to = length > 0 && host[length - 1] === DOT ? length - 1 : length
  if (to > MAX_NAME || index.ends.length === 0) return -1
  let found = -1
  let hash = SEED
  for (let at = to - 1; at >= 0; at -= 1) {
    hash = Math.imul(hash ^ (host[at] as number), PRIME)
    if (at > 0 && host[at - 1] !== DOT) continue
    const entry = find(index, mixed(hash), host, at, to)
    if (entry >= 0) found = entry
  }
  return found
}

/** The name of this number. */
export function domainOf({ names, ends }: DomainIndex, entry: number): string {
  let text = ''
  for (let at = entry === 0 ? 0 : (ends[entry - 1] as number); at < (ends[entry] as number); at += 1) {
    text += String.fromCharCode(names[at] as number)
  }
  return text
}

/** Domain names that are being collected, each once, numbered from 0 on in the order in which they came. */
export type DomainSet = {
  /** How many there are. */
  readonly size: number
  /** Adds a name; one that is there already keeps its number. */
  add(bytes: Uint8Array, from: number, to: number): void
  has(bytes: Uint8Array, from: number, to: number): boolean
  /** Calls `visit` with the place of each name, in order. */
  each(visit: (names: Uint8Array, from: number, to: number) => void): void
  /** An index of all names, in shared memory of just their size. */
  index(): DomainIndex
}

export function createDomainSet(): DomainSet {
  let size = 0
  const table: DomainIndex = {
    names: new Uint8Array(16 * 1024),
    ends: new Uint32Array(1024),
    tags: new Uint8Array(2048),
    entries: new Uint32Array(2048),
  }
  const end = () => (size === 0 ? 0 : (table.ends[size - 1] as number))

  function place(mix: number, entry: number): void {
    const mask = table.tags.length - 1
    let at = mix & mask
    while (table.tags[at] !== 0) at = (at + 1) & mask
    table.tags[at] = tagOf(mix)
    table.entries[at] = entry
  }

  /** Keeps the table at most half full. */
  function makeRoom(length: number): void {
    if (end() + length > table.names.length) {
      const names = new Uint8Array(table.names.length * 2)
      names.set(table.names)
      table.names = names
    }
    if (size < table.ends.length) return
    const ends = new Uint32Array(table.ends.length * 2)
    ends.set(table.ends)
    table.ends = ends
    table.tags = new Uint8Array(ends.length * 2)
    table.entries = new Uint32Array(ends.length * 2)
    each((names, from, to, entry) => place(hashOf(names, from, to), entry))
  }

  function each(visit: (names: Uint8Array, from: number, to: number, entry: number) => void): void {
    let from = 0
    for (let entry = 0; entry < size; entry += 1) {
      const to = table.ends[entry] as number
      visit(table.names, from, to, entry)
      from = to
    }
  }

  return {
    get size() {
      return size
    },
    add(bytes, from, to) {
      const mix = hashOf(bytes, from, to)
      if (find(table, mix, bytes, from, to) >= 0) return
      makeRoom(to - from)
      const start = end()
      for (let at = from; at < to; at += 1) table.names[start + at - from] = bytes[at] as number
      table.ends[size] = start + to - from
      place(mix, size)
      size += 1
    },
    has: (bytes, from, to) => find(table, hashOf(bytes, from, to), bytes, from, to) >= 0,
    each,
    index() {
      return {
        names: sharedBytes(table.names.subarray(0, end())),
        ends: sharedWords(table.ends.subarray(0, size)),
        tags: sharedBytes(table.tags),
        entries: sharedWords(table.entries),
      }
    },
  }
}

function sharedBytes(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.byteLength))
  shared.set(bytes)
  return shared
}

/** A copy of the words in shared memory. */
export function sharedWords(words: Uint32Array): Uint32Array {
  const shared = new Uint32Array(new SharedArrayBuffer(words.byteLength))
  shared.set(words)
  return shared
}
