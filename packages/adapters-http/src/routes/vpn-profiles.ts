import {
  authorize,
  createVpnProfile,
  Id,
  listVpnProfiles,
  NewVpnProfile,
  parse,
  readVpnProfile,
  removeVpnProfile,
  VpnProfile,
  VpnProfileQuery,
} from '@security-management/domain'
import { route } from '../route.ts'
import { listOf } from '../schemas.ts'

export const createVpnProfileRoute = route({
  id: 'createVpnProfile',
  summary: 'Create a VPN profile',
  description: 'Creates a profile for an organization that the caller manages. `vpn` is its id.',
  method: 'post',
  path: '/api/v1/vpn',
  right: 'vpn_profile.create',
  body: NewVpnProfile,
  formats: 'json+multipart',
  permitBody: (ports, caller, body) =>
    authorize(ports, caller, parse(NewVpnProfile, body).organization, 'vpn_profile.create'),
  invalidInput: 'Malformed data structure',
  status: 201,
  answer: { vpn: Id },
  async handle({ ports, caller, body }) {
    return { vpn: await createVpnProfile(ports, caller, body) }
  },
})

export const listVpnProfilesRoute = route({
  id: 'listVpnProfiles',
  summary: 'List VPN profiles',
  description: 'Profiles of the organizations that the caller belongs to, in any role.',
  method: 'get',
  path: '/api/v1/vpn',
  extension: true,
  right: 'anyone',
  query: VpnProfileQuery,
  aliases: { ordering: 'order', organization_id: 'organization' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(VpnProfile),
  handle: ({ ports, caller, query }) => listVpnProfiles(ports, caller, query),
})

export const readVpnProfileRoute = route({
  id: 'readVpnProfile',
  summary: 'Read a VPN profile',
  description: 'One profile of an organization that the caller belongs to.',
  method: 'get',
  path: '/api/v1/vpn/{id}',
  extension: true,
  right: 'vpn_profile.read',
  params: { id: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: VpnProfile },
  etagOf: ({ data }) => data,
  async handle({ ports, caller, params }) {
    return { data: await readVpnProfile(ports, caller, params.id) }
  },
})

export const removeVpnProfileRoute = route({
  id: 'removeVpnProfile',
  summary: 'Soft-remove a VPN profile that the caller created',
  description:
    'Marks the profile as removed and returns it for the last time. Only whoever created it can, while they are a member.',
  method: 'delete',
  path: '/api/v1/vpn/{id}',
  right: 'vpn_profile.remove',
  params: { id: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: VpnProfile },
  ifMatch: true,
  async handle({ ports, caller, params, expected }) {
    return { data: await removeVpnProfile(ports, caller, params.id, expected) }
  },
})
