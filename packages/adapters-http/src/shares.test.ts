import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { createSecurityFramework } from '@security-management/domain'
import { type MemoryPorts, memoryPorts } from '@security-management/domain/memory'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from './app.ts'
import type { Context } from './context.ts'
import type { Hold } from './hold.ts'
import { readInput } from './input.ts'
import type { Route } from './route.ts'
import { routes } from './routes/index.ts'
import { type Line, openLine } from './testing/raw.ts'
import { call, type Service, startService, startServiceOn, until } from './testing/service.ts'
import { aPerson, aSite, type Person } from './testing/world.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Headers of a request of this person; the caller adds what follows. */
function head(line: string, { token }: Person, ...others: string[]): string {
  return [`${line} HTTP/1.1`, 'Host: localhost', `X-Service-Token: ${token}`, ...others, '', ''].join('\r\n')
}

const areClosed = (lines: Line[]) => lines.map((line) => line.howEnded() !== undefined)

describe('many reads of one person at once', () => {
  /** A service whose lists of VPN profiles wait to be let go, and the organizations that they were asked for. */
  async function aSlowService() {
    const begun: (readonly number[])[] = []
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const ports = memoryPorts()
    const vpnProfiles: MemoryPorts['vpnProfiles'] = {
      ...ports.vpnProfiles,
      async listActive(organizations, page) {
        begun.push(organizations)
        await released
        return ports.vpnProfiles.listActive(organizations, page)
      },
    }
    const service = await startServiceOn({ ...ports, vpnProfiles })
    const [one, other] = [await aPerson(ports, 'one@example.com'), await aPerson(ports, 'other@example.com')]
    const sites = { one: await aSite(ports, one, 'Alpha'), other: await aSite(ports, other, 'Beta') }
    const list = ({ token }: Person) => call(service, 'GET', '/api/v1/vpn', { token })
    return { service, one, other, sites, begun, release, list }
  }

  test('are served four at a time, while others, and changes, wait for none of them', async () => {
    const { service, one, other, sites, begun, release, list } = await aSlowService()
    const many = Array.from({ length: 10 }, () => list(one))
    await until(() => begun.length === 4)
    const another = list(other)
    await until(() => begun.length === 5)
    expect(begun.map((organizations) => organizations.includes(sites.other.organization))).toEqual([
      ...Array(4).fill(false),
      true,
    ])
    const change = await call(service, 'POST', '/api/v1/organizations', { token: one.token, json: { name: 'Gamma' } })
    expect(change.status).toBe(201)
    expect(begun).toHaveLength(5)
    release()
    const answers = await Promise.all([...many, another])
    expect(answers.map(({ status }) => status)).toEqual(Array(11).fill(200))
    expect(begun).toHaveLength(11)
  })

  test('are not begun any more for a client that is gone', async () => {
    const { service, one, begun, release, list } = await aSlowService()
    let come = 0
    service.server.on('request', () => {
      come += 1
    })
    const many = Array.from({ length: 4 }, () => list(one))
    await until(() => begun.length === 4)
    const line = await openLine(service)
    line.write(head('GET /api/v1/vpn', one))
    await until(() => come === 5)
    const asked = list(one)
    await until(() => come === 6)
    line.socket.destroy()
    await until(() => service.log.length > 0)
    expect(service.log).toMatchObject([{ level: 'info', message: 'client went away', fields: { status: 499 } }])
    release()
    await Promise.all([...many, asked])
    await service.server.idle()
    expect(begun).toHaveLength(5)
  })

  test('that fail make room for the next', async () => {
    const ports = memoryPorts()
    const vpnProfiles: MemoryPorts['vpnProfiles'] = {
      ...ports.vpnProfiles,
      listActive: async () => Promise.reject(new Error('broken')),
    }
    const service = await startServiceOn({ ...ports, vpnProfiles })
    const { token } = await aPerson(ports, 'one@example.com')
    const many = Array.from({ length: 10 }, () => call(service, 'GET', '/api/v1/vpn', { token }))
    expect((await Promise.all(many)).map(({ status }) => status)).toEqual(Array(10).fill(500))
    expect((await call(service, 'GET', '/api/v1/me', { token })).status).toBe(200)
  })
})

