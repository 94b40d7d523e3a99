import {
  addMember,
  DomainError,
  INVITATION_PREFIX,
  issueToken,
  newSecret,
  type Ports,
} from '@security-management/domain'
import { memoryPorts } from '@security-management/domain/memory'
import { expect, onTestFinished, test } from 'vitest'
import { OPENAPI_PATH } from './openapi.ts'
import { routes } from './routes/index.ts'
import type { Answer } from './testing/answers.ts'
import { openLine } from './testing/raw.ts'
import { pathOf, type Sent } from './testing/requests.ts'
import { call, checkAnswer, type Service, startService, startServiceOn } from './testing/service.ts'
import { somewhere } from './testing/somewhere.ts'
import { aPerson, aSite, invitationCode } from './testing/world.ts'
import { createThrottle } from './throttle.ts'

// What can befall every operation alike, whatever it is about.

const SILENT = { info() {}, warn() {}, error() {} }
const HOUR = 60 * 60 * 1000
const NOBODY = '00000000-0000-4000-8000-000000000000'

/** Every operation that a route declares, at a path of the right form. */
const DECLARED = routes.map((route) => ({
  route,
  method: route.method.toUpperCase(),
  path: pathOf(route, ...Object.values(route.params ?? {}).map((kind) => (kind === 'user' ? NOBODY : '1'))),
}))
const ALL = [...DECLARED, { method: 'GET', path: OPENAPI_PATH }]

/** What comes back for a request with these bytes after its first line. */
async function answerTo(service: Service<Ports>, method: string, path: string, rest: string): Promise<Answer> {
  const line = await openLine(service)
  line.write(`${method} ${path} HTTP/1.1\r\n${rest}`)
  const answer = await line.answer()
  line.socket.destroy()
  if (!answer) throw new Error(`No answer to ${method} ${path}`)
  checkAnswer(method, path, answer)
  return answer
}

async function statuses(service: Service<Ports>, rest: string): Promise<number[]> {
  const answers = await Promise.all(ALL.map(({ method, path }) => answerTo(service, method, path, rest)))
  return [...new Set(answers.map(({ status }) => status))]
}

test('a request without Host is a 400', async () => {
  expect(await statuses(await startService(), '\r\n')).toEqual([400])
})

test('a request that is never sent to its end is a 408', async () => {
  const service = await startService({ headersTimeout: 100 })
  expect(await statuses(service, 'Host: a\r\nX-Slow: ')).toEqual([408])
})

test('a request that expects something else than to continue is a 417', async () => {
  expect(await statuses(await startService(), 'Host: a\r\nExpect: the-unexpected\r\n\r\n')).toEqual([417])
})

test('a request with very large headers is a 431', async () => {
  expect(await statuses(await startService(), `Host: a\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`)).toEqual([431])
})

test('a body that is larger than the limit is a 413', async () => {
  const ports = memoryPorts()
  const owner = await aPerson(ports, 'owner@example.com')
  const site = await aSite(ports, owner, 'Alpha')
  await addMember(
    ports,
    { user: owner.user.id },
    { organization: site.organization, user: '0' },
    { email: 'b@a.example' },
  )
  const code = await invitationCode(ports, 'b@a.example')
  const limits = { json: 10, framework: 10, document: 10, traffic: 10 }
  const service = await startServiceOn(ports, { limits })
  const headers = { 'Content-Type': 'application/json', 'Content-Disposition': 'attachment; filename="a.json"' }
  const withBody = routes.filter(({ body, upload }) => body !== undefined || upload !== undefined)
  for (const route of withBody) {
    const token = route.authentication === 'invitation' ? code : owner.token
    const path = somewhere(route, site, owner.user.id)
    const { status } = await call(service, route.method.toUpperCase(), path, { token, headers, body: '["0123456789"]' })
    expect([route.id, status]).toEqual([route.id, 413])
  }
})

test('a change of a version that is not there is a 412', async () => {
  const service = await startService()
  const owner = await aPerson(service.ports, 'owner@example.com')
  const site = await aSite(service.ports, owner, 'Alpha')
  const { id: spare } = await issueToken(service.ports, { user: owner.user.id })
  const headers = { 'If-Match': '"0"' }
  for (const route of routes.filter(({ method }) => method === 'put' || method === 'delete')) {
    const path = somewhere(route, { ...site, spare }, owner.user.id)
    const sent = { token: owner.token, headers, ...(route.body && { json: {} }) }
    const { status } = await call(service, route.method.toUpperCase(), path, sent)
    expect([route.id, status]).toEqual([route.id, 412])
  }
})

test('an address that failed to authenticate too often gets a 429', async () => {
  const ports = memoryPorts()
  const throttle = createThrottle(ports, SILENT, { failures: { limit: 1, window: HOUR } })
  onTestFinished(() => throttle.stop())
  const service = await startServiceOn(ports, { throttle })
  expect((await call(service, 'GET', '/api/v1/me', { token: 'wrong' })).status).toBe(401)
  for (const { method, path } of DECLARED) {
    expect([path, (await call(service, method, path, { token: 'wrong' })).status]).toEqual([path, 429])
  }
})

test('a download can be asked for in parts, and is not sent twice', async () => {
  const service = await startService()
  const owner = await aPerson(service.ports, 'owner@example.com')
  const site = await aSite(service.ports, owner, 'Alpha')
  for (const route of routes.filter(({ answer }) => answer === 'document')) {
    const get = (headers: Sent['headers']) =>
      call(service, 'GET', somewhere(route, site, owner.user.id), { token: owner.token, headers })
    const whole = await get({})
    expect([route.id, whole.status]).toEqual([route.id, 200])
    const part = await get({ Range: 'bytes=1-3' })
    expect([part.status, part.bytes]).toEqual([206, whole.bytes.subarray(1, 4)])
    expect((await get({ Range: 'bytes=999999-' })).status).toBe(416)
    expect((await get({ 'If-None-Match': whole.headers.etag })).status).toBe(304)
  }
})

test.each([
  ['a fault of ours is a 500', 500, new Error('secret')],
  ['a store that cannot be reached is a 503', 503, new DomainError('unavailable')],
])('%s, and says nothing', async (_, status, error) => {
  const broken = memoryPorts()
  const fail = async () => {
    throw error
  }
  const service = await startServiceOn({
    ...broken,
    tokens: { ...broken.tokens, findByHash: fail },
    invitations: { ...broken.invitations, findUsable: fail },
  })
  const { token } = await aPerson(broken, 'owner@example.com')
  const code = newSecret(broken, INVITATION_PREFIX)
  for (const { route, method, path } of DECLARED) {
    const answer = await call(service, method, path, { token: route.authentication === 'invitation' ? code : token })
    expect([path, answer.status, answer.json]).toEqual([path, status, { error: 1, messages: [] }])
  }
})
