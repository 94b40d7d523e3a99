import type { Caller } from '../access/caller.ts'
import { record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { FileName } from '../security-frameworks/file-name.ts'
import { bounded } from '../stream.ts'
import { findThreatBlocker, type ThreatBlockerRef } from './find-threat-blocker.ts'
import { readTraffic } from './read-traffic.ts'
import type { RequestCount } from './traffic-store.ts'

const HOUR = 3600

/** Bytes of a traffic file, inflated, unless a server is told otherwise (decisions.md §2): 256 MiB. */
export const MAX_TRAFFIC_BYTES = 256 * 1024 * 1024

/**
 * Counts the requests of a traffic log file for a threat blocker. The file is read as it comes; nothing is stored
 * before all of it was read. The same bytes for the same blocker count once.
 *
 * @param file its name as sent, and its bytes. For the shapes see decisions.md §4, Traffic file.
 * @returns ids of the blocker and of the upload, the earlier one when the bytes were here before.
 * @throws DomainError `not_found`, `forbidden`, `invalid` (none of the shapes), `too_large`.
 */
export async function uploadTraffic(
  ports: Needs<'transact' | 'now' | 'newSha256' | 'newUtf8Decoder'>,
  caller: Caller,
  ref: ThreatBlockerRef,
  file: { file_name: string; content: AsyncIterable<Uint8Array> },
  limit = MAX_TRAFFIC_BYTES,
): Promise<{ threat_blocker: number; upload: number }> {
  const file_name = parse(FileName, file.file_name)
  await ports.transact((stores) => findThreatBlocker(stores, caller, ref, 'traffic.upload'))

  const hash = ports.newSha256()
  const hours = new Map<number, RequestCount>()
  const counts = { lines: 0, accepted: 0, rejected: 0, malicious: 0 }
  let size = 0
  async function* hashed() {
    for await (const bytes of bounded(file.content, limit)) {
      size += bytes.length
      hash.update(bytes)
      yield bytes
    }
  }
  for await (const line of readTraffic(ports.newUtf8Decoder(), hashed())) {
    counts.lines += 1
    if ('reason' in line) {
      counts.rejected += 1
      continue
    }
    counts.accepted += 1
    if (line.malicious) counts.malicious += 1
    const start = Math.floor(line.time / 1000 / HOUR) * HOUR
    const hour = hours.get(start) ?? { start, total: 0, malicious: 0 }
    hour.total += 1
    if (line.malicious) hour.malicious += 1
    hours.set(start, hour)
  }
  const sha256 = hash.digest()

  return ports.transact(async (stores) => {
    // Asked again: the right may have ended while the file came in.
    const blocker = await findThreatBlocker(stores, caller, ref, 'traffic.upload')
    const received = ports.now().toISOString()
    const upload = await stores.traffic.insertUpload({
      threat_blocker: blocker.id,
      file_name,
      size,
      sha256,
      received,
      ...counts,
    })
    if (upload === undefined) {
      const earlier = await stores.traffic.findUploadBySha256(blocker.id, sha256)
      return { threat_blocker: blocker.id, upload: earlier?.id ?? 0 }
    }
    await stores.traffic.addHours(blocker.id, [...hours.values()])
    await record(ports, stores, caller, {
      type: 'traffic.uploaded',
      organization: blocker.organization.id,
      record: upload,
      details: { threat_blocker: blocker.id, device_id: blocker.device_id, file_name, sha256, ...counts },
    })
    return { threat_blocker: blocker.id, upload }
  })
}
