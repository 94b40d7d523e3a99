import * as v from 'valibot'
import { object } from '../parse.ts'
import { Count, Id, Timestamp } from '../values.ts'

/** What a threat was recognised by: the client's address, the host that was asked for, or the log's own verdict. */
export const THREAT_KINDS = ['address', 'host', 'verdict'] as const

/** Malicious requests of one blocker that have their source, or host, and their reason in common. */
export const Threat = object({
  id: Id,
  kind: v.picklist(THREAT_KINDS),
  /** Source address or host; `*` for those of one file that were too many to tell apart, `""` where a log names none. */
  value: v.string(),
  requests: Count,
  first_seen: Timestamp,
  last_seen: Timestamp,
  /** The feed that knows it, the entry that matched, and the feed's snapshot; `""` and 0 for the log's own verdict. */
  feed: v.string(),
  entry: v.string(),
  snapshot: Count,
  /** The log's own verdict; `""` where a feed knows it. */
  verdict: v.string(),
})
export type Threat = v.InferOutput<typeof Threat>

/** Requests to add to a threat, which is told from others by all but the counts and the snapshot. */
export type NewThreat = Omit<Threat, 'id'>