describe('memory that all requests share', () => {
  async function aService(memory: number) {
    const service = await startService({ memory })
    const people = [await aPerson(service.ports, 'one@example.com'), await aPerson(service.ports, 'other@example.com')]
    const [one, other] = people as [Person, Person]
    return { service, one, other }
  }

  /** A framework whose answer no buffer between server and client can hold; returns its path. */
  async function aLargeFramework({ ports }: Service, { user }: Person): Promise<string> {
    const { organization } = await aSite(ports, { user, token: '' }, `Of ${user.email}`)
    const control = (_: unknown, index: number) => ({ id: `A.${index}`, title: 'x', description: 'x'.repeat(4000) })
    const input = { title: 'Large', security_frameworks: Array.from({ length: 1000 }, control) }
    const { id } = await createSecurityFramework(ports, { user: user.id }, organization, input)
    return `/api/v1/organizations/${organization}/security-frameworks/${id}`
  }

  test('is not taken by answers that nobody takes: those of who has most there are given up, the oldest first', async () => {
    const { service, one, other } = await aService(18 * MIB)
    const [path, others] = [await aLargeFramework(service, one), await aLargeFramework(service, other)]
    const lines: Line[] = []
    for (const [target, person] of [[others, other] as const, ...Array(5).fill([path, one] as const)]) {
      const line = await openLine(service)
      line.socket.pause()
      line.write(head(`GET ${target}`, person))
      lines.push(line)
      // It is held from before its first byte is sent.
      await until(() => line.socket.bytesRead > 0)
    }
    await until(() => service.log.length === 2)
    expect(service.log.map(({ fields }) => [fields.caller, fields.status])).toEqual(Array(2).fill([one.user.id, 499]))
    const [first, ...rest] = lines as [Line, ...Line[]]
    for (const line of lines) line.socket.resume()
    expect((await first.answer())?.status).toBe(200)
    const answers = await Promise.all(rest.map((line) => line.answer()))
    expect(answers.map((answer) => answer?.status)).toEqual([undefined, undefined, 200, 200, 200])
    expect((await call(service, 'GET', path, { token: one.token })).status).toBe(200)
  })

  /** Sends a body of 300 KiB but for its last two bytes, and waits until it has come; what it is told then is in the end. */
  async function begins(service: Service, person: Person): Promise<Line> {
    const connected = once(service.server, 'connection') as Promise<[Socket]>
    const line = await openLine(service)
    const [socket] = await connected
    const body = `{"name":"${'x'.repeat(300 * KIB)}`
    const length = `Content-Length: ${body.length + 2}`
    line.write(head('POST /api/v1/organizations', person, 'Content-Type: application/json', length) + body)
    await until(() => socket.bytesRead > body.length || service.log.length > 0)
    return line
  }

  test('is not taken by bodies of one person that do not come to their end: a further one is told to come again', async () => {
    const { service, one, other } = await aService(MIB)
    const before = [await begins(service, other), await begins(service, one), await begins(service, one)]
    const refused = await (await begins(service, one)).answer()
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
    expect(areClosed(before)).toEqual([false, false, false])
    for (const line of before) line.write('"}')
    const answers = await Promise.all(before.map((line) => line.answer()))
    expect(answers.map((answer) => answer?.status)).toEqual([400, 400, 400])
  })

  test.each([
    ['compressed', 'organizations', ['Content-Type: application/json', 'Content-Encoding: gzip'], gzipSync],
    ['of a form', 'vpn', ['Content-Type: multipart/form-data; boundary=x'], (bytes: Buffer) => bytes],
  ])('nor by one that is %s', async (_, path, headers, encoded) => {
    const { service, one } = await aService(MIB)
    const before = [await begins(service, one), await begins(service, one), await begins(service, one)]
    const form = '--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n'
    const body = encoded(Buffer.from(path === 'vpn' ? form + 'x'.repeat(300 * KIB) : ' '.repeat(300 * KIB)))
    const line = await openLine(service)
    line.write(head(`POST /api/v1/${path}`, one, ...headers, `Content-Length: ${body.length + 2}`))
    line.write(body)
    expect((await line.answer())?.status).toBe(429)
    expect(areClosed(before)).toEqual([false, false, false])
  })

  test('is not taken by them from others: the oldest of who has most is given up for somebody else', async () => {
    const { service, one, other } = await aService(MIB)
    const lines = [await begins(service, one), await begins(service, one), await begins(service, one)]
    lines.push(await begins(service, other))
    await until(() => areClosed(lines)[0] === true)
    for (const line of lines) line.write('"}')
    const answers = await Promise.all(lines.map((line) => line.answer()))
    expect(answers.map((answer) => answer?.status)).toEqual([undefined, 400, 400, 400])
  })

  test('is free again once a request is over', async () => {
    const { service, one } = await aService(MIB)
    const line = await openLine(service)
    const body = `{"name":"${'x'.repeat(300 * KIB)}"}`
    for (let count = 0; count < 5; count += 1) {
      const length = `Content-Length: ${body.length}`
      line.write(head('POST /api/v1/organizations', one, 'Content-Type: application/json', length) + body)
      expect((await line.answer())?.status).toBe(400)
    }
  })

  test('is not taken by what the body of a client inflates to that is gone', async () => {
    const gone = Object.assign(Readable.from([gzipSync(Buffer.alloc(MIB, ' '))]), {
      httpVersion: '1.1',
      headers: {},
      socket: { destroyed: true },
    })
    const headers = new Map([
      ['Content-Type', 'application/json'],
      ['Content-Encoding', 'gzip'],
    ])
    let held = 0
    const note = (_res: unknown, _caller: unknown, bytes: number) => {
      held += bytes
    }
    const hold: Hold = { body: note, answer: note }
    const ctx = { req: gone, res: {}, get: (name: string) => headers.get(name) ?? '', state: { hold } }
    const route = routes.find(({ id }) => id === 'createOrganization') as Route
    const read = readInput(ctx as unknown as Context, route, { limits: DEFAULT_LIMITS, requestTimeout: 1000 })
    await expect(read).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(held).toBe(0)
  })
})
