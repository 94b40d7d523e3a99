import { describe, expect, test } from 'vitest'
import { openLine, talk } from './testing/raw.ts'
import { call, startService, until } from './testing/service.ts'
import { aPerson, aSite, CONTROL } from './testing/world.ts'

async function aService(options = {}) {
  const service = await startService(options)
  const owner = await aPerson(service.ports, 'owner@example.com')
  return { service, token: owner.token, owner }
}

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

  test('a body that does not come in time: 408, and nothing is stored', async () => {
    const { service, token } = await aService({ headersTimeout: 100, requestTimeout: 200 })
    const request = head('POST /api/v1/organizations', token, 'Content-Type: application/json', 'Content-Length: 50')
    expect((await talk(service, `${request}{"name": `)).status).toBe(408)
    expect(service.ports.published.map(({ type }) => type)).not.toContain('organization.created')
  })

  test('a body whose chunks are broken', async () => {
    const { service, token } = await aService()
    const type = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    const answer = await talk(service, `${head('POST /api/v1/organizations', token, ...type)}zz\r\n{}\r\n`)
    expect(answer.status).toBe(400)
    await until(() => service.log.length > 0)
    expect(service.log).toMatchObject([{ level: 'info', fields: { status: 499 } }])
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
