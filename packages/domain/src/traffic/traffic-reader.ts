import type { Sha256 } from '../ports.ts'
import { createTrafficReading, type Judge, type TrafficSummary } from './traffic-reading.ts'

/** Which feeds judge the lines of a file: those of the services that its blocker has enabled. */
export type Judging = { addresses: boolean; hosts: boolean }

/** What was read of a file. */
export type ReadFile = TrafficSummary & {
  /** Bytes. */
  size: number
  sha256: string
}

/**
 * Reads a traffic file as it comes. An adapter may do so apart from everything else, in a thread of its own.
 *
 * Rejects with DomainError `invalid` when the file is none, and with what `content` throws.
 */
export type ReadTraffic = (content: AsyncIterable<Uint8Array>, judging: Judging) => Promise<ReadFile>

/** Reads traffic files where it is called. */
export function readTrafficHere(newSha256: () => Sha256, judgeFor: (judging: Judging) => Judge): ReadTraffic {
  return async (content, judging) => {
    const hash = newSha256()
    const reading = createTrafficReading(judgeFor(judging))
    let size = 0
    for await (const bytes of content) {
      size += bytes.length
      hash.update(bytes)
      reading.push(bytes)
    }
    return { ...reading.end(), size, sha256: hash.digest() }
  }
}
