import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { pipeline, type Transform } from 'node:stream'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import type { Surroundings } from '../ports.ts'

/** For logs as small as the default level makes them, at half its cost. */
const FAST = { [constants.ZSTD_c_compressionLevel]: 1 }

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

    compress: (content) => transformed(content, createZstdCompress({ params: FAST, chunkSize: 256 * 1024 })),
    decompress: (content) => transformed(content, createZstdDecompress()),
  }
}

async function* transformed(content: AsyncIterable<Uint8Array>, transform: Transform): AsyncGenerator<Uint8Array> {
  // What the content throws is thrown by the iteration, too. A piece as large as the transform's high-water mark is
  // waited for before the next one is asked for, so its memory may be used again.
  pipeline(content, transform, () => {})
  yield* transform
}
