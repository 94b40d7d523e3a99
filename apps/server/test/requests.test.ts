import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Route } from '../../../packages/adapters-http/src/route.ts'
import {
  brokenRequests,
  described,
  type Generated,
  isRule,
  names,
  validRequests,
} from '../../../packages/adapters-http/src/testing/document-requests.ts'
import { formOf } from '../../../packages/adapters-http/src/testing/requests.ts'
import { type Client, clientOf } from './support/client.ts'
import { temporaryDirectory } from './support/program.ts'
import { firstToken, startServer, type TestServer } from './support/server.ts'

// Few, since each crosses a real network and database; many more are sent in memory.
const RUNS = { numRuns: 4 }

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let server: TestServer
let client: Client
let organization: number
/** Id of a token that the requests are not sent with. */
let spare: number
let place: { [name: string]: number | string }

beforeAll(async () => {
  directory = await temporaryDirectory()
  server = await startServer(directory.path, {}, [], 120_000)
  client = clientOf(server.address, await firstToken(server))
  const { body: created } = await client('POST', '/organizations', { name: 'Acme' })
  organization = created.organization as number
  const blocker = { organization, device_id: 'a', email: 'a@acme.example', type: 'series', services: [] }
  const { body: blocked } = await client('POST', '/atb', blocker)
  const frameworks = `/organizations/${organization}/security-frameworks`
  const { body: framework } = await client('POST', frameworks, { title: 'ISO 27001' })
  // Whose role changes: the caller has to keep their own.
  const users = `/organizations/${organization}/users`
  const { body: colleague } = await client('POST', `${users}/0`, { email: 'b@acme.example' })
  const { body: issued } = await client('POST', '/tokens', { name: 'spare' })
  spare = (issued.data as { id: number }).id
  place = {
    organizationid: organization,
    userid: (colleague.data as { user: string }).user,
    frameworkid: (framework.security_framework as { id: number }).id,
    id: blocked.ticket as number,
  }
})

afterAll(async () => {
  await server?.stop()
  await directory?.remove()
})

async function send({ id, method, path }: Route, { search, json, multipart }: Generated) {
  const values = { ...place, ...(id === 'addMember' && { userid: 0 }), ...(id === 'rotateToken' && { id: spare }) }
  const bare = path
    .replace('/api/v1', '')
    .replace(/\{(\w+)\}/g, (_, name) => String(values[name as keyof typeof values]))
  const form = multipart && formOf([{ name: 'data', content: JSON.stringify(json) }])
  const { status, body } = await client(
    method.toUpperCase(),
    `${bare}?${search}`,
    form ? form.body : json,
    form ? form.headers : {},
  )
  return { status, details: (body.details ?? []) as { path: string }[] }
}

const settle = (body: object) => ({
  ...body,
  ...('organization' in body && { organization }),
  ...('organizations' in body && body.organizations !== null && { organizations: [organization] }),
})

// An invitation is accepted once, and not with a token.
const repeatable = described.filter(({ authentication }) => authentication !== 'invitation')

test.each(repeatable.map((route) => [route.id, route] as const))(
  '%s of the running service takes what the document allows, and refuses what it does not',
  async (id, route) => {
    await fc.assert(
      fc.asyncProperty(validRequests(route, settle), async (request) => {
        const { status, details } = await send(route, request)
        if (status !== 400 || !isRule(id, details)) expect([status, details]).toEqual([route.status, []])
      }),
      RUNS,
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(...brokenRequests(route, settle)), async ({ path, ...request }) => {
        const { status, details } = await send(route, request)
        expect(status).toBe(400)
        expect(names(details, path), `${path} in ${JSON.stringify(details)}`).toBe(true)
      }),
      RUNS,
    )
  },
)
