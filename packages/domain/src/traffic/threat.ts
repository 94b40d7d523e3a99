import * as v from 'valibot'
import { described, object } from '../parse.ts'
import { Count, Id, Timestamp } from '../values.ts'

/** What a threat was recognised by: the client's address, the host that was asked for, or the log's own verdict. */
export const THREAT_KINDS = ['address', 'host', 'verdict'] as const

/** Malicious requests of one blocker that have their source, or host, and their reason in common. */
export const Threat = object({
  id: Id,
  kind: v.picklist(THREAT_KINDS),
  value: described(
    v.string(),
    'Source address or host; `*` for those of one file that were too many to tell apart, `""` where a log names none.',
  ),
  requests: Count,
  found_later: described(Count, 'Among the requests: those that a feed knew only after they had been counted.'),
  first_seen: Timestamp,
  last_seen: Timestamp,
  feed: described(v.string(), `The feed that knows it; \`""\` for the log's own verdict.`),
  entry: described(v.string(), 'The entry of the feed that matched.'),
  snapshot: described(Count, 'The snapshot of the feed; 0 where none knows it.'),
  verdict: described(v.string(), `The log's own verdict; \`""\` where a feed knows it.`),
})
export type Threat = v.InferOutput<typeof Threat>

/** Requests to add to a threat, which is told from others by all but the counts and the snapshot. */
export type NewThreat = Omit<Threat, 'id'>
