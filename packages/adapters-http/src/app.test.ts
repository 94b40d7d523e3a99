import { DomainError, type Ports } from '@security-management/domain'
import { memoryPorts } from '@security-management/domain/memory'
import { describe, expect, test } from 'vitest'
import { openLine } from './testing/raw.ts'
import type { Sent } from './testing/requests.ts'
import { call, type Line, startService, startServiceOn, until } from './testing/service.ts'
import { aBlocker, aPerson, aSite } from './testing/world.ts'

async function aService() {
  const service = await startService()
  const owner = await aPerson(service.ports, 'owner@example.com')
  return { service, token: owner.token, owner }
}

describe('paths and methods', () => {
  test.each([
    '/',
    '/api/v1',
    '/api/v1/none',
    '/api/v2/atb',
    '/API/v1/atb',
    '/api/v1/Atb',
    '/api/v1/atb/',
    '//api/v1/atb',
    '/api/v1//atb',
    '/api/v1/atb/1/',
    '/api/v1/./atb',
    '/api/v1/x/../atb',
    '/api%2fv1/atb',
    '/api/v1/atb%00',
    '/api/v1/atb#x',
    'http://[',
    '*',
  ])('%s does not exist: 404, also without a token', async (path) => {
    const { service, token } = await aService()
    expect((await call(service, 'GET', path, { token })).status).toBe(404)
    expect((await call(service, 'POST', path)).status).toBe(404)
  })

  test.each(['PATCH', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH'])(
    '%s on a path that does not have it: 405 with Allow, also without a token',
    async (method) => {
      const { service } = await aService()
      const answer = await call(service, method, '/api/v1/atb')
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } })
      expect((await call(service, method, '/api/v1/none')).status).toBe(404)
    },
  )

  test('HEAD answers as GET does, without a body', async () => {
    const { service, token } = await aService()
    const got = await call(service, 'GET', '/api/v1/me', { token })
    const head = await call(service, 'HEAD', '/api/v1/me', { token })
    expect(head).toMatchObject({ status: 200, headers: { 'content-length': String(got.bytes.length) } })
    expect(head.bytes.length).toBe(0)
    expect((await call(service, 'HEAD', '/api/v1/me')).status).toBe(401)
  })

  test('a URL in its absolute form is the same path', async () => {
    const { service, token } = await aService()
    expect((await call(service, 'GET', 'http://example.com/api/v1/me?x=1', { token })).status).toBe(200)
  })
})

describe('the order of the checks', () => {
  test('path, token, form of the ids, rights, body', async () => {
    const { service, token, owner } = await aService()
    const { organization } = await aSite(service.ports, owner, 'Alpha')
    const stranger = await aPerson(service.ports, 'stranger@example.com')
    const wrong: Sent = { headers: { 'Content-Type': 'text/plain' }, body: 'no JSON' }
    const path = `/api/v1/organizations/${organization}`
    const status = async (to: string, sent: Sent) => (await call(service, 'PUT', to, sent)).status
    expect(await status('/api/v1/organizations/x/y', wrong)).toBe(404)
    expect(await status('/api/v1/organizations/x', wrong)).toBe(401)
    expect(await status('/api/v1/organizations/x', { ...wrong, token: stranger.token })).toBe(404)
    expect(await status(path, { ...wrong, token: stranger.token })).toBe(401)
    expect(await status('/api/v1/organizations/999', { ...wrong, token: stranger.token })).toBe(404)
    expect(await status(path, { ...wrong, token })).toBe(400)
  })

  test('where the body names the organization, it is read before the right to it is asked for', async () => {
    const { service, token, owner } = await aService()
    const { organization } = await aSite(service.ports, owner, 'Alpha')
    const stranger = await aPerson(service.ports, 'stranger@example.com')
    const send = (json: object, caller: string) => call(service, 'POST', '/api/v1/atb', { token: caller, json })
    expect((await send(aBlocker(organization, { type: 'odd' }), stranger.token)).status).toBe(400)
    expect((await send(aBlocker(organization), stranger.token)).status).toBe(401)
    expect((await send(aBlocker(999), token)).status).toBe(404)
  })

  test('a stranger with a wrong query learns that they are not permitted', async () => {
    const { service, owner } = await aService()
    const { organization } = await aSite(service.ports, owner, 'Alpha')
    const { token } = await aPerson(service.ports, 'stranger@example.com')
    const path = `/api/v1/organizations/${organization}/users?limit=`
    expect((await call(service, 'GET', path, { token })).status).toBe(401)
  })
})

