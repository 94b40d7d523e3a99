import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { attachEvidence, createSecurityFramework } from '@security-management/domain'
import Koa from 'koa'
import { describe, expect, test } from 'vitest'
import { routes } from './routes/index.ts'
import { createHttpServer } from './server.ts'
import { openLine, talk } from './testing/raw.ts'
import { pathOf } from './testing/requests.ts'
import { call, startService, until } from './testing/service.ts'
import { aPerson, aSite, CONTROL } from './testing/world.ts'

async function aService(options = {}) {
  const service = await startService(options)
  const owner = await aPerson(service.ports, 'owner@example.com')
  return { service, token: owner.token, owner }
}

const connectionsOf = ({ server }: { server: Server }) =>
  new Promise<number>((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })

/** Headers of a request with a token; the caller adds what follows. */
function head(line: string, token: string, ...others: string[]): string {
  return [`${line} HTTP/1.1`, 'Host: localhost', `X-Service-Token: ${token}`, ...others, '', ''].join('\r\n')
}

describe('what Node refuses by itself is an envelope as well', () => {
  test('a request that is none', async () => {
    const { service } = await aService()
    const answer = await talk(service, 'nonsense\r\n\r\n')
    expect(answer).toMatchObject({ status: 400, headers: { connection: 'close' } })
  })

  test('bytes of TLS', async () => {
    const { service } = await aService()
    expect((await talk(service, Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]))).status).toBe(400)
  })

  test('another version of HTTP', async () => {
    const { service } = await aService()
    expect((await talk(service, 'GET /api/v1/me HTTP/3.0\r\nHost: a\r\n\r\n')).status).toBe(400)
    expect((await talk(service, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).status).toBe(400)
  })

  test('a length that contradicts the chunks', async () => {
    const { service, token } = await aService()
    const request = head('POST /api/v1/atb', token, 'Content-Length: 3', 'Transfer-Encoding: chunked')
    expect((await talk(service, `${request}0\r\n\r\n`)).status).toBe(400)
  })

  test('headers that are too large: 431', async () => {
    const { service, token } = await aService()
    const answer = await talk(service, head('GET /api/v1/me', token, `X-Long: ${'a'.repeat(20_000)}`))
    expect(answer.status).toBe(431)
  })

  test('a client that sends on and reads late still gets its one answer', async () => {
    const { service } = await aService()
    const line = await openLine(service)
    line.socket.pause()
    for (let count = 0; count < 40; count += 1) {
      line.write(`GET /api/v1/me HTTP/1.1\r\nX-Long: ${'a'.repeat(20_000)}`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    line.socket.resume()
    expect((await line.answer())?.status).toBe(431)
    expect(await line.answer()).toBeUndefined()
  })

  test('headers that do not come in time: 408', async () => {
    const { service } = await aService({ headersTimeout: 100 })
    const answer = await talk(service, 'GET /api/v1/me HTTP/1.1\r\nHost: a\r\n')
    expect(answer.status).toBe(408)
  })

  test('headers that come to their end after that begin nothing', async () => {
    const app = new Koa()
    const begun: string[] = []
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    app.use(async (ctx) => {
      begun.push(ctx.path)
      if (ctx.path === '/first') await released
      ctx.body = ctx.path
    })
    const server = createHttpServer(app, { headersTimeout: 1000 })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const line = await openLine(server.address() as AddressInfo)
    line.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /late HTTP/1.1\r\nHost: a\r\n')
    await once(server, 'clientError')
    line.write('\r\n')
    await once(server, 'request')
    release()
    expect([await line.answer(), await line.answer()].map((answer) => answer?.status)).toEqual([200, 408])
    expect(await line.ended()).toBe(true)
    expect(begun).toEqual(['/first'])
    server.close()
  })

  test('headers of many that do not come in time: each is told by itself, and others are served in between', async () => {
    const { service } = await aService({ headersTimeout: 1000 })
    const lines = await Promise.all(Array.from({ length: 200 }, () => openLine(service)))
    for (const line of lines) line.write('GET /api/v1/me HTTP/1.1\r\n')
    let [told, most] = [service.refused.length, 0]
    while (told < lines.length) {
      await nextTurn()
      most = Math.max(most, service.refused.length - told)
      told = service.refused.length
    }
    expect(most).toBeLessThan(5)
    expect((await Promise.all(lines.map((line) => line.answer()))).map((answer) => answer?.status)).toEqual(
      lines.map(() => 408),
    )
  })

  test('a body that does not come in time is not waited for any longer, however its sender goes on', async () => {
    const { service, token } = await aService({ requestTimeout: 50 })
    const line = await openLine(service)
    line.write(head('POST /api/v1/organizations', token, 'Content-Type: application/json', 'Content-Length: 1000'))
    const trickle = setInterval(() => line.write(' '), 20)
    expect((await line.answer())?.status).toBe(408)
    expect(await line.ended(6000)).toBe(true)
    clearInterval(trickle)
  })

  test('a body that does not come in time: 408, and nothing is stored', async () => {
    const { service, token } = await aService({ headersTimeout: 100, requestTimeout: 200 })
    const request = head('POST /api/v1/organizations', token, 'Content-Type: application/json', 'Content-Length: 50')
    expect((await talk(service, `${request}{"name": `)).status).toBe(408)
    const zipped = head(
      'POST /api/v1/organizations',
      token,
      'Content-Type: application/json',
      'Content-Encoding: gzip',
      'Content-Length: 50',
    )
    expect(
      (await talk(service, Buffer.concat([Buffer.from(zipped), gzipSync('{"name": ').subarray(0, 12)]))).status,
    ).toBe(408)
    const form = head('POST /api/v1/vpn', token, 'Content-Type: multipart/form-data; boundary=x', 'Content-Length: 50')
    expect((await talk(service, `${form}--x\r\n`)).status).toBe(408)
    expect(service.ports.published.map(({ type }) => type)).not.toContain('organization.created')
  })

  test('a file may take longer, as long as it keeps the pace', async () => {
    const pace = { bytes: 1000, milliseconds: 150 }
    const { service, token, owner } = await aService({ requestTimeout: 50, pace })
    const site = await aSite(service.ports, owner, 'Alpha')
    const send = async (count: number, size: number) => {
      const line = await openLine(service)
      const file = ['Content-Disposition: attachment; filename=a.json', 'Content-Type: application/json']
      line.write(head(`POST /api/v1/atb/${site.blocker}/traffic`, token, ...file, `Content-Length: ${count * size}`))
      for (let times = 0; times < count && !line.howEnded(); times += 1) {
        line.write(' '.repeat(size - 2) + (times === 0 ? ' [' : times === count - 1 ? ']\n' : '  '))
        await new Promise((resolve) => setTimeout(resolve, 40))
      }
      const answer = await line.answer()
      line.socket.destroy()
      return answer?.status
    }
    expect(await send(10, 1000)).toBe(200)
    expect(await send(50, 10)).toBe(408)
    expect(await service.ports.files.sweep('9999')).toBe(0)
  })

  test('no request may take longer than a file', async () => {
    // Also where that is less than headers may take.
    const { service, token, owner } = await aService({ uploadTimeout: 200 })
    const site = await aSite(service.ports, owner, 'Alpha')
    const file = ['Content-Disposition: attachment; filename=a.json', 'Content-Type: application/json']
    const request = head(`POST /api/v1/atb/${site.blocker}/traffic`, token, ...file, 'Content-Length: 50')
    expect((await talk(service, `${request}[`)).status).toBe(408)
  })

  test('a body whose chunks are broken', async () => {
    const { service, token } = await aService()
    const type = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    const answer = await talk(service, `${head('POST /api/v1/organizations', token, ...type)}zz\r\n{}\r\n`)
    expect(answer.status).toBe(400)
    await until(() => service.log.length > 0)
    expect(service.log).toMatchObject([{ level: 'info', message: 'request', fields: { status: 400 } }])
    expect(service.refused).toEqual([])
  })

  test('what is not even a request is told of', async () => {
    const { service } = await aService()
    const { headers } = await talk(service, 'nonsense\r\n\r\n')
    const nobody = { method: null, route: null, caller: null, token: null, duration_ms: 0 }
    expect(service.refused).toEqual([{ request_id: headers['x-request-id'], status: 400, ...nobody }])
    expect(service.log).toEqual([])
  })

  test('a method that nobody knows: 405 where the path exists, else 404', async () => {
    const { service } = await aService()
    const known = await talk(service, 'FROBNICATE /api/v1/atb?limit=1 HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(known).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } })
    const lower = await talk(service, 'get http://localhost/api/v1/atb HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(lower).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } })
    expect((await talk(service, 'FROBNICATE /api/v1/none HTTP/1.1\r\nHost: a\r\n\r\n')).status).toBe(404)
    expect((await talk(service, 'FROBNICATE /api/v1/atb\r\n\r\n')).status).toBe(400)
  })

  test('a malformed request behind a good one is answered second', async () => {
    const { service, token } = await aService()
    const line = await openLine(service)
    line.write(`${head('GET /api/v1/me', token)}FROBNICATE /api/v1/atb HTTP/1.1\r\nHost: a\r\n\r\n`)
    expect((await line.answer())?.status).toBe(200)
    expect((await line.answer())?.status).toBe(405)
    expect(await line.ended()).toBe(true)
  })

  test('an expectation that the service does not know: 417', async () => {
    const { service, token } = await aService()
    expect((await talk(service, head('GET /api/v1/me', token, 'Expect: a-miracle'))).status).toBe(417)
    expect((await talk(service, head('GET /api/v1/me', token, 'Expect: x; 100-continue'))).status).toBe(417)
  })

  test('a request of HTTP/1.1 without a host', async () => {
    const { service, token } = await aService()
    const answer = await talk(service, `GET /api/v1/me HTTP/1.1\r\nX-Service-Token: ${token}\r\n\r\n`)
    expect(answer).toMatchObject({ status: 400, json: { details: [{ path: 'Host' }] } })
  })

  test('a host that is given twice', async () => {
    const { service, token } = await aService()
    for (const host of ['Host: localhost', 'host: evil.example']) {
      const answer = await talk(service, head('GET /api/v1/me', token, host))
      expect(answer).toMatchObject({ status: 400, json: { details: [{ path: 'Host' }] } })
    }
  })

  test('very many headers: 431', async () => {
    const { service, token } = await aService()
    const headers = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: 1`)
    const line = await openLine(service)
    line.write(head('GET /api/v1/me', token, ...headers(198)))
    expect((await line.answer())?.status).toBe(200)
    line.socket.destroy()
    expect((await talk(service, head('GET /api/v1/me', token, ...headers(199)))).status).toBe(431)
    expect((await talk(service, head('GET /api/v1/me', token, ...headers(1400)))).status).toBe(431)
  })

  test('one of HTTP/1.0 needs none', async () => {
    const { service, token } = await aService()
    const line = await openLine(service)
    line.write(`GET /api/v1/me HTTP/1.0\r\nX-Service-Token: ${token}\r\n\r\n`)
    expect((await line.answer())?.status).toBe(200)
    expect(await line.ended()).toBe(true)
  })

  test('CONNECT, with a host or with a path', async () => {
    const { service } = await aService()
    const tunnel = await talk(service, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n')
    expect(tunnel.status).toBe(404)
    const path = await talk(service, 'CONNECT /api/v1/me HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(path).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD', connection: 'close' } })
  })

  test('CONNECT behind requests that are still answered comes after their answers', async () => {
    const { service, token } = await aService()
    const line = await openLine(service)
    const get = head('GET /api/v1/me', token)
    line.write(`${get}${get}CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n${get}`)
    const statuses = [await line.answer(), await line.answer(), await line.answer()].map((answer) => answer?.status)
    expect(statuses).toEqual([200, 200, 404])
    expect(await line.ended()).toBe(true)
    expect(line.left()).toBe(0)
  })

  test('CONNECT behind the last request of a connection is not begun', async () => {
    const { service, token } = await aService({ maxRequestsPerConnection: 1 })
    const line = await openLine(service)
    line.write(`${head('GET /api/v1/me', token)}CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n`)
    expect(await line.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    expect(await line.answer()).toBeUndefined()
  })

  test('an upgrade is not taken up', async () => {
    const { service, token } = await aService()
    const line = await openLine(service)
    line.write(head('GET /api/v1/me', token, 'Connection: Upgrade', 'Upgrade: websocket'))
    expect((await line.answer())?.status).toBe(200)
    line.socket.destroy()
  })
})

describe('a client that waits before it sends its body', () => {
  const EXPECT = ['Expect: 100-continue', 'Content-Type: application/json', 'Content-Length: 16']

  test('is refused from its headers', async () => {
    const { service } = await aService()
    const line = await openLine(service)
    line.write(head('POST /api/v1/organizations', 'nobody', ...EXPECT))
    expect((await line.answer())?.status).toBe(401)
    expect(await line.ended()).toBe(true)
  })

  test('and did not wait gets the refusal, although more comes than anybody reads', async () => {
    const { service, token } = await aService()
    for (let times = 0; times < 20; times += 1) {
      const line = await openLine(service)
      line.write(head('GET /api/v1/me', token, 'Expect: 100-continue', 'Content-Length: 3000000'))
      for (let part = 0; part < 30; part += 1) {
        line.write(Buffer.alloc(100_000))
        await nextTurn()
      }
      expect(await line.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } })
      expect(await line.ended()).toBe(true)
    }
  })

  // Where the path names what the right is on, a stranger is refused as early as somebody without a token.
  test.each(routes.filter(({ body, upload }) => body || upload).map((route) => [route.id, route] as const))(
    'is refused from its headers by %s, so that its body is never read',
    async (_, route) => {
      const { service, owner } = await aService()
      const site = await aSite(service.ports, owner, 'Alpha')
      const stranger = await aPerson(service.ports, 'stranger@example.com')
      const parts = /\/atb\//.test(route.path)
        ? [site.blocker]
        : [site.organization, /users/.test(route.path) ? owner.user.id : site.framework, CONTROL]
      const file = ['Content-Disposition: attachment; filename=a.json', 'Idempotency-Key: k']
      const isOnOrganization = /\/(?:atb|organizations)\/\{/.test(route.path)
      for (const token of ['nobody', ...(isOnOrganization ? [stranger.token] : [])]) {
        const line = await openLine(service)
        line.write(head(`${route.method.toUpperCase()} ${pathOf(route, ...parts)}`, token, ...EXPECT, ...file))
        expect((await line.answer())?.status).toBe(401)
        line.socket.destroy()
      }
    },
  )

  test('is told to go on only once its body is read', async () => {
    const { service, token } = await aService()
    const line = await openLine(service)
    line.write(head('POST /api/v1/organizations', token, ...EXPECT))
    expect((await line.answer())?.status).toBe(100)
    line.write('{"name":"Gamma"}')
    expect((await line.answer())?.status).toBe(201)
    line.socket.destroy()
  })

  test('and speaks HTTP/1.0 is not told anything', async () => {
    const { service, token } = await aService()
    const line = await openLine(service)
    line.write(head('POST /api/v1/organizations', token, ...EXPECT).replace('HTTP/1.1', 'HTTP/1.0'))
    line.write('{"name":"Gamma"}')
    expect((await line.answer())?.status).toBe(201)
    line.socket.destroy()
  })

  test('is refused a document that says itself that it is too large', async () => {
    const { service, token, owner } = await aService({ limits: { document: 100 } })
    const site = await aSite(service.ports, owner, 'Alpha')
    const documents = `/api/v1/organizations/${site.organization}/security-frameworks/${site.framework}/documents`
    const line = await openLine(service)
    const headers = ['Content-Disposition: attachment; filename=a.bin', 'Content-Length: 101', 'Expect: 100-continue']
    line.write(head(`POST ${documents}/${encodeURIComponent(CONTROL)}`, token, ...headers))
    expect((await line.answer())?.status).toBe(413)
    expect(await line.ended()).toBe(true)
  })
})

describe('a body that nobody reads', () => {
  test('does not keep the refusal back, nor the next request on the connection', async () => {
    const { service, token } = await aService()
    const line = await openLine(service)
    const length = 4 * 1024 * 1024
    line.write(head('POST /api/v1/organizations', 'nobody', `Content-Length: ${length}`))
    expect((await line.answer())?.status).toBe(401)
    line.write(Buffer.alloc(length))
    line.write(head('GET /api/v1/me', token))
    expect((await line.answer())?.status).toBe(200)
    line.socket.destroy()
  })

  test('nor when it was read in part', async () => {
    const { service, token } = await aService({ limits: { json: 1000 } })
    const line = await openLine(service)
    const type = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    line.write(head('POST /api/v1/organizations', token, ...type))
    const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`
    line.write(chunk)
    expect((await line.answer())?.status).toBe(413)
    for (let count = 0; count < 40; count += 1) line.write(chunk)
    line.write('0\r\n\r\n')
    line.write(head('GET /api/v1/me', token))
    expect((await line.answer())?.status).toBe(200)
    line.socket.destroy()
  })

  test('nor when it was inflated in part', async () => {
    const { service, token } = await aService()
    const line = await openLine(service)
    const member = gzipSync(Buffer.alloc(1024 * 1024, ' '))
    const bomb = Buffer.concat(Array.from({ length: 300 }, () => member))
    const type = ['Content-Type: application/json', 'Content-Encoding: gzip', `Content-Length: ${bomb.length}`]
    line.write(head('POST /api/v1/organizations', token, ...type))
    line.write(bomb)
    expect((await line.answer())?.status).toBe(413)
    line.write(head('GET /api/v1/me', token))
    expect((await line.answer())?.status).toBe(200)
    line.socket.destroy()
  })

  test('nor make a client lose the refusal that reads it only after it has sent everything', async () => {
    const { service } = await aService()
    const line = await openLine(service)
    line.socket.pause()
    const length = 16 * 1024 * 1024
    line.write(head('POST /api/v1/organizations', 'nobody', `Content-Length: ${length}`, 'Connection: close'))
    await new Promise((resolve) => setTimeout(resolve, 50))
    await new Promise((resolve) => line.socket.write(Buffer.alloc(length), resolve))
    line.socket.resume()
    expect((await line.answer())?.status).toBe(401)
    expect(await line.ended()).toBe(true)
  })

  test('a broken end of it, after its answer, ends the connection without a second answer', async () => {
    const { service } = await aService()
    const line = await openLine(service)
    line.write(head('POST /api/v1/organizations', 'nobody', 'Transfer-Encoding: chunked'))
    expect((await line.answer())?.status).toBe(401)
    line.write('zz\r\n')
    expect(await line.answer()).toBeUndefined()
    expect(await line.ended()).toBe(true)
  })
})

test('what comes on one connection is answered in order', async () => {
  const { service, token } = await aService()
  const line = await openLine(service)
  line.write(head('GET /api/v1/me', token) + head('GET /api/v1/none', token) + head('GET /api/v1/me', token))
  expect([(await line.answer())?.status, (await line.answer())?.status, (await line.answer())?.status]).toEqual([
    200, 404, 200,
  ])
  line.socket.destroy()
})

test('requests on one connection are worked on one after the other', async () => {
  const app = new Koa()
  let [working, most] = [0, 0]
  app.use(async (ctx) => {
    working += 1
    most = Math.max(most, working)
    await nextTurn()
    working -= 1
    ctx.body = ctx.path
  })
  const server = createHttpServer(app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const line = await openLine(server.address() as AddressInfo)
  const paths = Array.from({ length: 20 }, (_, index) => `/${index}`)
  line.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''))
  for (const path of paths) expect((await line.answer())?.bytes.toString()).toBe(path)
  expect(most).toBe(1)
  line.socket.destroy()
  server.close()
})

test.each([
  ['that is read', 'POST /api/v1/organizations'],
  ['that nobody reads', 'GET /api/v1/me'],
])(
  'a broken body behind other requests is answered after them, and its request is not begun: one %s',
  async (_, line) => {
    const { service, token } = await aService()
    const open = await openLine(service)
    const broken = head(line, token, 'Content-Type: application/json', 'Transfer-Encoding: chunked')
    open.write(`${head('GET /api/v1/me', token)}${head('GET /api/v1/none', token)}${broken}zz\r\n`)
    const answers = [await open.answer(), await open.answer(), await open.answer()]
    expect(answers.map((answer) => answer?.status)).toEqual([200, 404, 400])
    expect(await open.answer()).toBeUndefined()
    expect(await open.ended()).toBe(true)
    expect(service.log.map(({ fields }) => fields.status)).toEqual([200, 404])
    expect(service.refused.map(({ status }) => status)).toEqual([400])
  },
)

test('the service goes on after every one of these', async () => {
  const { service, token } = await aService()
  for (const text of ['\r\n\r\n\r\n', 'GET', '\0\0\0\0', 'GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n']) {
    const line = await openLine(service)
    line.write(text)
    line.socket.end()
    await line.ended()
  }
  expect((await call(service, 'GET', '/api/v1/me', { token })).status).toBe(200)
})

describe('a connection', () => {
  test('is closed after as many requests as it may have, and what comes behind them is not begun', async () => {
    const { service, token } = await aService({ maxRequestsPerConnection: 3 })
    const line = await openLine(service)
    const json = '{"name":"Gamma"}'
    const post =
      head('POST /api/v1/organizations', token, 'Content-Type: application/json', 'Content-Length: 16') + json
    line.write(post.repeat(5))
    for (const connection of ['keep-alive', 'keep-alive', 'close']) {
      expect(await line.answer()).toMatchObject({ status: 201, headers: { connection } })
    }
    expect(await line.answer()).toBeUndefined()
    expect(await line.ended()).toBe(true)
    expect(service.ports.published.filter(({ type }) => type === 'organization.created')).toHaveLength(3)
  })

  test('says in its last answer that it is the last, also where the body was not read by then', async () => {
    const { service } = await aService({ maxRequestsPerConnection: 2 })
    const line = await openLine(service)
    const refused = head('POST /api/v1/organizations', 'nobody', 'Content-Type: application/json', 'Content-Length: 16')
    for (const connection of ['keep-alive', 'close']) {
      line.write(refused)
      expect(await line.answer()).toMatchObject({ status: 401, headers: { connection } })
      line.write('{"name":"Gamma"}')
    }
    expect(await line.ended()).toBe(true)
  })

  describe('whose last request was refused before its body had come', () => {
    const get = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n'

    async function aRefused() {
      const { service, token } = await aService({ maxRequestsPerConnection: 1 })
      const line = await openLine(service)
      line.write(head('POST /api/v1/organizations', 'nobody', 'Content-Length: 5'))
      expect(await line.answer()).toMatchObject({ status: 401, headers: { connection: 'close' } })
      return { service, token, line }
    }

    test.each([
      ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['a request and CONNECT', `${get}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`],
      ['broken bytes', `${get}nonsense\r\n\r\n`],
      ['requests without end', get.repeat(20_000)],
    ])('ends, whatever comes behind it: %s', async (_, behind) => {
      const { service, token, line } = await aRefused()
      let read = 0
      service.server.on('request', () => {
        read += 1
      })
      line.write(`12345${behind}`)
      expect(await line.answer()).toBeUndefined()
      expect(read).toBeLessThanOrEqual(3000)
      await until(async () => (await connectionsOf(service)) === 0)
      expect((await call(service, 'GET', '/api/v1/me', { token })).status).toBe(200)
    })
  })

  test('that was left to CONNECT ends with all others', async () => {
    const { service } = await aService()
    const line = await openLine(service)
    line.socket.pause()
    // More answers than the system holds for a client that reads nothing.
    line.write('GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(60))
    line.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(async () => service.log.filter(({ message }) => message === 'request').length > 0)
    service.server.closeAllConnections()
    await until(async () => (await connectionsOf(service)) === 0)
  })

  test('past as many as there may be is closed at once, and the others are served', async () => {
    const { service, token } = await aService({ maxConnections: 2 })
    const [first, second] = [await openLine(service), await openLine(service)]
    for (const line of [first, second]) {
      line.write(head('GET /api/v1/me', token))
      expect((await line.answer())?.status).toBe(200)
    }
    const third = await openLine(service)
    expect(await third.ended()).toBe(true)
    first.socket.destroy()
    await until(async () => {
      const line = await openLine(service)
      line.write(head('GET /api/v1/me', token))
      const answer = await line.answer()
      line.socket.destroy()
      return answer?.status === 200
    })
    second.socket.destroy()
  })

  test('without a request is closed after a while', async () => {
    const { service, token } = await aService({ keepAliveTimeout: 50 })
    const line = await openLine(service)
    line.write(head('GET /api/v1/me', token))
    expect((await line.answer())?.status).toBe(200)
    expect(await line.ended()).toBe(true)
  })
})

describe('a client that does not take its answer', () => {
  const pace = { bytes: 1_000_000, milliseconds: 200 }
  const EIGHT_MIB = 8 * 1024 * 1024

  async function aLongAnswer(options = {}) {
    const { service, token, owner } = await aService({ limits: { document: 64 * 1024 * 1024 }, ...options })
    const site = await aSite(service.ports, owner, 'Alpha')
    const caller = { user: owner.user.id }
    const controls = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ id: `${index}`, title: 't', description: 'x'.repeat(10_000) }))
    const input = { title: 'Long', security_frameworks: controls(800) }
    for (let times = 0; times < 4; times += 1) {
      await createSecurityFramework(service.ports, caller, site.organization, input)
    }
    async function* content() {
      for (let times = 0; times < 4; times += 1) yield new Uint8Array(EIGHT_MIB)
    }
    const path = { organization: site.organization, framework: site.framework, control: CONTROL }
    const file = { file_name: 'a.bin', content_type: 'x/y', content: content() }
    const { file_path } = await attachEvidence(service.ports, caller, path, file)
    return { service, token, paths: [file_path, `/api/v1/organizations/${site.organization}/security-frameworks`] }
  }

  test.each([0, 1])('of many megabytes is cut off, and the connection with it (%i)', async (which) => {
    const { service, token, paths } = await aLongAnswer({ pace })
    const line = await openLine(service)
    line.socket.pause()
    line.write(head(`GET ${paths[which]}`, token))
    await until(() => service.log.some(({ fields }) => fields.status === 499))
    expect(service.log.filter(({ level }) => level !== 'info')).toEqual([])
    line.socket.destroy()
  })

  test.each([0, 1])('but slowly gets all of it (%i)', async (which) => {
    const { service, token, paths } = await aLongAnswer({ pace: { bytes: 1_000_000, milliseconds: 5000 } })
    const line = await openLine(service)
    line.write(head(`GET ${paths[which]}`, token, 'Connection: close'))
    let size = 0
    line.socket.removeAllListeners('data')
    line.socket.on('data', (bytes) => {
      size += bytes.length
      line.socket.pause()
      setTimeout(() => line.socket.resume(), 1)
    })
    expect(await line.ended(20_000)).toBe(true)
    expect(size).toBeGreaterThan(30_000_000)
    expect(service.log.filter(({ fields }) => fields.status !== 200)).toEqual([])
  })
})

