import {
  createThreatBlocker,
  editThreatBlocker,
  findThreatBlocker,
  Id,
  listThreatBlockers,
  NewThreatBlocker,
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
  method: 'post',
  path: '/api/v1/atb',
  right: 'threat_blocker.create',
  body: NewThreatBlocker,
  formats: 'json+multipart',
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
  method: 'get',
  path: '/api/v1/atb/{id}',
  extension: true,
  right: 'threat_blocker.read',
  params: { id: 'id-or-key' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: ThreatBlocker },
  async handle({ ports, caller, params }) {
    return { data: await readThreatBlocker(ports, caller, params.id) }
  },
})

export const editThreatBlockerRoute = route({
  id: 'editThreatBlocker',
  summary: 'Edit a threat blocker configuration',
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
  async handle({ ports, caller, params, body }) {
    return { data: await editThreatBlocker(ports, caller, params.id, body) }
  },
})

export const removeThreatBlockerRoute = route({
  id: 'removeThreatBlocker',
  summary: 'Soft-remove a threat blocker configuration',
  method: 'delete',
  path: '/api/v1/atb/{id}',
  right: 'threat_blocker.remove',
  params: { id: 'id-or-key' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: ThreatBlocker },
  async handle({ ports, caller, params }) {
    return { data: await removeThreatBlocker(ports, caller, params.id) }
  },
})
