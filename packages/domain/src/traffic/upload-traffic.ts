import type { Caller } from '../access/caller.ts'
import { isUnavailable } from '../errors.ts'
import { creationOf, record } from '../events.ts'
import type { StagedFile } from '../files/file-store.ts'
import { requireRoom, requireStorage } from '../files/storage-quota.ts'
import { inUnit, type UploadTerms } from '../files/upload-terms.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { FileName } from '../security-frameworks/file-name.ts'
import { bounded } from '../stream.ts'
import { findThreatBlocker, type ThreatBlockerRef } from '../threat-blockers/find-threat-blocker.ts'
import { addCounts } from './add-counts.ts'
import { judgingBy, type ReadFile, type TrafficReader } from './traffic-reader.ts'
import type { ThreatCount } from './traffic-reading.ts'

/** Bytes of a traffic file, inflated, unless a server is told otherwise (decisions.md §2): 256 MiB. */
export const MAX_TRAFFIC_BYTES = 256 * 1024 * 1024

/** Which upload of which blocker a traffic file became. */
export type KeptTraffic = { threat_blocker: number; upload: number }

/**
 * Counts the requests of a traffic log file for a threat blocker. The file is read as it comes; nothing is stored
 * before all of it was read, but the bytes themselves, compressed. The same bytes for the same blocker count once.
 *
 * @param file its name as sent, and its bytes. For the shapes see decisions.md §4, Traffic file.
 * @param terms what else holds for the upload, see `UploadTerms`.
 * @returns ids of the blocker and of the upload, the earlier one when the bytes were here before.
 * @throws DomainError `not_found`, `forbidden`, `invalid` (none of the shapes), `too_large`, `conflict` (the
 *   organization's storage is full).
 */
export async function uploadTraffic(
  ports: Needs<'transact' | 'now' | 'openTrafficReader' | 'files' | 'compress'>,
  caller: Caller,
  ref: ThreatBlockerRef,
  file: { file_name: string; content: AsyncIterable<Uint8Array> },
  limit = MAX_TRAFFIC_BYTES,
  terms: UploadTerms<KeptTraffic> = {},
): Promise<KeptTraffic> {
  const file_name = parse(FileName, file.file_name)
  const { services } = await ports.transact(async (stores) => {
    const blocker = await findThreatBlocker(stores, caller, ref, 'traffic.upload')
    await requireRoom(stores, blocker.organization.id, terms.quota)
    return blocker
  })
  const reader = ports.openTrafficReader(judgingBy(services))
  let raw: StagedFile | undefined
  try {
    raw = await ports.files.stage(ports.compress(through(reader, bounded(file.content, limit))), 2 * limit)
    const { is_new, ...kept } = await keep(ports, caller, ref, file_name, await reader.end(), raw, terms)
    // Of the same bytes one copy is enough.
    if (!is_new) await ports.files.discard(raw.file)
    return kept
  } catch (error) {
    reader.abort()
    // What cannot be erased now is swept away later; the first error is the one to tell of.
    if (raw && !isUnavailable(error)) await ports.files.discard(raw.file).catch(() => {})
    throw error
  }
}

/** Passes the bytes on once the reader has them. */
async function* through(reader: TrafficReader, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const bytes of content) {
    await reader.push(bytes)
    yield bytes
  }
}

async function keep(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  ref: ThreatBlockerRef,
  file_name: string,
  read: ReadFile,
  raw: StagedFile,
  terms: UploadTerms<KeptTraffic>,
): Promise<KeptTraffic & { is_new: boolean }> {
  return inUnit(ports, terms, async (stores) => {
    // Asked again: the right may have ended while the file came in.
    const blocker = await findThreatBlocker(stores, caller, ref, 'traffic.upload')
    const upload = await stores.traffic.insertUpload({
      threat_blocker: blocker.id,
      file_name,
      received: ports.now().toISOString(),
      raw: { file: raw.file, size: raw.size },
      ...uploadOf(read),
    })
    if (upload === undefined) {
      const earlier = await stores.traffic.findUploadBySha256(blocker.id, read.sha256)
      return { threat_blocker: blocker.id, upload: earlier?.id ?? 0, is_new: false }
    }
    await requireStorage(stores, blocker.organization.id, terms.quota)
    await addCounts(stores, blocker.id, read)
    const { sha256, lines, accepted, rejected, malicious } = read
    const counts = { lines, accepted, rejected, malicious }
    await record(ports, stores, caller, {
      type: 'traffic.uploaded',
      organization: blocker.organization.id,
      record: upload,
      changes: creationOf({ file_name, sha256, ...counts }),
      details: {
        threat_blocker: blocker.id,
        device_id: blocker.device_id,
        file_name,
        sha256,
        ...counts,
        strongest: reasonOf(read.strongest),
      },
    })
    return { threat_blocker: blocker.id, upload, is_new: true }
  })
}

function uploadOf({ size, sha256, shape, from, to, rejects, judgement, ...read }: ReadFile) {
  const { lines, accepted, rejected, malicious } = read
  const counts = { lines, accepted, rejected, malicious }
  return { size, sha256, from: isoOf(from), to: isoOf(to), ...counts, format: shape, rejects, judgement }
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

/** What speaks against the most requests, in words; `""` where nothing does. */
function reasonOf(strongest: ThreatCount | null): string {
  if (!strongest) return ''
  const { value, finding, verdict } = strongest
  return finding ? `${value} is listed in ${finding.feed} (${finding.entry})` : `the log says "${verdict}"`
}
