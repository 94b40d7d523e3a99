import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { type Page, pageEntries } from '../page.ts'
import { object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { findThreatBlocker, type ThreatBlockerRef } from '../threat-blockers/find-threat-blocker.ts'
import { TRAFFIC_UPLOAD_ORDER } from './traffic-store.ts'
import type { TrafficUpload } from './traffic-upload.ts'

type Reads = Needs<'threatBlockers' | 'organizations' | 'members' | 'traffic'>

/**
 * Reads what was made of one uploaded traffic file.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function readTrafficUpload(
  ports: Reads,
  caller: Caller,
  ref: ThreatBlockerRef,
  id: number,
): Promise<TrafficUpload> {
  const blocker = await findThreatBlocker(ports, caller, ref, 'traffic.read')
  const upload = await ports.traffic.findUpload(blocker.id, id)
  if (!upload) throw new DomainError('not_found')
  return upload
}

/** Page of the list of a blocker's uploads. */
export const TrafficUploadQuery = object(pageEntries(TRAFFIC_UPLOAD_ORDER, '-id'))

/**
 * Lists the traffic files uploaded for one blocker.
 *
 * @throws DomainError `not_found`, `forbidden`, `invalid`.
 */
export async function listTrafficUploads(
  ports: Reads,
  caller: Caller,
  ref: ThreatBlockerRef,
  input: unknown = {},
): Promise<Page<TrafficUpload>> {
  const blocker = await findThreatBlocker(ports, caller, ref, 'traffic.read')
  return ports.traffic.listUploads(blocker.id, parse(TrafficUploadQuery, input))
}
