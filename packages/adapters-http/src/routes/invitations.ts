import { Acceptance, acceptInvitation } from '@security-management/domain'
import { route } from '../route.ts'
import { FirstToken } from '../schemas.ts'

export const acceptInvitationRoute = route({
  id: 'acceptInvitation',
  summary: 'Accept an invitation and receive a first token',
  method: 'post',
  path: '/api/v1/invitations/accept',
  extension: true,
  authentication: 'invitation',
  right: 'anyone',
  body: Acceptance,
  bodyMayBeMissing: true,
  invalidInput: 'Invalid data provided',
  status: 201,
  answer: { data: FirstToken },
  async handle({ ports, code, body }) {
    return { data: await acceptInvitation(ports, code, body) }
  },
})
