import { createHash, randomBytes, randomUUID } from 'node:crypto'
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

    newUtf8Decoder() {
      const decoder = new TextDecoder()
      return { decode: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() }
    },
  }
}
