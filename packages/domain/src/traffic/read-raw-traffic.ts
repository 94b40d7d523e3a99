import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Needs } from '../ports.ts'
import type { ReadableDocument } from '../security-frameworks/read-document.ts'
import { findThreatBlocker, type ThreatBlockerRef } from '../threat-blockers/find-threat-blocker.ts'

/**
 * Opens the bytes of an uploaded traffic file, as they were sent.
 *
 * @throws DomainError `not_found` (also when they are no longer kept), `forbidden`.
 */
export async function readRawTraffic(
  ports: Needs<'threatBlockers' | 'organizations' | 'members' | 'traffic' | 'files' | 'decompress'>,
  caller: Caller,
  ref: ThreatBlockerRef,
  id: number,
): Promise<ReadableDocument> {
  const blocker = await findThreatBlocker(ports, caller, ref, 'traffic.read_raw')
  const upload = await ports.traffic.findUpload(blocker.id, id)
  const raw = await ports.traffic.findRaw(blocker.id, id)
  if (!upload || !raw) throw new DomainError('not_found')
  const { file_name, size, sha256 } = upload
  return {
    file_name,
    content_type: 'application/octet-stream',
    size,
    sha256,
    read: (from, to) => part(ports.decompress(ports.files.read(raw.file, 0, raw.size - 1)), from, to),
  }
}

/** The bytes from position `from` up to and including `to`. */
async function* part(content: AsyncIterable<Uint8Array>, from: number, to: number): AsyncGenerator<Uint8Array> {
  let start = 0
  for await (const bytes of content) {
    const wanted = bytes.subarray(Math.max(0, from - start), Math.max(0, to + 1 - start))
    if (wanted.length > 0) yield wanted
    start += bytes.length
    if (start > to) return
  }
}
