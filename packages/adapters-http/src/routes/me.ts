import { readMe } from '@security-management/domain'
import { route } from '../route.ts'
import { Me } from '../schemas.ts'

export const readMeRoute = route({
  id: 'readMe',
  summary: 'Read who the caller is, and their organizations',
  description: 'The person that the token belongs to, and their role in each organization.',
  method: 'get',
  path: '/api/v1/me',
  extension: true,
  right: 'self',
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: Me },
  etagOf: ({ data }) => data,
  async handle({ ports, caller }) {
    return { data: await readMe(ports, caller) }
  },
})
