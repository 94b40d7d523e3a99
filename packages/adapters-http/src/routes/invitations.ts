import { Acceptance, acceptInvitation, authorize, renewInvitation } from '@security-management/domain'
import { route } from '../route.ts'
import { FirstToken, MemberReference } from '../schemas.ts'

export const renewInvitationRoute = route({
  id: 'renewInvitation',
  summary: 'Send a member their invitation again, with a new code in the place of the one of before',
  description:
    'For a member who has not accepted yet, even when their code has expired; the code of before works no more. Nothing is sent to somebody who has accepted, or never was invited, which is a 400. Too many invitations of one person, of one organization, or to one address are a 429.',
  method: 'post',
  path: '/api/v1/organizations/{organizationid}/users/{userid}/invitation',
  extension: true,
  right: 'member.invite',
  params: { organizationid: 'id', userid: 'user' },
  permit: (ports, caller, { organizationid }) => authorize(ports, caller, organizationid, 'member.invite'),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: MemberReference },
  async handle({ ports, caller, params: { organizationid, userid } }) {
    return { data: await renewInvitation(ports, caller, { organization: organizationid, user: userid }) }
  },
})

export const acceptInvitationRoute = route({
  id: 'acceptInvitation',
  summary: 'Accept an invitation and receive a first token',
  description:
    'The code of an invitation, sent as `X-Service-Token`, is exchanged for a first token, which is shown this once. A code can be used once, for 7 days. What the person says of themselves is taken over, and `token_name` is what the token is called; the body may be left out.',
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
  async handle({ ports, code, body, requestId }) {
    return { data: await acceptInvitation(ports, code, body, requestId) }
  },
})
