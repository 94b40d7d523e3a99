import {
  authorize,
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
  method: 'post',
  path: '/api/v1/organizations',
  right: 'anyone',
  body: NewOrganization,
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
  method: 'get',
  path: '/api/v1/organizations',
  extension: true,
  right: 'anyone',
  query: OrganizationQuery,
  aliases: { ordering: 'order' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(Organization),
  handle: ({ ports, caller, query }) => listOrganizations(ports, caller, query),
})

export const readOrganizationRoute = route({
  id: 'readOrganization',
  summary: 'Read an organization',
  method: 'get',
  path: '/api/v1/organizations/{id}',
  right: 'organization.read',
  params: { id: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: Organization },
  async handle({ ports, caller, params }) {
    return { data: await readOrganization(ports, caller, params.id) }
  },
})

export const editOrganizationRoute = route({
  id: 'editOrganization',
  summary: "Edit an organization's basic information",
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
  async handle({ ports, caller, params, body }) {
    return { data: await editOrganization(ports, caller, params.id, body) }
  },
})

export const removeOrganizationRoute = route({
  id: 'removeOrganization',
  summary: 'Soft-remove an organization',
  method: 'delete',
  path: '/api/v1/organizations/{id}',
  right: 'organization.remove',
  params: { id: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: Organization },
  async handle({ ports, caller, params }) {
    return { data: await removeOrganization(ports, caller, params.id) }
  },
})
