import {
  authorizeOwn,
  IssuedToken,
  issueOwnToken,
  listOwnTokens,
  NewOwnToken,
  OwnToken,
  permitRotateToken,
  Rotation,
  revokeOwnToken,
  rotateToken,
  TokenQuery,
} from '@security-management/domain'
import { route } from '../route.ts'
import { listOf } from '../schemas.ts'

export const listTokensRoute = route({
  id: 'listTokens',
  summary: "List the caller's API tokens",
  description:
    'Those that are not revoked, expired ones included, without their secrets. A token that is held to some organizations sees itself alone.',
  method: 'get',
  path: '/api/v1/tokens',
  extension: true,
  right: 'self',
  query: TokenQuery,
  aliases: { ordering: 'order' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(OwnToken),
  handle: ({ ports, caller, query }) => listOwnTokens(ports, caller, query),
})

export const issueTokenRoute = route({
  id: 'issueToken',
  summary: 'Issue another API token for the caller, which is shown this once',
  description:
    'A token with a name to know it by, which may expire, may be only for reading (`access`), and may be held to some of the organizations that the caller is a member of (`organizations`). It never reaches further than the caller does. A token that is narrowed itself issues none. A person has at most 100 tokens that work; another one is a 400.',
  method: 'post',
  path: '/api/v1/tokens',
  extension: true,
  right: 'self',
  body: NewOwnToken,
  permit: async (_, caller) => authorizeOwn(caller, 'token.issue'),
  invalidInput: 'Invalid data provided',
  status: 201,
  answer: { data: IssuedToken },
  async handle({ ports, caller, body }) {
    return { data: await issueOwnToken(ports, caller, body) }
  },
})

export const rotateTokenRoute = route({
  id: 'rotateToken',
  summary: "Give one of the caller's API tokens a new secret, which is shown this once",
  description:
    'It stays the same token, with its id, name, expiry and narrowing. The secret of before works for `overlap_days` more, 0 unless said otherwise; one from an earlier rotation works no more. A narrowed token may rotate itself alone. A token that has expired is a 400.',
  method: 'post',
  path: '/api/v1/tokens/{id}/rotate',
  extension: true,
  right: 'self',
  params: { id: 'id' },
  body: Rotation,
  bodyMayBeMissing: true,
  permit: (ports, caller, { id }) => permitRotateToken(ports, caller, id),
  invalidInput: 'Invalid data provided',
  status: 201,
  answer: { data: IssuedToken },
  async handle({ ports, caller, params, body }) {
    return { data: await rotateToken(ports, caller, params.id, body) }
  },
})

export const revokeTokenRoute = route({
  id: 'revokeToken',
  summary: "Revoke one of the caller's API tokens",
  description:
    'The token is refused from the next request on, with any of its secrets. A narrowed token may revoke itself alone.',
  method: 'delete',
  path: '/api/v1/tokens/{id}',
  extension: true,
  right: 'self',
  params: { id: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: OwnToken },
  async handle({ ports, caller, params }) {
    return { data: await revokeOwnToken(ports, caller, params.id) }
  },
})
