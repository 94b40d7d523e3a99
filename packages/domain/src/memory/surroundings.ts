import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { pipeline, type Transform } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import type { Seal, Surroundings } from '../ports.ts'
import { gathered } from '../stream.ts'

/**
 * Bytes that are compressed at a time, in another thread, and how many such pieces wait for it at the most: meanwhile the
 * next ones come in. Once so many wait, no more is asked for before all are done, so that their memory is free again.
 */
const PIECE = 256 * 1024
const AHEAD = 4

const FAST = {
  // For logs as small as the default level makes them, at half its cost.
  // What repeats in a log does so within 128 KiB: to look farther back makes it no smaller, and takes a third more.
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 17 },
  chunkSize: PIECE,
  writableHighWaterMark: AHEAD * PIECE,
}

/** Bytes that are decompressed at a time: each piece costs a trip to another thread. Slow readers hold one each. */
const READ_PIECE = 64 * 1024

/** The clock, ids and randomness of the machine. */
export function systemSurroundings(): Surroundings {
  return {
    now: () => new Date(),
    nextTurn: () => nextTurn(),
    newUuid: () => randomUUID(),
    randomBytes: (count) => randomBytes(count),

    newSha256() {
      const hash = createHash('sha256')
      return { update: (data) => void hash.update(data), digest: () => hash.digest('hex') }
    },

    sealOf,

    compress: (content) => transformed(gathered(content, PIECE, AHEAD), createZstdCompress(FAST)),
    decompress: (content) => transformed(content, createZstdDecompress({ chunkSize: READ_PIECE })),
  }
}

const CIPHER = 'aes-256-gcm'
const IV_LENGTH = 12
const TAG_LENGTH = 16

/** Of the 64 bytes that are derived from the secret, the first half is the name of the seal, the second its key. */
function sealOf(secret: string, name: string): Seal {
  const derived = Buffer.from(hkdfSync('sha256', secret, '', name, 64))
  const key = derived.subarray(32)
  return {
    id: derived.toString('hex', 0, 32),
    seal(text) {
      const iv = randomBytes(IV_LENGTH)
      const cipher = createCipheriv(CIPHER, key, iv)
      const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), content])
    },
    open(sealed) {
      const content = sealed.subarray(IV_LENGTH + TAG_LENGTH)
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_LENGTH), { authTagLength: TAG_LENGTH })
      decipher.setAuthTag(sealed.subarray(IV_LENGTH, IV_LENGTH + TAG_LENGTH))
      return Buffer.concat([decipher.update(content), decipher.final()]).toString('utf8')
    },
  }
}

async function* transformed(content: AsyncIterable<Uint8Array>, transform: Transform): AsyncGenerator<Uint8Array> {
  // What the content throws is thrown by the iteration, too.
  pipeline(content, transform, () => {})
  yield* transform
}
