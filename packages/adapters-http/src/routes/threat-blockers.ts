import {
  authorize,
  createThreatBlocker,
  editableState,
  editThreatBlocker,
  findThreatBlocker,
  Id,
  listThreatBlockers,
  NewThreatBlocker,
  parse,
  readThreatBlocker,
  removeThreatBlocker,
  ThreatBlocker,
  ThreatBlockerEdit,
  ThreatBlockerQuery,
} from '@security-management/domain'
import { route } from '../route.ts'
import { listOf } from '../schemas.ts'

export const createThreatBlockerRoute = route({
  id: 'createThreatBlocker',
  summary: 'Create a threat blocker configuration',
  description:
    'Registers an installed threat blocker for an organization that the caller manages. Its key, `atb_key`, is made here, and `ticket` is its id. The members who manage it are notified.',
  method: 'post',
  path: '/api/v1/atb',
  right: 'threat_blocker.create',
  body: NewThreatBlocker,
  formats: 'json+multipart',
  permitBody: (ports, caller, body) =>
    authorize(ports, caller, parse(NewThreatBlocker, body).organization, 'threat_blocker.create'),
  invalidInput: 'Malformed data structure',
  status: 201,
  answer: { ticket: Id },
  async handle({ ports, caller, body }) {
    return { ticket: await createThreatBlocker(ports, caller, body) }
  },
})

export const listThreatBlockersRoute = route({
  id: 'listThreatBlockers',
  summary: 'List threat blocker configurations',
  description:
    'Configurations of the organizations that the caller belongs to, in any role. `check` is worked out at each read from what was uploaded.',
  method: 'get',
  path: '/api/v1/atb',
  right: 'anyone',
  query: ThreatBlockerQuery,
  aliases: { ordering: 'order', organization_id: 'organization' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(ThreatBlocker),
  handle: ({ ports, caller, query }) => listThreatBlockers(ports, caller, query),
})

export const readThreatBlockerRoute = route({
  id: 'readThreatBlocker',
  summary: 'Read a threat blocker configuration',
  description: 'One configuration, found by its id or by its `atb_key`.',
  method: 'get',
  path: '/api/v1/atb/{id}',
  extension: true,
  right: 'threat_blocker.read',
  params: { id: 'id-or-key' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: ThreatBlocker },
  etagOf: ({ data }) => editableState(data),
  async handle({ ports, caller, params }) {
    return { data: await readThreatBlocker(ports, caller, params.id) }
  },
})

export const editThreatBlockerRoute = route({
  id: 'editThreatBlocker',
  summary: 'Edit a threat blocker configuration',
  description:
    'Replaces the fields that are named; the others stay. The organization, the key and `check` cannot be edited.',
  method: 'put',
  path: '/api/v1/atb/{id}',
  extension: true,
  right: 'threat_blocker.edit',
  params: { id: 'id-or-key' },
  body: ThreatBlockerEdit,
  permit: (ports, caller, { id }) => findThreatBlocker(ports, caller, id, 'threat_blocker.edit'),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: ThreatBlocker },
  etagOf: ({ data }) => editableState(data),
  ifMatch: true,
  async handle({ ports, caller, params, body, expected }) {
    return { data: await editThreatBlocker(ports, caller, params.id, body, expected) }
  },
})

export const removeThreatBlockerRoute = route({
  id: 'removeThreatBlocker',
  summary: 'Soft-remove a threat blocker configuration',
  description:
    'Marks the configuration as removed and returns it for the last time: it leaves every list and read, and so does its traffic.',
  method: 'delete',
  path: '/api/v1/atb/{id}',
  right: 'threat_blocker.remove',
  params: { id: 'id-or-key' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: ThreatBlocker },
  ifMatch: true,
  async handle({ ports, caller, params, expected }) {
    return { data: await removeThreatBlocker(ports, caller, params.id, expected) }
  },
})
