const DIGIT = 11
const RADIX = 1 << DIGIT

/** The numbers from 0 to `count` − 1, in order. */
export function inOrder(count: number): Uint32Array {
  const order = new Uint32Array(count)
  for (let index = 0; index < count; index += 1) order[index] = index
  return order
}

/**
 * Sorts rows of 32-bit words, in time that grows with their number alone. Rows whose keys are equal stay in the order
 * they had.
 *
 * @param order numbers of the rows, in the order so far.
 * @param words row after row, `width` words each.
 * @param columns which words of a row make its key, the most significant first.
 * @returns the numbers of the rows, by their keys, ascending.
 */
export function sortRows(
  order: Uint32Array,
  words: Uint32Array,
  width: number,
  columns: readonly number[],
): Uint32Array {
  let sorted = order
  let spare: Uint32Array = new Uint32Array(order.length)
  const counts = new Uint32Array(RADIX)
  for (const column of columns.toReversed()) {
    for (let shift = 0; shift < 32; shift += DIGIT) {
      counts.fill(0)
      for (let index = 0; index < sorted.length; index += 1) {
        const word = words[(sorted[index] as number) * width + column] as number
        counts[(word >>> shift) & (RADIX - 1)] = (counts[(word >>> shift) & (RADIX - 1)] as number) + 1
      }
      // A digit that all have in common changes nothing.
      if (counts.includes(sorted.length)) continue
      let before = 0
      for (let digit = 0; digit < RADIX; digit += 1) {
        const count = counts[digit] as number
        counts[digit] = before
        before += count
      }
      for (let index = 0; index < sorted.length; index += 1) {
        const row = sorted[index] as number
        const digit = ((words[row * width + column] as number) >>> shift) & (RADIX - 1)
        spare[counts[digit] as number] = row
        counts[digit] = (counts[digit] as number) + 1
      }
      const filled = spare
      spare = sorted === order ? new Uint32Array(order.length) : sorted
      sorted = filled
    }
  }
  return sorted
}
