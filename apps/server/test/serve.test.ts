import { describe, expect, test } from 'vitest'
import { openLine } from '../../../packages/adapters-http/src/testing/raw.ts'
import { clientOf } from './support/client.ts'
import { homeOfTests } from './support/home.ts'
import { startMailServer } from './support/mail-server.ts'
import { run } from './support/program.ts'
import { ask, firstToken } from './support/server.ts'
import { slowEdit } from './support/slow-edit.ts'

/** For what a process does in a moment, and in more than one on a machine that is busy. */
const PATIENT = { timeout: 10_000 }

const home = homeOfTests()
const { serve, serveWatched } = home

describe('the first start', () => {
  test('prints a token, and a curl line that works as it stands', async () => {
    const server = await serve()
    const token = await firstToken(server)
    const [, header, url = ''] = /curl -H '([^']+)' (\S+)\n/.exec(server.said.stdout) ?? []
    expect(header).toBe(`X-Service-Token: ${token}`)
    expect(url).toBe(`${server.address}/api/v1/me`)
    const answer = await fetch(url, { headers: { 'X-Service-Token': token } })
    expect(await answer.json()).toMatchObject({ error: 0, data: { email: 'admin@localhost' } })
    expect(server.said.stderr).not.toContain(token)
  })

  test('names the address where people reach the service, if there is one', async () => {
    const server = await serve({ PUBLIC_URL: 'https://security.example.com/' })
    await firstToken(server)
    expect(server.said.stdout).toMatch(/curl -H '[^']+' https:\/\/security\.example\.com\/api\/v1\/me\n/)
    expect(server.said.stdout).not.toContain(server.address)
  })

  test('with --json prints one document', async () => {
    const server = await serve({}, ['--json'])
    const token = await firstToken(server)
    const user = { id: expect.any(String), email: 'admin@localhost' }
    expect(JSON.parse(server.said.stdout)).toEqual({ address: server.address, user, token })
  })

  test('of two processes at once on an empty database makes one first user', async () => {
    const both = await Promise.all([serve(), serve()])
    for (const server of both) expect((await clientOf(server.address)('GET', '/me')).status).toBe(401)
    const { stdout } = await run(['user', 'list', '--json'], { cwd: home.path() })
    expect(JSON.parse(stdout)).toMatchObject([{ email: 'admin@localhost' }])
    await Promise.all(both.map((server) => server.stop()))
    expect(both.filter(({ said }) => said.stdout.includes('sms_'))).toHaveLength(1)
  })

  test('registers nobody where somebody is', async () => {
    await run(['user', 'add', '--email', 'anna@example.com'], { cwd: home.path() })
    const server = await serve()
    await server.stop()
    expect(server.said.stdout).toBe('')
    const { stdout } = await run(['user', 'list', '--json'], { cwd: home.path() })
    expect(JSON.parse(stdout)).toMatchObject([{ email: 'anna@example.com' }])
  })
})

describe('a start that cannot be', () => {
  test('on a port in use ends with one line', async () => {
    const { address } = await serve()
    const PORT = new URL(address).port
    const { code, stderr } = await run(['serve'], { cwd: home.path(), env: { PORT, LOG_LEVEL: 'fatal' } })
    expect(stderr).toBe(`Port ${PORT} of 127.0.0.1 is in use; set PORT to another one\n`)
    expect(code).toBe(1)
  })

  test('on a database that does not answer ends with one line', async () => {
    const env = { PORT: '0', DATABASE_URL: 'postgres://me:geheim@127.0.0.1:1/service' }
    const { code, stderr } = await run(['serve'], { cwd: home.path(), env })
    expect(stderr).toMatch(/^[^\n]*ECONNREFUSED[^\n]*\n$/)
    expect(stderr).not.toContain('geheim')
    expect(code).toBe(1)
  })

  test('with a wrong variable ends with one line', async () => {
    const { code, stderr } = await run(['serve'], { cwd: home.path(), env: { LOG_LEVEL: 'loud' } })
    expect(stderr).toMatch(/^LOG_LEVEL takes [^\n]+\n$/)
    expect(code).toBe(1)
  })
})

