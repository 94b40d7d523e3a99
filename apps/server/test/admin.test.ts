import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { execute } from '../../../packages/adapters-sql/src/testing/execute.ts'
import { clientOf } from './support/client.ts'
import { everyDatabase } from './support/databases.ts'
import { homeOfTests } from './support/home.ts'
import { run } from './support/program.ts'
import { ask, firstToken, type TestServer } from './support/server.ts'
import { slowEdit } from './support/slow-edit.ts'
import { startWebServer } from './support/web-server.ts'

const HEALTH_CHECK = fileURLToPath(new URL('../../../deploy/health-check.mjs', import.meta.url))

/** For what a process does in a moment, and in more than one on a machine that is busy. */
const PATIENT = { timeout: 20_000, interval: 100 }

const { databases, stop } = everyDatabase()
afterAll(stop)

const home = homeOfTests()
const { serve, serveWatched } = home

/** The database of the URL, as a process in another directory names it. */
function fromHere(url: string): string {
  return url.startsWith('sqlite:') ? `sqlite:${home.path()}/${url.slice('sqlite:'.length)}` : url
}

const everyWay = databases.flatMap(({ name, open }) => [
  { name: `one process on ${name}`, open, WORKERS: '1', processes: [''] },
  { name: `two workers on ${name}`, open, WORKERS: '2', processes: ['1', '2', 'primary'] },
])

describe.each(everyWay)('the second listener of $name', ({ open, WORKERS, processes }) => {
  test('says that the service lives and is ready, and what it did', { timeout: 60_000 }, async () => {
    // A mail server that takes nothing, so that the mail stays owed.
    const server = await serveWatched({ DATABASE_URL: await open(), WORKERS, SMTP_URL: 'smtp://127.0.0.1:1' })
    expect(await ask(server, '/live')).toMatchObject({ status: 200, json: { status: 'live' } })
    const checks = { database: 'ok', migrations: 'ok', relay: 'ok', ...(WORKERS === '2' && { workers: '2 of 2' }) }
    expect(await ask(server, '/ready')).toMatchObject({ status: 200, json: { status: 'ready', checks } })

    const client = clientOf(server.address, await firstToken(server))
    const { body } = await client('POST', '/organizations', { name: 'Acme' })
    for (let count = 0; count < 5; count += 1) await client('GET', '/me')
    expect((await client('GET', '/no-such-path')).status).toBe(404)
    await client('POST', `/organizations/${body.organization}/users/0`, { email: 'anna@example.com' })
    const blocker = {
      organization: body.organization,
      device_id: 'g',
      email: 'a@b.example',
      type: 'series',
      services: [],
    }
    const { body: created } = await client('POST', '/atb', blocker)
    const lines = [
      '{"timestamp":"2026-01-01T00:00:00Z","status":200}',
      '{"timestamp":"2026-01-01T00:00:00Z","action":"blocked"}',
      '?',
    ]
    const headers = { 'Content-Type': 'application/x-ndjson', 'Content-Disposition': 'attachment; filename="a.json"' }
    expect(
      (await client('POST', `/atb/${created.ticket}/traffic`, Buffer.from(lines.join('\n')), headers)).status,
    ).toBe(200)

    const metrics = async () => seriesOf(await ask(server, '/metrics'))
    // Counted at the end of each, which is after its client has the answer.
    const requests = async () => (await metrics()).sum('sms_http_request_duration_seconds_count')
    await expect.poll(requests, PATIENT).toBe(10)
    const { sum, labels, type } = await metrics()
    expect(type).toMatch(/^text\/plain; version=/)
    expect(sum('sms_http_request_duration_seconds_count', 'route="readMe"', 'method="GET"', 'status="200"')).toBe(5)
    expect(sum('sms_http_request_duration_seconds_count', 'route="none"', 'status="404"')).toBe(1)
    expect(sum('sms_traffic_lines_total', 'outcome="accepted"')).toBe(2)
    expect(sum('sms_traffic_lines_total', 'outcome="rejected"')).toBe(1)
    expect(sum('sms_traffic_malicious_lines_total')).toBe(1)
    expect(sum('sms_invitations_owed')).toBe(1)
    expect(sum('sms_log_lines_dropped_total')).toBe(0)
    expect(sum('sms_database_duration_seconds_count', 'kind="statement"')).toBeGreaterThan(10)
    expect(sum('sms_database_duration_seconds_count', 'kind="unit"')).toBeGreaterThan(2)
    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
      'process_start_time_seconds',
    ]) {
      expect(labels(name, 'process')).toEqual(processes)
    }
    expect(sum('sms_traffic_uploads_total')).toBe(1)
  })
})

test.each(databases)(
  'readiness on $name ends while something is not well, and comes back',
  { timeout: 80_000 },
  async ({ open }) => {
    const DATABASE_URL = await open()
    const server = await serveWatched({ DATABASE_URL })
    const change = (statement: string) => execute(fromHere(DATABASE_URL), statement)
    const becomes = async (status: number, says: object) => {
      const ready = async () => {
        const answer = await ask(server, '/ready')
        return [answer.status, answer.json]
      }
      const checks = { database: 'ok', migrations: 'ok', relay: 'ok', ...says }
      await expect.poll(ready, PATIENT).toEqual([status, { status: status === 200 ? 'ready' : 'not ready', checks }])
    }
    await becomes(200, {})

    await change("insert into migration (name, timestamp) values ('9999-future', '2099-01-01')")
    await becomes(503, { migrations: 'the schema is newer than this program; run that version' })
    await change("delete from migration where name = '9999-future'")
    await becomes(200, {})

    await change('alter table migration rename to elsewhere')
    await becomes(503, { database: 'does not answer', migrations: 'unknown' })
    await change('alter table elsewhere rename to migration')
    await becomes(200, {})

    await change('alter table invitation rename to elsewhere')
    await becomes(503, { relay: 'does not run' })
    await change('alter table elsewhere rename to invitation')
    await becomes(200, {})

    await change("delete from migration where name like '0007%'")
    await becomes(503, { migrations: 'the schema is older than this program; restart it' })
  },
)

