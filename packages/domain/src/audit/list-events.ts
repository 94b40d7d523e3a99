import * as v from 'valibot'
import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { type ChainedEvent, EVENT_ORDER, EVENT_TYPES } from '../events.ts'
import { type Page, pageEntries } from '../page.ts'
import { described, object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { periodEntries, ShortText, Uuid } from '../values.ts'
import { type AuditEvent, EVENT_KINDS, kindOf } from './audit-event.ts'

/** Page and filters of an organization's audit trail. `kind` tells apart records of several kinds that have one id. */
export const AuditQuery = object({
  ...pageEntries(EVENT_ORDER, '-id'),
  ...periodEntries('from', 'to'),
  user: v.optional(described(Uuid, 'Done by this person.')),
  action: v.optional(described(v.picklist(EVENT_TYPES), 'Of this type.')),
  kind: v.optional(described(v.picklist(EVENT_KINDS), 'About a record of this kind.')),
  record: v.optional(described(ShortText, 'About the record with this id.')),
})

/**
 * Lists what happened in an organization, newest first.
 *
 * @param input see `AuditQuery`.
 * @throws DomainError `not_found`, `forbidden`, `invalid`.
 */
export async function listEvents(
  ports: Needs<'organizations' | 'members' | 'events'>,
  caller: Caller,
  organization: number,
  input: unknown = {},
): Promise<Page<AuditEvent>> {
  await authorize(ports, caller, organization, 'audit_trail.read')
  const { limit, offset, order, action, kind, ...filter } = parse(AuditQuery, input)
  const isMeant = (type: string) => (action ?? type) === type && (kind ?? kindOf(type)) === kindOf(type)
  const types = action || kind ? EVENT_TYPES.filter(isMeant) : undefined
  const { total, data } = await ports.events.listOf(organization, { ...filter, types }, { limit, offset, order })
  return { total, data: data.map((event) => auditEventOf(organization, event)) }
}

function auditEventOf(organization: number, event: ChainedEvent): AuditEvent {
  const { position: id, datetime, type: action, record, user_id, username, token, request_id, details, hash } = event
  const user = user_id === null ? null : { id: user_id, username }
  const changes = Object.fromEntries(
    Object.entries(event.changes).map(([field, [before, after]]) => [field, { before, after }]),
  )
  return { id, datetime, action, organization, record, user, token, request_id, changes, details, hash }
}
