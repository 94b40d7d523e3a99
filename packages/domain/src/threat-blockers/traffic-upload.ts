import * as v from 'valibot'
import { object } from '../parse.ts'
import { Count, Id, Timestamp } from '../values.ts'

/** One uploaded traffic file: what came and what was made of it. */
export const TrafficUpload = object({
  id: Id,
  file_name: v.string(),
  /** Bytes, inflated. */
  size: Count,
  /** Of the inflated bytes, in hexadecimal. */
  sha256: v.string(),
  received: Timestamp,
  /** `accepted` + `rejected`. */
  lines: Count,
  accepted: Count,
  rejected: Count,
  /** Among the accepted. */
  malicious: Count,
})
export type TrafficUpload = v.InferOutput<typeof TrafficUpload>
export type NewTrafficUpload = Omit<TrafficUpload, 'id'> & { threat_blocker: number }
