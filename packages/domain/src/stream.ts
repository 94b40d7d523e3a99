import { DomainError } from './errors.ts'

/**
 * Passes bytes on until there are more than `limit` of them.
 *
 * @throws DomainError `too_large`.
 */
export async function* bounded(content: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const bytes of content) {
    size += bytes.length
    if (size > limit) throw new DomainError('too_large')
    yield bytes
  }
}

/**
 * The same bytes in pieces of just `size`, but for the last one. The pieces lie in `count` pieces of memory in turn: each
 * is overwritten once the `count`-th one after it is asked for.
 */
export async function* gathered(
  content: AsyncIterable<Uint8Array>,
  size: number,
  count = 1,
): AsyncGenerator<Uint8Array> {
  const memory: Uint8Array[] = []
  let turn = 0
  let filled = 0
  const piece = () => (memory[turn] ??= new Uint8Array(size))
  for await (const bytes of content) {
    for (let taken = 0; taken < bytes.length; ) {
      const part = bytes.subarray(taken, taken + size - filled)
      piece().set(part, filled)
      filled += part.length
      taken += part.length
      if (filled < size) continue
      yield piece()
      turn = (turn + 1) % count
      filled = 0
    }
  }
  if (filled > 0) yield piece().subarray(0, filled)
}
