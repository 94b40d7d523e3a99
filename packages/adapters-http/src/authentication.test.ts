import { issueToken, type Ports, revokeToken } from '@security-management/domain'
import { memoryPorts } from '@security-management/domain/memory'
import { describe, expect, test } from 'vitest'
import { talk } from './testing/raw.ts'
import type { Sent } from './testing/requests.ts'
import { call, startService, startServiceOn, until } from './testing/service.ts'
import { aPerson } from './testing/world.ts'

async function aService(options = {}) {
  const service = await startService(options)
  const { token, user } = await aPerson(service.ports, 'owner@example.com')
  const other = await aPerson(service.ports, 'other@example.com')
  const status = async (query: string, sent: Sent = {}) =>
    (await call(service, 'GET', `/api/v1/me${query}`, sent)).status
  return { service, token, user, other: other.token, status }
}

describe('a token', () => {
  test('is taken from the header, whose name has no case, or from the query', async () => {
    const { token, status } = await aService()
    expect(await status('', { headers: { 'X-Service-Token': token } })).toBe(200)
    expect(await status('', { headers: { 'x-sERVICE-token': token } })).toBe(200)
    expect(await status(`?X-Service-Token=${token}`)).toBe(200)
    expect(await status(`?a=1&X-Service-Token=${token}&b`)).toBe(200)
  })

  test('is missing, wrong, or named otherwise: 401', async () => {
    const { token, status } = await aService()
    expect(await status('')).toBe(401)
    for (const wrong of ['', 'x', `${token}x`, token.slice(1), token.toLowerCase(), `Bearer ${token}`]) {
      expect(await status('', { token: wrong })).toBe(401)
      expect(await status(`?X-Service-Token=${encodeURIComponent(wrong)}`)).toBe(401)
    }
    for (const name of ['x-service-token', 'X-SERVICE-TOKEN', 'X-Service-Token[]', 'token']) {
      expect(await status(`?${name}=${token}`)).toBe(401)
    }
    expect(await status('?X-Service-Token=%zz')).toBe(401)
  })

  test('in both places must be the same', async () => {
    const { token, other, status } = await aService()
    expect(await status(`?X-Service-Token=${token}`, { token })).toBe(200)
    expect(await status(`?X-Service-Token=${token}`, { token: other })).toBe(401)
    expect(await status(`?X-Service-Token=${token}`, { token: '' })).toBe(401)
    expect(await status('?X-Service-Token=', { token })).toBe(401)
  })

  test('given twice is refused, even the same', async () => {
    const { service, token, status } = await aService()
    expect(await status(`?X-Service-Token=${token}&X-Service-Token=${token}`)).toBe(401)
    expect(await status(`?X-Service-Token=${token}&X-Service-Token=${token}`, { token })).toBe(401)
    expect(await status(`?X-Service-Token=${token}&X%2DService%2DToken=${token}`)).toBe(401)
    const twice = `X-Service-Token: ${token}\r\n`.repeat(2)
    expect((await talk(service, `GET /api/v1/me HTTP/1.1\r\nHost: a\r\n${twice}\r\n`)).status).toBe(401)
  })

  test('in the query is refused where the operator says so, also beside a header', async () => {
    const { token, status } = await aService({ tokenInQuery: false })
    expect(await status(`?X-Service-Token=${token}`)).toBe(401)
    expect(await status(`?X-Service-Token=${token}`, { token })).toBe(401)
    expect(await status('', { token })).toBe(200)
  })

  test('of the wrong form or with a wrong checksum, as a token or a code, costs no look-up of any kind', async () => {
    const ports: Ports = memoryPorts()
    const { token } = await aPerson(ports, 'owner@example.com')
    let asked = 0
    const counted = Object.fromEntries(
      Object.entries(ports).map(([name, port]) => [name, typeof port === 'object' ? counting(port) : port]),
    ) as Ports
    const transact: Ports['transact'] = (work) => {
      asked += 1
      return ports.transact(work)
    }
    const sealOf: Ports['sealOf'] = (...call) => {
      asked += 1
      return ports.sealOf(...call)
    }
    function counting<Store extends object>(store: Store): Store {
      return new Proxy(store, {
        get(target, name, receiver) {
          asked += 1
          return Reflect.get(target, name, receiver)
        },
      })
    }
    const service = await startServiceOn({ ...counted, transact, sealOf })
    const me = async (secret: string) => (await call(service, 'GET', '/api/v1/me', { token: secret })).status
    const accept = async (code: string, headers = {}) =>
      (await call(service, 'POST', '/api/v1/invitations/accept', { token: code, headers })).status
    const KEY = { 'Idempotency-Key': 'a key of mine' }
    const mistyped = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
    for (const wrong of ['x', token.slice(1), `${token}0`, mistyped, token.replace('sms_', 'smi_')]) {
      expect(await me(wrong)).toBe(401)
      expect((await call(service, 'GET', `/api/v1/me?X-Service-Token=${wrong}`)).status).toBe(401)
      for (const headers of [{}, KEY]) expect(await accept(wrong, headers)).toBe(401)
    }
    for (const headers of [{}, KEY]) expect(await accept(token, headers)).toBe(401)
    expect(asked).toBe(0)
    expect(await me(token)).toBe(200)
    expect(asked).toBeGreaterThan(0)
  })

  test('that is revoked is refused from the very next request on', async () => {
    const { service, user, status } = await aService()
    const { id, token } = await issueToken(service.ports, { user: user.id })
    expect(await status('', { token })).toBe(200)
    await revokeToken(service.ports, id)
    expect(await status('', { token })).toBe(401)
    expect(await status(`?X-Service-Token=${token}`)).toBe(401)
  })
})

describe('the last use of a token', () => {
  test('is noted after the answer', async () => {
    const { service, token, status } = await aService()
    expect(await status('', { token })).toBe(200)
    await until(async () => (await service.ports.tokens.list())[0]?.last_used_at !== null)
    expect((await service.ports.tokens.list())[1]?.last_used_at).toBeNull()
  })

  test('is noted once for requests that come at the same time, and never waited for', async () => {
    const ports: Ports = memoryPorts()
    const { token } = await aPerson(ports, 'owner@example.com')
    let noted = 0
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow: Ports['transact'] = async (work) => {
      noted += 1
      await held
      return ports.transact(work)
    }
    const service = await startServiceOn({ ...ports, transact: slow })
    const me = () => call(service, 'GET', '/api/v1/me', { token })
    const answers = await Promise.all(Array.from({ length: 10 }, me))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    await until(() => noted > 0)
    await me()
    expect(noted).toBe(1)
    release()
    await until(async () => (await ports.tokens.list())[0]?.last_used_at !== null)
    await me()
    expect(noted).toBe(1)
  })

  test('that cannot be noted fails no request', async () => {
    const ports: Ports = memoryPorts()
    const { token } = await aPerson(ports, 'owner@example.com')
    const service = await startServiceOn({ ...ports, transact: () => Promise.reject(new Error('the disk is full')) })
    expect((await call(service, 'GET', '/api/v1/me', { token })).status).toBe(200)
    await until(() => service.log.some(({ level }) => level === 'warn'))
    expect(JSON.stringify(service.log)).not.toContain(token)
  })
})
