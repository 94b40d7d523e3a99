import { issueToken, type Ports, revokeToken } from '@security-management/domain'
import { memoryPorts } from '@security-management/domain/memory'
import { afterEach, describe, expect, test } from 'vitest'
import { call, type Service, startServiceOn, until } from './testing/service.ts'
import { aPerson } from './testing/world.ts'
import { createThrottle, type Throttle, type ThrottleOptions } from './throttle.ts'

const MINUTE = 60_000
const SILENT = { info() {}, warn() {}, error() {} }

const throttles: Throttle[] = []
afterEach(() => {
  for (const throttle of throttles.splice(0)) throttle.stop()
})

/** A service whose clock stands at the start of a minute until `wait` moves it, and what it asks the stores for. */
async function aService(options: ThrottleOptions) {
  const clock = { now: Date.parse('2026-03-01T12:00:00.000Z') }
  const memory = memoryPorts({ now: () => new Date(clock.now) })
  const { token } = await aPerson(memory, 'owner@example.com')
  const { token: fresh } = await issueToken(memory, { user: 'owner@example.com' })
  const asked = { tokens: 0, units: 0 }
  const ports: Ports = {
    ...memory,
    tokens: {
      ...memory.tokens,
      findByHash(hash) {
        asked.tokens += 1
        return memory.tokens.findByHash(hash)
      },
    },
    transact(work) {
      asked.units += 1
      return memory.transact(work)
    },
  }
  const start = () => {
    const throttle = createThrottle(ports, SILENT, options)
    throttles.push(throttle)
    return startServiceOn(ports, { throttle })
  }
  const service = await start()
  const wait = (milliseconds: number) => {
    clock.now += milliseconds
  }
  return { service, start, ports: memory, token, fresh, asked, wait }
}

function ask(service: Service<Ports>, token: string, forwarded?: string) {
  const headers = forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded }
  return call(service, 'GET', '/api/v1/me', { token, headers })
}

async function statuses(service: Service<Ports>, token: string, count: number, forwarded?: string): Promise<number[]> {
  const all: number[] = []
  for (let times = 0; times < count; times += 1) all.push((await ask(service, token, forwarded)).status)
  return all
}

const times = (count: number, status: number) => Array.from({ length: count }, () => status)

