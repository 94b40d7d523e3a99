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
