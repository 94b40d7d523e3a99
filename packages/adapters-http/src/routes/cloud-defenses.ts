import { CloudDefense, CloudDefenseQuery, listCloudDefenses, readCloudDefense } from '@security-management/domain'
import { route } from '../route.ts'
import { listOf } from '../schemas.ts'

export const listCloudDefensesRoute = route({
  id: 'listCloudDefenses',
  summary: 'List cloud defense configurations',
  description:
    'Configurations of the organizations that the caller belongs to, in any role. They are written by the operator.',
  method: 'get',
  path: '/api/v1/cloud-defender',
  right: 'anyone',
  query: CloudDefenseQuery,
  aliases: { ordering: 'order', organization_id: 'organization' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(CloudDefense),
  handle: ({ ports, caller, query }) => listCloudDefenses(ports, caller, query),
})

export const readCloudDefenseRoute = route({
  id: 'readCloudDefense',
  summary: 'Read a cloud defense configuration',
  description: 'One configuration, as the operator wrote it.',
  method: 'get',
  path: '/api/v1/cloud-defender/{id}',
  extension: true,
  right: 'cloud_defense.read',
  params: { id: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: CloudDefense },
  etagOf: ({ data }) => data,
  async handle({ ports, caller, params }) {
    return { data: await readCloudDefense(ports, caller, params.id) }
  },
})