test('while the service stops it lives and is not ready, which the container is told', async () => {
  const server = await serveWatched()
  const container = () => checkHealth(adminOf(server))
  expect(await container()).toContain('"status":"ready"')
  const token = await firstToken(server)
  const { body } = await clientOf(server.address, token)('POST', '/organizations', { name: 'Acme' })
  const slow = slowEdit(`${server.address}/api/v1/organizations/${body.organization}`, token)
  await slow.begun
  const ended = server.stop()
  await expect.poll(async () => (await ask(server, '/ready')).json, PATIENT).toEqual({ status: 'stopping', checks: {} })
  expect((await ask(server, '/ready')).status).toBe(503)
  await expect(container()).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('stopping') })
  expect((await ask(server, '/live')).status).toBe(200)
  expect((await ask(server, '/metrics')).status).toBe(200)
  slow.finish()
  expect(await slow.status).toBe(200)
  expect((await ended).code).toBe(0)
  await expect(container()).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('ECONNREFUSED') })
})

test('without it, the container is told whether the service itself answers', async () => {
  const server = await serve()
  const { hostname, port } = new URL(server.address)
  const container = (env = {}) => checkHealth({ HOST: hostname, PORT: port, ADMIN_PORT: '0', ...env })
  expect(await container()).toBe('The service answers\n')
  expect(await container({ HOST: '0.0.0.0' })).toBe('The service answers\n')
  await server.stop()
  await expect(container()).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('ECONNREFUSED') })
  for (const [status, body] of [
    [401, 'Who are you?'],
    [200, '{"error":0,"messages":[]}'],
    [503, '{"error":1,"messages":[]}'],
  ] as const) {
    const other = await startWebServer((_, res) => res.writeHead(status).end(body))
    const PORT = new URL(other.url).port
    await expect(container({ PORT })).rejects.toMatchObject({ code: 1, stdout: `${body}\n` })
    await other.stop()
  }
})

test('it answers what it has, to those who read, costs the database little, and does not stand on the port for clients', async () => {
  const server = await serveWatched()
  expect((await fetch(`${server.admin}/`)).status).toBe(404)
  expect((await fetch(`${server.admin}/api/v1/me`)).status).toBe(404)
  expect((await fetch(`${server.admin}/live`, { method: 'POST' })).status).toBe(405)
  expect((await fetch(`${server.admin}/live?now`, { method: 'HEAD' })).status).toBe(200)
  for (const path of ['/live', '/ready', '/metrics']) {
    const answer = await fetch(`${server.address}${path}`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual({ error: 1, messages: [] })
  }
  const statements = async () => seriesOf(await ask(server, '/metrics')).sum('sms_database_duration_seconds_count')
  // Whatever else the service does in this time is far less.
  const before = await statements()
  for (let count = 0; count < 300; count += 1) expect((await ask(server, '/ready')).status).toBe(200)
  expect((await statements()) - before).toBeLessThan(100)
})

test('with ADMIN_PORT 0 there is none; on a port in use the start ends with one line that names ADMIN_PORT', async () => {
  expect((await serve()).admin).toBe('')
  const { url, stop: release } = await startWebServer(() => {})
  const ADMIN_PORT = new URL(url).port
  const env = { PORT: '0', ADMIN_PORT, LOG_LEVEL: 'fatal', DATABASE_URL: 'sqlite:other.sqlite' }
  const { code, stderr } = await run(['serve'], { cwd: home.path(), env })
  expect(stderr).toBe(`Port ${ADMIN_PORT} of 127.0.0.1 is in use; set ADMIN_PORT to another one, or to 0 for none\n`)
  expect(code).toBe(1)
  await release()
})

/** What the container's health check says; throws where it finds the service not well. */
async function checkHealth(env: Record<string, string>): Promise<string> {
  return (await promisify(execFile)(process.execPath, [HEALTH_CHECK], { env })).stdout
}

/** The variables by which the container's health check finds the second listener. */
function adminOf({ admin }: TestServer): Record<string, string> {
  const { hostname, port } = new URL(admin)
  return { ADMIN_HOST: hostname, ADMIN_PORT: port }
}

/** The series of a text of metrics. */
function seriesOf({ text, type }: { text: string; type: string }) {
  const series = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [line, line]
      return { name, labels, value: Number(value) }
    })
  const named = (wanted: string) => series.filter(({ name }) => name === wanted)
  return {
    type,
    sum: (name: string, ...having: string[]) =>
      named(name)
        .filter(({ labels }) => having.every((label) => labels.includes(label)))
        .reduce((total, { value }) => total + value, 0),
    /** The values of a label, sorted; `""` where it has none. */
    labels: (name: string, label: string) =>
      named(name)
        .map(({ labels }) => new RegExp(`${label}="([^"]*)"`).exec(labels)?.[1] ?? '')
        .sort(),
  }
}
