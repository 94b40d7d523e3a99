import {
  addMember,
  authorize,
  editMember,
  listMembers,
  Member,
  MemberInput,
  type MemberPath,
  MemberQuery,
  permitAddMember,
  permitEditMember,
  removeMember,
} from '@security-management/domain'
import { type Params, route } from '../route.ts'
import { listOf, MemberReference } from '../schemas.ts'

const member = { organizationid: 'id', userid: 'user' } as const

function pathOf({ organizationid, userid }: Params<typeof member>): MemberPath {
  return { organization: organizationid, user: userid }
}

export const listMembersRoute = route({
  id: 'listMembers',
  summary: "List an organization's users",
  description: 'The people who belong to the organization, with their roles.',
  method: 'get',
  path: '/api/v1/organizations/{organizationid}/users',
  right: 'member.list',
  params: { organizationid: 'id' },
  query: MemberQuery,
  extension: ['role', 'search'],
  aliases: { ordering: 'order' },
  permit: (ports, caller, { organizationid }) => authorize(ports, caller, organizationid, 'member.list'),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(Member),
  handle: ({ ports, caller, params, query }) => listMembers(ports, caller, params.organizationid, query),
})

export const addMemberRoute = route({
  id: 'addMember',
  summary: 'Add a user to an organization and invite them',
  description:
    'Adds a person, as `viewer` unless a role is given, and sends them an invitation by e-mail. With `0` as the user id the person is found by `email`, or registered. Somebody who was removed before comes back; somebody who is a member already is a 400.',
  method: 'post',
  path: '/api/v1/organizations/{organizationid}/users/{userid}',
  right: 'member.add',
  params: member,
  body: MemberInput,
  formats: 'json+multipart',
  permit: (ports, caller, params) => permitAddMember(ports, caller, pathOf(params)),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: MemberReference },
  async handle({ ports, caller, params, body }) {
    return { data: await addMember(ports, caller, pathOf(params), body) }
  },
})

export const editMemberRoute = route({
  id: 'editMember',
  summary: "Edit a user's role in an organization",
  description:
    'Changes the role of a member, and nothing else: an e-mail address beside a user id is only checked for its form. The last owner keeps that role, or it is a 400.',
  method: 'put',
  path: '/api/v1/organizations/{organizationid}/users/{userid}',
  right: 'member.edit',
  params: member,
  body: MemberInput,
  formats: 'json+multipart',
  permit: (ports, caller, params) => permitEditMember(ports, caller, pathOf(params)),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: MemberReference },
  async handle({ ports, caller, params, body }) {
    return { data: await editMember(ports, caller, pathOf(params), body) }
  },
})

export const removeMemberRoute = route({
  id: 'removeMember',
  summary: 'Soft-remove a user from an organization',
  description:
    'Takes the person out of the organization; they lose access with the next request. The last owner stays, or it is a 400.',
  method: 'delete',
  path: '/api/v1/organizations/{organizationid}/users/{userid}',
  right: 'member.remove',
  params: member,
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: MemberReference },
  async handle({ ports, caller, params }) {
    return { data: await removeMember(ports, caller, pathOf(params)) }
  },
})
