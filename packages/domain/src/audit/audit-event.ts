import * as v from 'valibot'
import { EVENT_TYPES } from '../events.ts'
import { described, object } from '../parse.ts'
import { Id, Timestamp, Uuid } from '../values.ts'

/** Kinds of record that events are about: what their types begin with. */
export const EVENT_KINDS = [...new Set(EVENT_TYPES.map(kindOf))] as const

/** The kind of record that an event of this type is about: what the type begins with. */
export function kindOf(type: string): string {
  return type.slice(0, type.indexOf('.'))
}

/** One row of an organization's audit trail, as its owners read it. */
export const AuditEvent = object({
  id: described(Id, 'Position in the chain of the whole installation, so that those of one organization have gaps.'),
  datetime: Timestamp,
  action: v.picklist(EVENT_TYPES),
  organization: Id,
  record: described(v.string(), 'Id of the record it happened to.'),
  user: described(
    v.nullable(object({ id: Uuid, username: v.nullable(v.string()) })),
    'Who did it; null for the operator and for the service itself.',
  ),
  token: described(v.nullable(Id), 'Id of the token it was done with.'),
  request_id: described(v.nullable(v.string()), 'Id of the request it was done in.'),
  changes: described(
    v.record(v.string(), object({ before: v.unknown(), after: v.unknown() })),
    'The fields that changed; null stands for what was not there before, or is not there any more.',
  ),
  details: described(
    v.record(v.string(), v.union([v.string(), v.number()])),
    'What else is to be known of it, by name.',
  ),
  hash: described(v.string(), 'SHA-256 of this row and of the hash of the row before it, in hexadecimal.'),
})
export type AuditEvent = v.InferOutput<typeof AuditEvent>