describe('failed authentications', () => {
  const failures = { limit: 5, window: MINUTE }

  test('are answered 429 past the limit, with the time until they are answered again', async () => {
    const { service, wait } = await aService({ failures })
    expect(await statuses(service, 'wrong', 5)).toEqual(times(5, 401))
    wait(18_500)
    const refused = await ask(service, 'wrong')
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '42' } })
    wait(41_500)
    expect((await ask(service, 'wrong')).status).toBe(401)
  })

  test('of one address cost nothing to others, nor to who has a token behind the same one', async () => {
    const { service, token, fresh } = await aService({ failures, proxies: 1 })
    await statuses(service, 'wrong', 20, '203.0.113.7')
    expect((await ask(service, 'wrong', '203.0.113.7')).status).toBe(429)
    expect((await ask(service, 'wrong', '203.0.113.8')).status).toBe(401)
    for (const good of [token, fresh]) expect((await ask(service, good, '203.0.113.8')).status).toBe(200)
    expect((await ask(service, token, '203.0.113.7')).status).toBe(200)
  })

  test('are counted by networks of 64 bits of IPv6', async () => {
    const { service } = await aService({ failures, proxies: 1 })
    for (let host = 1; host <= 5; host += 1) await ask(service, 'wrong', `2001:db8::${host}`)
    expect((await ask(service, 'wrong', '2001:db8::ffff:6')).status).toBe(429)
    expect((await ask(service, 'wrong', '2001:db8:0:1::1')).status).toBe(401)
  })

  test('are those of the connection, whatever a client writes, where no proxy is trusted', async () => {
    const { service } = await aService({ failures })
    for (let host = 1; host <= 5; host += 1) await ask(service, 'wrong', `203.0.113.${host}`)
    expect((await ask(service, 'wrong', '203.0.113.99')).status).toBe(429)
  })

  test('past the limit cost a few look-ups a second, and a good token none of its own', async () => {
    const { service, ports, token, asked, wait } = await aService({ failures })
    // Well-formed, so that each would cost a look-up.
    const { id, token: revoked } = await issueToken(ports, { user: 'owner@example.com' })
    await revokeToken(ports, id)
    expect((await ask(service, token)).status).toBe(200)
    await statuses(service, revoked, 5)
    asked.tokens = 0
    expect(await statuses(service, revoked, 30)).toEqual(times(30, 429))
    expect(asked.tokens).toBe(10)
    expect((await ask(service, token)).status).toBe(200)
    wait(1000)
    expect(await statuses(service, revoked, 30)).toEqual(times(30, 429))
    expect(asked.tokens).toBe(21)
  })

  test('of the wrong form past the limit, or with a wrong checksum, leave the few look-ups to others', async () => {
    const { service, token, fresh, asked } = await aService({ failures })
    const mistyped = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
    await statuses(service, 'wrong', 5)
    for (const wrong of ['wrong', mistyped, token.replace('sms_', 'smi_')]) {
      expect(await statuses(service, wrong, 15)).toEqual(times(15, 429))
    }
    const accept = () => call(service, 'POST', '/api/v1/invitations/accept', { token: fresh })
    for (let count = 0; count < 15; count += 1) expect((await accept()).status).toBe(429)
    expect(asked.tokens).toBe(0)
    expect((await ask(service, fresh)).status).toBe(200)
  })

  test('a token that is revoked is a failure from then on', async () => {
    const { service, ports, fresh } = await aService({ failures: { limit: 1, window: MINUTE } })
    expect((await ask(service, fresh)).status).toBe(200)
    const [, second] = await ports.tokens.list()
    await revokeToken(ports, second?.id ?? 0)
    expect(await statuses(service, fresh, 2)).toEqual([401, 429])
  })

  test('a request without any token, or without the right, is none', async () => {
    const { service, token } = await aService({ failures: { limit: 1, window: MINUTE } })
    for (let count = 0; count < 5; count += 1) {
      expect((await call(service, 'GET', '/api/v1/me')).status).toBe(401)
      expect((await call(service, 'GET', '/api/v1/organizations/9/users', { token })).status).toBe(404)
    }
    expect(await statuses(service, 'wrong', 2)).toEqual([401, 429])
  })

  test('codes of invitations count as well', async () => {
    const { service } = await aService({ failures: { limit: 2, window: MINUTE } })
    const accept = async () =>
      (await call(service, 'POST', '/api/v1/invitations/accept', { token: 'smi_wrong' })).status
    expect([await accept(), await accept(), await accept()]).toEqual([401, 401, 429])
  })

  test('are known to another process soon after, and cost the database nothing once they are refused', async () => {
    const { service, start, asked } = await aService({ failures })
    const other = await start()
    expect(await statuses(service, 'wrong', 4)).toEqual(times(4, 401))
    await until(() => asked.units >= 1)
    expect(await statuses(other, 'wrong', 1)).toEqual([401])
    await until(async () => (await ask(other, 'wrong')).status === 429)
    await new Promise((resolve) => setTimeout(resolve, 1100))
    asked.units = 0
    await statuses(other, 'wrong', 20)
    await new Promise((resolve) => setTimeout(resolve, 1100))
    expect(asked.units).toBe(0)
  })
})

describe('a rate of requests', () => {
  const requests = { limit: 3, window: MINUTE }

  test('holds for each token, and says when there is more', async () => {
    const { service, token, fresh, wait } = await aService({ requests })
    wait(10_000)
    expect(await statuses(service, token, 3)).toEqual(times(3, 200))
    expect(await ask(service, token)).toMatchObject({ status: 429, headers: { 'retry-after': '50' } })
    expect(await statuses(service, fresh, 3)).toEqual(times(3, 200))
    wait(50_000)
    expect((await ask(service, token)).status).toBe(200)
  })

  test('is not there unless it is asked for', async () => {
    const { service, token } = await aService({})
    expect(await statuses(service, token, 50)).toEqual(times(50, 200))
  })

  test('is kept together with other processes', async () => {
    const { service, start, token, asked } = await aService({ requests: { limit: 10, window: MINUTE } })
    const other = await start()
    expect(await statuses(service, token, 9)).toEqual(times(9, 200))
    // The first unit notes the use of the token.
    await until(() => asked.units >= 2)
    expect((await ask(other, token)).status).toBe(200)
    await until(async () => (await ask(other, token)).status === 429)
  })

  test('goes on while the counts cannot be shared', async () => {
    const { ports, token } = await aService({})
    const warnings: object[] = []
    const log = { ...SILENT, warn: (fields: object) => void warnings.push(fields) }
    const failing: Ports = { ...ports, transact: () => Promise.reject(new Error('no database')) }
    const throttle = createThrottle(failing, log, { requests: { limit: 2, window: MINUTE } })
    throttles.push(throttle)
    const service = await startServiceOn(ports, { throttle })
    expect(await statuses(service, token, 3)).toEqual([200, 200, 429])
    await until(() => warnings.length > 0)
    expect((await ask(service, token)).status).toBe(429)
  })
})