describe('a server that comes to its end', () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

  /** A server whose one handler answers when it is let to, and notes what it was asked. */
  async function held() {
    const begun: string[] = []
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const app = new Koa()
    app.use(async (ctx) => {
      begun.push(ctx.path)
      await released
      ctx.body = 'done'
    })
    const server = createHttpServer(app)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    return { server, port, url: `http://127.0.0.1:${port}`, begun, release }
  }

  test('is idle once the work for a client that is gone is done, and not before', async () => {
    const { server, url, release } = await held()
    const client = new AbortController()
    const asked = fetch(url, { signal: client.signal }).catch(() => 'gone')
    await once(server, 'request')
    let isIdle = false
    const idle = server.idle().then(() => {
      isIdle = true
    })
    client.abort()
    expect(await asked).toBe('gone')
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    expect(isIdle).toBe(false)
    release()
    await idle
  })

  test('says so in every answer that has not begun', async () => {
    const { server, url, release } = await held()
    const before = fetch(url)
    await once(server, 'request')
    server.drain()
    const after = fetch(url)
    await once(server, 'request')
    release()
    for (const { headers } of await Promise.all([before, after])) expect(headers.get('connection')).toBe('close')
    server.close()
  })

  test('answers all that had come on a connection, the last of it as the last, and begins nothing behind it', async () => {
    const { server, port, begun, release } = await held()
    const line = await openLine({ port })
    let come = 0
    server.on('request', () => {
      come += 1
    })
    line.write(get('/1') + get('/2'))
    await until(() => come === 2)
    server.drain()
    const asked = once(server, 'request')
    line.write(get('/3'))
    await asked
    release()
    const [first, second] = [await line.answer(), await line.answer()]
    expect(first).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } })
    expect(second).toMatchObject({ status: 200, headers: { connection: 'close' } })
    expect([first, second].map((answer) => answer?.bytes.toString())).toEqual(['done', 'done'])
    expect(await line.answer()).toBeUndefined()
    expect(line.left()).toBe(0)
    expect(begun).toEqual(['/1', '/2'])
    server.close()
  })

  test('lets go of what waits on a connection that is gone', async () => {
    const { server, port, begun, release } = await held()
    const line = await openLine({ port })
    line.write(get('/1') + get('/2') + get('/3'))
    await until(() => begun.length === 1)
    line.socket.destroy()
    await until(async () => (await connectionsOf({ server })) === 0)
    release()
    await server.idle()
    expect(begun).toEqual(['/1'])
    server.close()
  })

  test('takes what comes after an answer that had begun as the last of its connection', async () => {
    const { server, port, begun, release } = await held()
    release()
    const line = await openLine({ port })
    line.write(get('/1'))
    expect(await line.answer()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } })
    server.drain()
    line.write(get('/2') + get('/3'))
    expect(await line.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    expect(await line.answer()).toBeUndefined()
    expect(begun).toEqual(['/1', '/2'])
    server.close()
  })
})