describe('a stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('by %s ends with 0', async (signal) => {
    const server = await serve()
    const { code, stderr } = await server.stop(signal)
    expect(stderr).toContain(`"reason":"${signal}","msg":"stopping"`)
    expect(stderr).toContain('"msg":"stopped"')
    expect(code).toBe(0)
  })

  test('lets a request that is on its way come to its end, and takes no new one', async () => {
    const server = await serve()
    const token = await firstToken(server)
    const client = clientOf(server.address, token)
    const { body } = await client('POST', '/organizations', { name: 'Acme' })
    const slow = slowEdit(`${server.address}/api/v1/organizations/${body.organization}`, token)
    await slow.begun
    const ended = server.stop()
    await expect.poll(() => server.said.stderr, PATIENT).toContain('stopping')
    await expect.poll(() => client('GET', '/me').catch(() => 'refused'), PATIENT).toBe('refused')
    slow.finish()
    expect(await slow.status).toBe(200)
    expect((await ended).code).toBe(0)
  })

  test('with a delay says at once that it is not ready, and takes new requests until the delay is over', async () => {
    const server = await serveWatched({ STOP_DELAY: '6' })
    const token = await firstToken(server)
    const ended = server.stop()
    await expect.poll(async () => (await ask(server, '/ready')).status, PATIENT).toBe(503)
    const answer = await clientOf(server.address, token)('GET', '/me')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('connection')).toBe('close')
    expect((await ended).code).toBe(0)
  })

  test('does not wait for the rest of a body that was refused', async () => {
    const server = await serve({ REQUEST_TIMEOUT: '60m' })
    const token = await firstToken(server)
    const line = await openLine({ port: Number(new URL(server.address).port) })
    const headers = ['Host: a', `X-Service-Token: ${token}`, 'Content-Type: application/json', 'Content-Encoding: gzip']
    line.write(`POST /api/v1/organizations HTTP/1.1\r\n${headers.join('\r\n')}\r\nContent-Length: 100\r\n\r\nnot gzip`)
    expect((await line.answer())?.status).toBe(400)
    line.socket.resetAndDestroy()
    expect((await server.stop('SIGTERM')).code).toBe(0)
  })

  test('by a second signal is at once', async () => {
    const server = await serve()
    const token = await firstToken(server)
    const { body } = await clientOf(server.address, token)('POST', '/organizations', { name: 'Acme' })
    const slow = slowEdit(`${server.address}/api/v1/organizations/${body.organization}`, token)
    slow.status.catch(() => {})
    await slow.begun
    const ended = server.stop()
    await expect.poll(() => server.said.stderr, PATIENT).toContain('stopping')
    await server.stop()
    const { code, stderr } = await ended
    expect(code).toBe(1)
    expect(stderr).not.toContain('"msg":"stopped"')
  })
})

test('a fault that nobody caught is logged and ends the process with 1', async () => {
  const fault = encodeURIComponent("process.on('SIGUSR2', () => { throw new Error('out of order') })")
  const server = await serve({ NODE_OPTIONS: `--import=data:text/javascript,${fault}` })
  const { code, stderr } = await server.stop('SIGUSR2')
  expect(stderr).toMatch(/"level":60.*"message":"out of order".*"msg":"uncaught exception"/)
  expect(code).toBe(1)
})

test('an invitation goes to the mail server, where one is named, with links to the public address', async () => {
  const mailServer = await startMailServer()
  const env = { SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`, PUBLIC_URL: 'https://security.example.com/' }
  const server = await serve({ ...env, MAIL_FROM: 'security@example.com' })
  const client = clientOf(server.address, await firstToken(server))
  const { body } = await client('POST', '/organizations', { name: 'Acme' })
  await client('POST', `/organizations/${body.organization}/users/0`, { email: 'anna@example.com' })
  await expect.poll(() => mailServer.mails, PATIENT).toHaveLength(1)
  const [mail] = mailServer.mails
  expect(mail).toContain('\r\nFrom: security@example.com\r\nTo: anna@example.com\r\n')
  expect(mail).toContain('curl -X POST https://security.example.com/api/v1/invitations/accept')
  await expect.poll(() => server.said.stderr, PATIENT).toContain('"msg":"invitation sent"')
  await mailServer.stop()
})
