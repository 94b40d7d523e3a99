import { afterAll, describe, expect, test } from 'vitest'
import { openLine } from '../../../packages/adapters-http/src/testing/raw.ts'
import { execute } from '../../../packages/adapters-sql/src/testing/execute.ts'
import { clientOf } from './support/client.ts'
import { everyDatabase } from './support/databases.ts'
import { homeOfTests } from './support/home.ts'
import { startMailServer } from './support/mail-server.ts'
import { run } from './support/program.ts'
import { ask, firstToken, logged, type TestServer } from './support/server.ts'
import { startWebServer } from './support/web-server.ts'

/** For what a process does in a moment, and in more than one on a machine that is busy. */
const PATIENT = { timeout: 30_000, interval: 50 }

const { databases, stop } = everyDatabase()
afterAll(stop)

const home = homeOfTests()
const serve = (env: Record<string, string> = {}) => home.serveWatched({ WORKERS: '2', ...env })

/** Asks over connections of their own until two processes have answered, and gives their ids. */
async function pidsOf(server: TestServer, token: string): Promise<number[]> {
  const pids = () => [...new Set(logged(server, 'request').map(({ pid }) => Number(pid)))]
  const client = clientOf(server.address, token)
  const ask = async () => {
    expect((await client('GET', '/me', undefined, { Connection: 'close' })).status).toBe(200)
    return pids().length
  }
  await expect.poll(ask, PATIENT).toBe(2)
  return pids()
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe.each(databases)('two workers on $name', ({ open }) => {
  test('share the requests; one that dies is replaced, and the other serves on', { timeout: 80_000 }, async () => {
    const server = await serve({ DATABASE_URL: await open() })
    const token = await firstToken(server)
    const [first = 0, second = 0] = await pidsOf(server, token)
    expect([first, second]).not.toContain(server.pid)
    process.kill(first, 'SIGKILL')
    await expect.poll(() => logged(server, 'a worker ended, another one takes its place'), PATIENT).toHaveLength(1)
    for (let count = 0; count < 5; count += 1) {
      const { status } = await clientOf(server.address, token)('GET', '/me', undefined, { Connection: 'close' })
      expect(status).toBe(200)
    }
    const workers = async () => (await ask(server, '/ready')).json.checks.workers
    await expect.poll(workers, PATIENT).toBe('2 of 2')
    const third = async () => {
      await clientOf(server.address, token)('GET', '/me', undefined, { Connection: 'close' })
      return new Set(logged(server, 'request').map(({ pid }) => pid)).size
    }
    await expect.poll(third, PATIENT).toBe(3)
    const { code, stderr } = await server.stop()
    expect(code).toBe(0)
    expect(stderr).toContain('"msg":"stopped"')
    expect([first, second].filter(isAlive)).toEqual([])
  })

  // The relay looks by itself every five seconds, so that this many mails would take it longer than the test may last.
  const MANY = 14
  const occasions = [
    { what: 'a member is added', path: (_user: string) => '0' },
    { what: 'an invitation is sent again', path: (user: string) => `${user}/invitation` },
  ]
  test.each(occasions)(
    'wake the mail relay, which runs once, at once, when $what',
    { timeout: 60_000 },
    async (occasion) => {
      const mailServer = await startMailServer()
      const server = await serve({ DATABASE_URL: await open(), SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` })
      const client = clientOf(server.address, await firstToken(server))
      const { body: made } = await client('POST', '/organizations', { name: 'Acme' })
      const users = `/organizations/${made.organization}/users`
      const { body } = await client('POST', `${users}/0`, { email: 'p0@example.com' })
      const { user } = body.data as { user: string }
      for (let count = 1; count <= MANY; count += 1) {
        await expect.poll(() => mailServer.mails.length, PATIENT).toBe(count)
        const { status } = await client('POST', `${users}/${occasion.path(user)}`, { email: `p${count}@example.com` })
        expect(status).toBe(200)
      }
      await expect.poll(() => mailServer.mails.length, PATIENT).toBe(MANY + 1)
      await server.stop()
      await mailServer.stop()
    },
  )
})

test('a worker that cannot start is tried again, later each time, and serves once it can', {
  timeout: 80_000,
}, async () => {
  const server = await serve()
  const token = await firstToken(server)
  const [first = 0] = await pidsOf(server, token)
  const database = `sqlite:${home.path()}/data/service.sqlite`
  await execute(database, "insert into migration (name, timestamp) values ('9999-future', '2099-01-01')")
  process.kill(first, 'SIGKILL')
  const ends = () => logged(server, 'a worker ended, another one takes its place')
  await expect.poll(() => ends().length, PATIENT).toBeGreaterThanOrEqual(3)
  const [, ...failures] = ends().slice(0, 3)
  for (const { reason } of failures) expect(reason).toMatch(/upgraded to 9999-future/)
  const waits = ends().map(({ wait_ms }) => Number(wait_ms))
  expect(waits[2]).toBe((waits[1] ?? 0) * 2)
  await execute(database, "delete from migration where name = '9999-future'")
  await expect.poll(async () => (await ask(server, '/ready')).json.checks.workers, PATIENT).toBe('2 of 2')
  expect((await server.stop()).code).toBe(0)
})

test('a worker that is told to stop by a signal comes to its end, and is replaced', { timeout: 60_000 }, async () => {
  const server = await serve()
  const [first = 0] = await pidsOf(server, await firstToken(server))
  process.kill(first, 'SIGTERM')
  const end = { code: 0, signal: null }
  await expect.poll(() => logged(server, 'a worker ended, another one takes its place'), PATIENT).toMatchObject([end])
})

test('a connection past as many as all workers may have is closed, not handed round between them', {
  timeout: 60_000,
}, async () => {
  const server = await serve({ MAX_CONNECTIONS: '1' })
  const token = await firstToken(server)
  const port = Number(new URL(server.address).port)
  const head = ['Host: a', `X-Service-Token: ${token}`, 'Content-Type: application/json', 'Content-Length: 16']
  const request = `POST /api/v1/organizations HTTP/1.1\r\n${head.join('\r\n')}\r\nExpect: 100-continue\r\n\r\n`
  // Which worker one is handed to is not ours to say.
  const hold = async () => {
    for (;;) {
      const line = await openLine({ port })
      line.write(request)
      if ((await line.answer())?.status === 100) return line
      line.socket.destroy()
    }
  }
  const held = [await hold(), await hold()]
  const third = await openLine({ port })
  expect(await third.ended()).toBe(true)
  for (const line of held) {
    line.write('{"name":"Gamma"}')
    expect((await line.answer())?.status).toBe(201)
    line.socket.destroy()
  }
  third.socket.destroy()
})

test('workers do not outlive the process that started them', { timeout: 60_000 }, async () => {
  const server = await serve()
  const pids = await pidsOf(server, await firstToken(server))
  await server.stop('SIGKILL')
  await expect.poll(() => pids.filter(isAlive), PATIENT).toEqual([])
})

test('a signal to all processes at once, as a terminal sends it, stops them in order', {
  timeout: 60_000,
}, async () => {
  const server = await serve()
  const pids = await pidsOf(server, await firstToken(server))
  const ended = server.stop('SIGINT')
  for (const pid of pids) process.kill(pid, 'SIGINT')
  const { code, stderr } = await ended
  expect(code).toBe(0)
  expect(stderr).not.toContain('a worker ended')
})

test('a port in use ends the start with one line', async () => {
  const { url, stop: release } = await startWebServer(() => {})
  const PORT = new URL(url).port
  const { code, stderr } = await run(['serve'], {
    cwd: home.path(),
    env: { PORT, WORKERS: '3', LOG_LEVEL: 'fatal' },
  })
  expect(stderr).toBe(`Port ${PORT} of 127.0.0.1 is in use; set PORT to another one\n`)
  expect(code).toBe(1)
  await release()
})
