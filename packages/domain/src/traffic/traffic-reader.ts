import type { Sha256 } from '../ports.ts'
import type { StoredThreatBlocker } from '../threat-blockers/threat-blocker.ts'
import { loadTrafficReading } from './load-traffic-reading.ts'
import {
  type Judge,
  NO_FEEDS,
  type SlotCount,
  type ThreatCount,
  type TrafficReading,
  type TrafficSummary,
} from './traffic-reading.ts'

/** Which feeds judge the lines of a file: those of the services that its blocker has enabled. */
export type Judging = { addresses: boolean; hosts: boolean }

/** What these services of a blocker judge by. */
export function judgingBy(services: StoredThreatBlocker['services']): Judging {
  return {
    addresses: services.includes('Service IPv4 Protection'),
    hosts: services.includes('Service Domain Protection'),
  }
}

/** Judges by the feeds of the services that are enabled. */
export function judgeOf(feeds: Judge, { addresses, hosts }: Judging): Judge {
  return {
    version: feeds.version,
    address: addresses ? feeds.address : NO_FEEDS.address,
    host: hosts ? feeds.host : NO_FEEDS.host,
    explain: feeds.explain,
  }
}

/** What was read of a file. */
export type ReadFile = Omit<TrafficSummary, 'slots' | 'threats'> & {
  /** In the order of the summary. They are many: an adapter may make them only as they are gone through, each time. */
  slots: Iterable<SlotCount>
  threats: Iterable<ThreatCount>
  /** Bytes. */
  size: number
  sha256: string
}

/** Reads one traffic file as it comes. What is begun is either ended or aborted. */
export type TrafficReader = {
  /**
   * Takes the next bytes, which may be changed once the promise resolves; it does so when more are wanted.
   *
   * @throws DomainError `invalid` when the file is none, here or later.
   */
  push(bytes: Uint8Array): Promise<void>
  /** @throws DomainError `invalid` when the file is none. */
  end(): Promise<ReadFile>
  abort(): void
}

/** Begins to read a traffic file. An adapter may do so apart from everything else, in a thread of its own. */
export type OpenTrafficReader = (judging: Judging) => TrafficReader

/** Reads traffic files where it is called. */
export function readTrafficHere(newSha256: () => Sha256, feeds: Judge = NO_FEEDS): OpenTrafficReader {
  return (judging) => {
    const hash = newSha256()
    let reading: TrafficReading | undefined
    let size = 0

    async function begun(): Promise<TrafficReading> {
      const createTrafficReading = await loadTrafficReading()
      reading ??= createTrafficReading(judgeOf(feeds, judging))
      return reading
    }

    return {
      async push(bytes) {
        const { push } = reading ?? (await begun())
        size += bytes.length
        hash.update(bytes)
        push(bytes)
      },
      async end() {
        const { end } = reading ?? (await begun())
        return { ...end(), size, sha256: hash.digest() }
      },
      abort() {},
    }
  }
}
