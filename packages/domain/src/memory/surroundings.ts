import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { pipeline, type Transform } from 'node:stream'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import type { Surroundings } from '../ports.ts'

/** The clock, ids and randomness of the machine. */
export function systemSurroundings(): Surroundings {
  return {
    now: () => new Date(),
    newUuid: () => randomUUID(),
    randomBytes: (count) => randomBytes(count),

    newSha256() {
      const hash = createHash('sha256')
      return { update: (data) => void hash.update(data), digest: () => hash.digest('hex') }
    },

    compress: (content) => transformed(content, createZstdCompress()),
    decompress: (content) => transformed(content, createZstdDecompress()),
  }
}

async function* transformed(content: AsyncIterable<Uint8Array>, transform: Transform): AsyncGenerator<Uint8Array> {
  // What the content throws is thrown by the iteration, too.
  pipeline(content, transform, () => {})
  yield* transform
}
