/** Position of the first such byte between `from` and `to`, or `to`; `indexOf` would look through the whole buffer. */
export function find(bytes: Uint8Array, byte: number, from: number, to: number): number {
  let at = from
  while (at < to && bytes[at] !== byte) at += 1
  return at
}
