import {
  authorize,
  createSecurityFramework,
  editSecurityFramework,
  listSecurityFrameworks,
  NewSecurityFramework,
  permitSecurityFramework,
  readSecurityFramework,
  removeSecurityFramework,
  SecurityFramework,
  SecurityFrameworkEdit,
  type SecurityFrameworkPath,
  SecurityFrameworkQuery,
} from '@security-management/domain'
import { type Params, route } from '../route.ts'
import { listOf } from '../schemas.ts'

const organization = { organizationid: 'id' } as const
const framework = { ...organization, frameworkid: 'id' } as const

function pathOf({ organizationid, frameworkid }: Params<typeof framework>): SecurityFrameworkPath {
  return { organization: organizationid, framework: frameworkid }
}

export const listSecurityFrameworksRoute = route({
  id: 'listSecurityFrameworks',
  summary: "List an organization's security frameworks",
  description: 'The frameworks that the organization must satisfy, each with its controls and their evidence.',
  method: 'get',
  path: '/api/v1/organizations/{organizationid}/security-frameworks',
  extension: true,
  right: 'security_framework.read',
  params: organization,
  query: SecurityFrameworkQuery,
  aliases: { ordering: 'order' },
  permit: (ports, caller, { organizationid }) => authorize(ports, caller, organizationid, 'security_framework.read'),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(SecurityFramework),
  handle: ({ ports, caller, params, query }) => listSecurityFrameworks(ports, caller, params.organizationid, query),
})

export const createSecurityFrameworkRoute = route({
  id: 'createSecurityFramework',
  summary: 'Associate a security framework with an organization',
  description:
    'Adds a framework with its controls. Control ids are unique within it. All controls take at most 32 MiB, each as JSON.',
  method: 'post',
  path: '/api/v1/organizations/{organizationid}/security-frameworks',
  extension: true,
  right: 'security_framework.create',
  params: organization,
  body: NewSecurityFramework,
  limit: 'framework',
  permit: (ports, caller, { organizationid }) => authorize(ports, caller, organizationid, 'security_framework.create'),
  invalidInput: 'Invalid data provided',
  status: 201,
  answer: { security_framework: SecurityFramework },
  async handle({ ports, caller, params, body }) {
    return { security_framework: await createSecurityFramework(ports, caller, params.organizationid, body) }
  },
})

export const readSecurityFrameworkRoute = route({
  id: 'readSecurityFramework',
  summary: 'Read a security framework with its evidence',
  description: 'The framework with its controls and their evidence.',
  method: 'get',
  path: '/api/v1/organizations/{organizationid}/security-frameworks/{frameworkid}',
  extension: true,
  right: 'security_framework.read',
  params: framework,
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: SecurityFramework },
  etagOf: ({ data }) => data,
  async handle({ ports, caller, params }) {
    return { data: await readSecurityFramework(ports, caller, pathOf(params)) }
  },
})

export const editSecurityFrameworkRoute = route({
  id: 'editSecurityFramework',
  summary: 'Edit a security framework and its evidence',
  description:
    'Replaces `title` and `security_frameworks` where they are named. A control without `evidences` keeps those it has; all controls take at most 32 MiB with their evidence, each as JSON. Evidence is a history with honest authors: a new entry gets the caller and the present moment, whatever is sent in `datetime` and `submitted_by`.',
  method: 'put',
  path: '/api/v1/organizations/{organizationid}/security-frameworks/{frameworkid}',
  right: 'security_framework.edit',
  params: framework,
  body: SecurityFrameworkEdit,
  formats: 'json+multipart',
  limit: 'framework',
  permit: (ports, caller, params) => permitSecurityFramework(ports, caller, pathOf(params), 'security_framework.edit'),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { security_framework: SecurityFramework },
  etagOf: ({ security_framework }) => security_framework,
  ifMatch: true,
  async handle({ ports, caller, params, body, expected }) {
    return { security_framework: await editSecurityFramework(ports, caller, pathOf(params), body, expected) }
  },
})

export const removeSecurityFrameworkRoute = route({
  id: 'removeSecurityFramework',
  summary: 'Soft-remove a security framework',
  description: 'Marks the framework as removed and returns it for the last time, with its evidence.',
  method: 'delete',
  path: '/api/v1/organizations/{organizationid}/security-frameworks/{frameworkid}',
  right: 'security_framework.remove',
  params: framework,
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { security_framework: SecurityFramework },
  ifMatch: true,
  async handle({ ports, caller, params, expected }) {
    return { security_framework: await removeSecurityFramework(ports, caller, pathOf(params), expected) }
  },
})
