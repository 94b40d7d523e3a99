import * as v from 'valibot'
import { object } from '../parse.ts'
import { Count, Id, Timestamp } from '../values.ts'

/** How the lines of a file can stand in it. */
export const TRAFFIC_SHAPES = ['array', 'wrapped array', 'rows', 'object'] as const

/** One uploaded traffic file: what came and what was made of it. */
export const TrafficUpload = object({
  id: Id,
  file_name: v.string(),
  /** Bytes, inflated. */
  size: Count,
  /** Of the inflated bytes, in hexadecimal. */
  sha256: v.string(),
  received: Timestamp,
  /** Earliest and latest time of an accepted line; null where none was accepted. */
  from: v.nullable(Timestamp),
  to: v.nullable(Timestamp),
  /** `accepted` + `rejected`. */
  lines: Count,
  accepted: Count,
  rejected: Count,
  /** Among the accepted. */
  malicious: Count,
  /** How the lines stood in the file. */
  format: v.picklist(TRAFFIC_SHAPES),
  /** The first 20 rejected lines: their number from 1, what was missing or wrong (`""` for the line itself), and why. */
  rejects: v.array(object({ line: Count, field: v.string(), reason: v.string() })),
})
export type TrafficUpload = v.InferOutput<typeof TrafficUpload>

/** Where the bytes of an upload are kept, compressed: the number of the file, and its size. */
export type RawTraffic = { file: number; size: number }

export type NewTrafficUpload = Omit<TrafficUpload, 'id'> & { threat_blocker: number; raw: RawTraffic | null }
