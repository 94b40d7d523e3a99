/** Numbers that look random and follow from a seed alone, so that what they led to can be had again. */
export type Random = {
  /** A fraction from 0 up to, but not including, 1. */
  fraction(): number
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number
  /** One of them. */
  pick<Item>(items: readonly Item[]): Item
  bytes(count: number): Buffer
  /** Numbers for something that runs beside others: what one draws does not change what the others get. */
  fork(): Random
}

/** @param seed a whole number from 0 to 2^32 − 1. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0

  // SplitMix32.
  function next(): number {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return (mixed ^ (mixed >>> 16)) >>> 0
  }

  const fraction = () => next() / 2 ** 32
  const between = (from: number, to: number) => from + Math.floor(fraction() * (to - from + 1))
  return {
    fraction,
    between,
    pick<Item>(items: readonly Item[]): Item {
      if (items.length === 0) throw new Error('There is nothing to pick from')
      return items[between(0, items.length - 1)] as Item
    },
    bytes: (count) => Buffer.from(Uint8Array.from({ length: count }, () => next() & 0xff)),
    fork: () => randomOf(next()),
  }
}
