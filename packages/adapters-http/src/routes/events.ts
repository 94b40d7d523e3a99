import { AuditEvent, AuditQuery, authorize, listEvents } from '@security-management/domain'
import { route } from '../route.ts'
import { listOf } from '../schemas.ts'

export const listEventsRoute = route({
  id: 'listEvents',
  summary: "List an organization's audit trail",
  description:
    'Every change in the organization, newest first: who made it, when, in which request, and what changed from what to what. What the operator or the service itself did has no `user`.',
  method: 'get',
  path: '/api/v1/organizations/{organizationid}/events',
  extension: true,
  right: 'audit_trail.read',
  params: { organizationid: 'id' },
  query: AuditQuery,
  aliases: { ordering: 'order', actor: 'user' },
  permit: (ports, caller, { organizationid }) => authorize(ports, caller, organizationid, 'audit_trail.read'),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(AuditEvent),
  handle: ({ ports, caller, params, query }) => listEvents(ports, caller, params.organizationid, query),
})
