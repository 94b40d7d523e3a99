import { connect } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { execute } from '../../../packages/adapters-sql/src/testing/execute.ts'
import { clientOf } from './support/client.ts'
import { everyDatabase } from './support/databases.ts'
import { temporaryDirectory } from './support/program.ts'
import { firstToken, logged, startServer } from './support/server.ts'

const { databases, stop } = everyDatabase()
afterAll(stop)

/** Every character percent-encoded. */
function encoded(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('')
}

describe.each(databases)('the log of the service on $name', ({ open }) => {
  test('never holds a token or a code, whatever form and place it comes in', { timeout: 60_000 }, async () => {
    const directory = await temporaryDirectory()
    const DATABASE_URL = await open()
    const server = await startServer(directory.path, { DATABASE_URL, LOG_LEVEL: 'trace' })
    const token = await firstToken(server)
    const greeting = server.said.stdout
    const code = `smi_${token.slice(4)}`
    const { hostname, port } = new URL(server.address)

    const forms = [token, code].flatMap((secret) => [
      secret,
      encoded(secret),
      encoded(encoded(secret)),
      secret.replace('_', '%5F'),
      secret.replace('_', '%255f'),
      `${encoded(secret.slice(0, 10))}${secret.slice(10)}`,
      secret.toUpperCase(),
    ])
    const send = (lines: string[], body = '') =>
      new Promise<string>((resolve) => {
        let answer = ''
        const socket = connect(Number(port), hostname, () => {
          socket.write(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`)
        })
        socket.on('data', (bytes) => {
          answer += bytes
        })
        socket.on('error', () => {})
        socket.on('close', () => resolve(answer.slice(9, 12)))
      })
    const host = 'Host: a'
    const statuses = new Map<string, number>()
    const count = async (status: Promise<string>) => statuses.set(await status, (statuses.get(await status) ?? 0) + 1)
    for (const form of forms) {
      const json = ['Content-Type: application/json', `Content-Length: ${form.length + 2}`]
      await count(send(['GET /api/v1/me HTTP/1.1', host, `X-Service-Token: ${form}`]))
      await count(send(['GET /api/v1/me HTTP/1.1', host, `Authorization: Bearer ${form}`, `Cookie: a=${form}`]))
      await count(send([`GET /api/v1/me?X-Service-Token=${form} HTTP/1.1`, host]))
      await count(send([`GET /api/v1/me?token=${form}&X-Service-Token=${form}&X-Service-Token=${form} HTTP/1.1`, host]))
      await count(
        send(['GET /api/v1/me HTTP/1.1', host, `Referer: http://a/?X-Service-Token=${form}`, `User-Agent: ${form}`]),
      )
      await count(send([`GET /api/v1/${form} HTTP/1.1`, host]))
      await count(send([`GET /api/v1/atb/${form} HTTP/1.1`, host, `X-Service-Token: ${token}`]))
      await count(
        send([`GET /api/v1/organizations?name=${form}&order=${form} HTTP/1.1`, host, `X-Service-Token: ${token}`]),
      )
      await count(send(['GET /api/v1/me HTTP/1.1', host, `X-Request-Id: ${form}`, `X-Service-Token: ${token}`]))
      await count(
        send(['POST /api/v1/organizations HTTP/1.1', host, `X-Service-Token: ${token}`, ...json], `{"${form}`),
      )
      await count(send(['GET /api/v1/me HTTP/1.1', host, `X-Service-Token : ${form}`]))
      await count(send([`GET /api/v1/me HTTP/1.1`, host, `X-Filler: ${'x'.repeat(20_000)}${form}`]))
      await count(send([`${form} /api/v1/me HTTP/1.1`, host]))
      await count(send([`CONNECT ${form}:443 HTTP/1.1`, host]))
    }
    // What goes wrong inside is logged with its error.
    await execute(DATABASE_URL.replace('sqlite:', `sqlite:${directory.path}/`), 'alter table token rename to gone')
    for (const form of forms) await count(send([`GET /api/v1/me?X-Service-Token=${form} HTTP/1.1`, host]))
    await server.stop()

    // All that was sent was answered, in all of these ways.
    expect([...statuses.keys()].sort()).toEqual(['200', '400', '401', '404', '405', '431', '500'])
    const said = server.said.stderr + server.said.stdout.replace(greeting, '')
    expect(logged(server, 'request failed').length).toBeGreaterThan(0)
    expect(logged(server, 'request').length + logged(server, 'request failed').length).toBe(
      [...statuses.values()].reduce((total, each) => total + each),
    )
    for (const form of [...forms, ...forms.map((each) => each.slice(4, 30))]) {
      expect(said.toLowerCase()).not.toContain(form.toLowerCase())
    }
    await directory.remove()
  })

  test('has a line for each request: which, who, with what token, how it ended', { timeout: 60_000 }, async () => {
    const directory = await temporaryDirectory()
    const server = await startServer(directory.path, { DATABASE_URL: await open() })
    const token = await firstToken(server)
    const client = clientOf(server.address, token)
    const { body } = await client('GET', '/me')
    const { id: caller } = body.data as { id: string }
    const { headers } = await client('GET', '/organizations/7?limit=1', undefined, { 'X-Request-Id': 'mine-1' })
    await clientOf(server.address)('DELETE', '/vpn/1')
    await expect.poll(() => logged(server, 'request').length, { timeout: 10_000 }).toBe(3)
    await server.stop()
    const line = {
      level: 30,
      time: expect.any(String),
      pid: server.pid,
      msg: 'request',
      duration_ms: expect.any(Number),
    }
    const nobody = { caller: null, token: null }
    expect(headers.get('x-request-id')).toBe('mine-1')
    expect(logged(server, 'request')).toEqual([
      { ...line, request_id: expect.any(String), method: 'GET', route: 'readMe', caller, token: 1, status: 200 },
      { ...line, request_id: 'mine-1', method: 'GET', route: 'readOrganization', caller, token: 1, status: 404 },
      {
        ...line,
        request_id: expect.any(String),
        method: 'DELETE',
        route: 'removeVpnProfile',
        ...nobody,
        status: 401,
        refused: 'unauthenticated',
      },
    ])
    await directory.remove()
  })
})
