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

/** The same bytes in pieces of at least `size`, but for the last one. */
export async function* gathered(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let chunks: Uint8Array[] = []
  let length = 0
  for await (const bytes of content) {
    chunks.push(bytes)
    length += bytes.length
    if (length < size) continue
    yield joined(chunks, length)
    chunks = []
    length = 0
  }
  if (length > 0) yield joined(chunks, length)
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
