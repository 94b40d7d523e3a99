/**
 * Paths of names, as one hash table that is walked while the bytes of a key are read. Letter case does not matter.
 * Node 0 is "nothing of interest", node 1 the outermost object.
 */
export type NameTrie = {
  /** What to begin a key's hash with in this node's object. */
  seed(node: number): number
  /** The entry of the key at `from`…`to` (exclusive), whose hash was made from the node's seed; undefined for none. */
  find(node: number, hash: number, bytes: Uint8Array, from: number, to: number): TrieEntry | undefined
  /** Whether the node is that of items of a list: objects with a name and a value. */
  isItem(node: number): boolean
}

export type TrieEntry = {
  /** The node of the object beneath, 0 for none. */
  child: number
  /**
   * What a value of this name gives: field and rank (0 is best) in turn, since a name may serve several fields. In an item
   * of a list also `ITEM_NAME` with the node in which its text is looked up, and `ITEM_VALUE`.
   */
  fields: number[]
}

/** Stand in the place of a field. */
export const ITEM_NAME = -1
export const ITEM_VALUE = -2

export const ROOT = 1

/** One step of the hash of a key, for each of its bytes in lower case. */
export function hashStep(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193)
}

/** ASCII letters in lower case, other bytes as they are. */
export function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
}

type Slot = TrieEntry & { node: number; hash: number; name: Uint8Array }

/** Makes the trie of all names; the index of a field in `fields` is its number, that of a name its rank. */
export function createNameTrie(fields: readonly (readonly string[])[]): NameTrie {
  const slots: Slot[] = []
  const items = new Set<number>()
  let nodes = ROOT

  function entry(node: number, text: string): Slot {
    const name = Uint8Array.from(text.toLowerCase(), (character) => character.charCodeAt(0))
    const hash = name.reduce(hashStep, seed(node))
    const known = slots.find((slot) => slot.node === node && slot.hash === hash && sameBytes(slot.name, name))
    if (known) return known
    const slot: Slot = { node, hash, name, child: 0, fields: [] }
    slots.push(slot)
    return slot
  }

  /** The node beneath this name. */
  function beneath(node: number, text: string): number {
    const outer = entry(node, text)
    if (outer.child === 0) {
      nodes += 1
      outer.child = nodes
    }
    return outer.child
  }

  /** The node in which the names of a list's items are looked up. */
  function namesOf(list: number): number {
    const [kind, node] = entry(list, 'name').fields
    if (kind === ITEM_NAME && node !== undefined) return node
    items.add(list)
    nodes += 1
    entry(list, 'name').fields.push(ITEM_NAME, nodes)
    entry(list, 'value').fields.push(ITEM_VALUE, 0)
    return nodes
  }

  for (const [field, names] of fields.entries()) {
    for (const [rank, name] of names.entries()) {
      const [, list, item] = /^(.+)\[(.+)\]$/.exec(name) ?? []
      const path = (list ?? name).split('.')
      if (list !== undefined && item !== undefined) {
        entry(namesOf(path.reduce(beneath, ROOT)), item).fields.push(field, rank)
        continue
      }
      entry(ROOT, name).fields.push(field, rank)
      const node = path.slice(0, -1).reduce(beneath, ROOT)
      if (node !== ROOT) entry(node, path.at(-1) ?? '').fields.push(field, rank)
    }
  }

  // Twice as many places as entries, and a power of two: a key that is none of them is mostly seen at the first look.
  let size = 64
  while (size < slots.length * 4) size *= 2
  const table = new Array<Slot | undefined>(size)
  for (const slot of slots) {
    let place = slot.hash & (size - 1)
    while (table[place]) place = (place + 1) & (size - 1)
    table[place] = slot
  }

  return {
    seed,
    isItem: (node) => items.has(node),
    find(node, hash, bytes, from, to) {
      for (let place = hash & (size - 1); ; place = (place + 1) & (size - 1)) {
        const slot = table[place]
        if (!slot) return undefined
        if (slot.hash === hash && slot.node === node && isName(slot.name, bytes, from, to)) return slot
      }
    },
  }
}

function seed(node: number): number {
  return Math.imul(node, 0x9e3779b1) ^ 0x811c9dc5
}

function isName(name: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from !== name.length) return false
  for (let index = 0; index < name.length; index += 1) {
    if (lower(bytes[from + index] as number) !== name[index]) return false
  }
  return true
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return isName(one, other, 0, other.length)
}
