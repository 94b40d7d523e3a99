import * as v from 'valibot'
import { described, object } from '../parse.ts'
import type { StoredThreatBlocker } from '../threat-blockers/threat-blocker.ts'
import { Count, Id, Timestamp } from '../values.ts'
import type { Judgement } from './traffic-reading.ts'

/** How the lines of a file can stand in it. */
export const TRAFFIC_SHAPES = ['array', 'wrapped array', 'rows', 'object'] as const

/** One uploaded traffic file: what came and what was made of it. */
export const TrafficUpload = object({
  id: Id,
  file_name: v.string(),
  size: described(Count, 'Size of the file in bytes, inflated.'),
  sha256: described(v.string(), 'SHA-256 of the inflated bytes, in hexadecimal.'),
  received: Timestamp,
  from: described(v.nullable(Timestamp), 'Earliest time of an accepted line; null where none was accepted.'),
  to: described(v.nullable(Timestamp), 'Latest time of an accepted line; null where none was accepted.'),
  lines: described(Count, '`accepted` + `rejected`.'),
  accepted: Count,
  rejected: Count,
  malicious: described(Count, 'Malicious lines among the accepted.'),
  found_later: described(Count, 'Among the malicious: lines that only feeds which came later than the file knew.'),
  format: described(v.picklist(TRAFFIC_SHAPES), 'How the lines stood in the file.'),
  rejects: described(
    v.array(object({ line: Count, field: v.string(), reason: v.string() })),
    'The first 20 rejected lines: their number from 1, in rows the blank ones too, what was missing or wrong (`""` for the line itself), and why.',
  ),
})
export type TrafficUpload = v.InferOutput<typeof TrafficUpload>

/** Where the bytes of an upload are kept, compressed: the number of the file, and its size. */
export type RawTraffic = { file: number; size: number }

/** An upload to be stored: where its bytes are kept, and how its lines were judged. */
export type NewTrafficUpload = Omit<TrafficUpload, 'id' | 'found_later'> & {
  threat_blocker: number
  raw: RawTraffic | null
  judgement: Judgement
}

/** An upload that was judged by feeds which others have come after. */
export type OutdatedUpload = {
  id: number
  threat_blocker: number
  /** Those the blocker has enabled by now. */
  services: StoredThreatBlocker['services']
  raw: RawTraffic
  judgement: Judgement
}