describe('every answer', () => {
  test('carries the request id that was sent, if it is one', async () => {
    const { service } = await aService()
    const idOf = async (sent: string) => {
      const { headers } = await call(service, 'GET', '/api/v1/me', { headers: { 'X-Request-Id': sent } })
      return headers['x-request-id']
    }
    expect(await idOf('abc-1.2_3')).toBe('abc-1.2_3')
    for (const sent of ['', 'a b', 'a'.repeat(65), 'a,b', 'é']) expect(await idOf(sent)).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('tells of every failing path, as in the request', async () => {
    const { service, token } = await aService()
    const json = { contacts: [{ name: 'Ada', email: 'none' }], ips: ['10.0.0.1', 'x'], number_employees: 1.5 }
    const answer = await call(service, 'POST', '/api/v1/organizations', { token, json })
    const paths = answer.json.details.map(({ path }: { path: string }) => path)
    expect(paths.sort()).toEqual(['contacts.0.email', 'ips.1', 'name', 'number_employees'])
  })

  test('tells of a hundred failing paths at most, so that an answer stays small', async () => {
    const { service, token } = await aService()
    const json = { name: 'Gamma', ips: Array.from({ length: 900 }, () => 'x') }
    const answer = await call(service, 'POST', '/api/v1/organizations', { token, json })
    expect(answer.json.details).toHaveLength(100)
  })

  test('comes at once, however much is wrong', async () => {
    const { service, token, owner } = await aService()
    const { organization } = await aSite(service.ports, owner, 'Alpha')
    const path = `/api/v1/organizations/${organization}/security-frameworks`
    const body = `{"title":"Wrong","security_frameworks":[${'0,'.repeat(4_000_000)}0]}`
    const started = performance.now()
    const answer = await call(service, 'POST', path, { token, headers: { 'Content-Type': 'application/json' }, body })
    expect(answer).toMatchObject({ status: 400, json: { details: [{ path: '' }] } })
    expect(performance.now() - started).toBeLessThan(3000)
  })

  test('a conflict is told of in the same way', async () => {
    const { service, token, owner } = await aService()
    const { organization } = await aSite(service.ports, owner, 'Alpha')
    const path = `/api/v1/organizations/${organization}/users/${owner.user.id}`
    const answer = await call(service, 'PUT', path, { token, json: { role: 'viewer' } })
    expect(answer).toMatchObject({
      status: 400,
      json: { messages: ['Invalid data provided'], details: [{ path: 'role' }] },
    })
  })
})

describe('what goes wrong on our side', () => {
  async function aBroken(error: unknown) {
    const ports: Ports = memoryPorts()
    const { token } = await aPerson(ports, 'owner@example.com')
    const fail = () => Promise.reject(error)
    const service = await startServiceOn({ ...ports, members: { ...ports.members, membershipsOf: fail } })
    return { service, answer: await call(service, 'GET', '/api/v1/me', { token }) }
  }

  test('says nothing of it to the client, and all of it to the log, with the request id', async () => {
    const error = new Error('SELECT secret FROM /etc/passwd')
    const { service, answer } = await aBroken(error)
    expect(answer).toMatchObject({ status: 500, json: { error: 1, messages: [] } })
    expect(answer.bytes.toString()).not.toContain('secret')
    await until(() => service.log.length > 0)
    const request_id = answer.headers['x-request-id']
    expect(service.log).toMatchObject([{ level: 'error', fields: { err: error, request_id, status: 500 } }])
  })

  test('a store that cannot answer now: 503', async () => {
    const cause = new Error('connection refused')
    const { service, answer } = await aBroken(new DomainError('unavailable', [], { cause }))
    expect(answer).toMatchObject({ status: 503, json: { error: 1, messages: [] } })
    await until(() => service.log.length > 0)
    expect(service.log).toMatchObject([{ level: 'error', fields: { err: { cause }, status: 503 } }])
  })

  test('what is thrown may be anything', async () => {
    for (const thrown of ['text', null, { status: 200, expose: true, headers: { 'X-Bad': '1' } }]) {
      const { answer } = await aBroken(thrown)
      expect(answer.status).toBe(500)
      expect(answer.headers).not.toHaveProperty('x-bad')
    }
  })
})

describe('the log', () => {
  test('has one line for each request, with its route and its caller', async () => {
    const { service, token, owner } = await aService()
    const { headers } = await call(service, 'GET', '/api/v1/atb/1?limit=1', { token })
    await call(service, 'GET', '/api/v1/none')
    await until(() => service.log.length === 2)
    expect(service.log).toEqual([
      {
        level: 'info',
        message: 'request',
        fields: {
          request_id: headers['x-request-id'],
          method: 'GET',
          route: 'readThreatBlocker',
          caller: owner.user.id,
          token: expect.any(Number),
          status: 404,
          duration_ms: expect.any(Number),
        },
      },
      {
        level: 'info',
        message: 'request',
        fields: expect.objectContaining({ route: null, caller: null, token: null }),
      },
    ])
  })

  test('never holds a token, whatever form the request carries it in', async () => {
    const { service, token } = await aService()
    const carriers: [string, Sent][] = [
      ['/api/v1/me', { token }],
      [`/api/v1/me?X-Service-Token=${token}`, {}],
      [`/api/v1/me?token=${token}`, {}],
      [`/api/v1/${token}`, {}],
      [`/api/v1/atb/${token}`, { token }],
      ['/api/v1/me', { headers: { Referer: `http://a/?X-Service-Token=${token}`, 'User-Agent': token } }],
      ['/api/v1/me', { headers: { 'X-Request-Id': token } }],
      ['/api/v1/me', { headers: { Authorization: `Bearer ${token}`, Cookie: token } }],
    ]
    for (const [path, sent] of carriers) await call(service, 'GET', path, sent)
    await call(service, 'POST', '/api/v1/organizations', { token, body: token })
    await until(() => service.log.length === carriers.length + 1)
    expect(JSON.stringify(service.log)).not.toContain(token)
  })

  test('has no fault of ours when a client goes away', async () => {
    const { service, token } = await aService()
    const line = await openLine(service)
    const headers = [`X-Service-Token: ${token}`, 'Content-Type: application/json', 'Content-Length: 100']
    line.write(`POST /api/v1/organizations HTTP/1.1\r\nHost: a\r\n${headers.join('\r\n')}\r\n\r\n{"name":`)
    await new Promise((resolve) => setTimeout(resolve, 50))
    line.socket.destroy()
    await until(() => service.log.length > 0)
    expect(service.log.map(({ level, fields }: Line) => [level, fields.status])).toEqual([['info', 499]])
  })
})
