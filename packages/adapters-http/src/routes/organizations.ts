import {
  authorize,
  authorizeOwn,
  createOrganization,
  editOrganization,
  Id,
  listOrganizations,
  NewOrganization,
  Organization,
  OrganizationEdit,
  OrganizationQuery,
  readOrganization,
  removeOrganization,
} from '@security-management/domain'
import { route } from '../route.ts'
import { listOf } from '../schemas.ts'

export const createOrganizationRoute = route({
  id: 'createOrganization',
  summary: 'Create an organization, whose owner the caller becomes',
  description:
    'Creates an organization; all but `name` may be left out. The caller becomes its owner and is notified. A token that is narrowed, to reading or to some organizations, is refused.',
  method: 'post',
  path: '/api/v1/organizations',
  right: 'anyone',
  body: NewOrganization,
  permit: async (_, caller) => authorizeOwn(caller, 'organization.create'),
  invalidInput: 'Invalid data provided',
  status: 201,
  answer: { organization: Id },
  async handle({ ports, caller, body }) {
    return { organization: await createOrganization(ports, caller, body) }
  },
})

export const listOrganizationsRoute = route({
  id: 'listOrganizations',
  summary: 'List the organizations that the caller belongs to',
  description: 'Organizations in which the caller has a role, filtered by what that role allows.',
  method: 'get',
  path: '/api/v1/organizations',
  extension: true,
  right: 'anyone',
  query: OrganizationQuery,
  aliases: { ordering: 'order', sectors: 'sectors[]', industries: 'industries[]' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(Organization),
  handle: ({ ports, caller, query }) => listOrganizations(ports, caller, query),
})

export const readOrganizationRoute = route({
  id: 'readOrganization',
  summary: 'Read an organization',
  description: 'What is known of the organization. The caller must belong to it.',
  method: 'get',
  path: '/api/v1/organizations/{id}',
  right: 'organization.read',
  params: { id: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: Organization },
  etagOf: ({ data }) => data,
  async handle({ ports, caller, params }) {
    return { data: await readOrganization(ports, caller, params.id) }
  },
})

export const editOrganizationRoute = route({
  id: 'editOrganization',
  summary: "Edit an organization's basic information",
  description: 'Replaces the fields that are named; the others stay.',
  method: 'put',
  path: '/api/v1/organizations/{id}',
  extension: true,
  right: 'organization.edit',
  params: { id: 'id' },
  body: OrganizationEdit,
  permit: (ports, caller, { id }) => authorize(ports, caller, id, 'organization.edit'),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: Organization },
  etagOf: ({ data }) => data,
  ifMatch: true,
  async handle({ ports, caller, params, body, expected }) {
    return { data: await editOrganization(ports, caller, params.id, body, expected) }
  },
})

export const removeOrganizationRoute = route({
  id: 'removeOrganization',
  summary: 'Soft-remove an organization',
  description:
    'Marks the organization as removed and returns it for the last time. All that belongs to it is hidden with it.',
  method: 'delete',
  path: '/api/v1/organizations/{id}',
  right: 'organization.remove',
  params: { id: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: Organization },
  ifMatch: true,
  async handle({ ports, caller, params, expected }) {
    return { data: await removeOrganization(ports, caller, params.id, expected) }
  },
})
