import { Assessment, AssessmentQuery, listAssessments, readAssessment } from '@security-management/domain'
import { route } from '../route.ts'
import { listOf } from '../schemas.ts'

export const listAssessmentsRoute = route({
  id: 'listAssessments',
  summary: 'List assessments',
  description:
    'Assessments of the organizations that the caller belongs to, in any role. They are written by the operator.',
  method: 'get',
  path: '/api/v1/assessments',
  right: 'anyone',
  query: AssessmentQuery,
  extension: ['organization'],
  aliases: { ordering: 'order', organization_id: 'organization' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(Assessment),
  handle: ({ ports, caller, query }) => listAssessments(ports, caller, query),
})

export const readAssessmentRoute = route({
  id: 'readAssessment',
  summary: 'Read an assessment',
  description: 'One assessment of an organization that the caller belongs to.',
  method: 'get',
  path: '/api/v1/assessments/{id}',
  right: 'assessment.read',
  params: { id: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: Assessment },
  etagOf: ({ data }) => data,
  async handle({ ports, caller, params }) {
    return { data: await readAssessment(ports, caller, params.id) }
  },
})
