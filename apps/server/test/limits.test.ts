import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { type Answer, type Client, clientOf } from './support/client.ts'
import { everyDatabase } from './support/databases.ts'
import { startFlakyProxy } from './support/flaky-proxy.ts'
import { homeOfTests } from './support/home.ts'
import { run } from './support/program.ts'
import { firstToken, type TestServer } from './support/server.ts'

const PATIENT = { timeout: 15_000, interval: 300 }
const FILE = { 'Content-Disposition': 'attachment; filename="a.json"', 'Content-Type': 'application/json' }

const every = everyDatabase()
afterAll(every.stop)

const home = homeOfTests()
const { serve } = home

/** Two processes on one database, and a client of each with the same token. */
async function serveTwice(env: Record<string, string>) {
  const one = await serve(env)
  const two = await serve(env)
  const token = await firstToken(one)
  return { one, two, token, clients: [clientOf(one.address, token), clientOf(two.address, token)] as [Client, Client] }
}

/** Sends the same request ten times to each of the clients, all at once. */
function tenTimes(clients: Client[], ...request: Parameters<Client>) {
  return Promise.all(clients.flatMap((client) => Array.from({ length: 10 }, () => client(...request))))
}

describe.each(every.databases)('two processes on $name', ({ open }) => {
  const key = { 'Idempotency-Key': 'once' }
  const seen = (answers: Answer[]) =>
    new Set(answers.map(({ status, headers, body }) => `${status} ${headers.get('location')} ${JSON.stringify(body)}`))

  test('make one change of twenty copies of a POST, and give all the same answer', async () => {
    const { clients } = await serveTwice({ DATABASE_URL: await open() })
    const created = await tenTimes(clients, 'POST', '/organizations', { name: 'Acme' }, key)
    const organization = created[0]?.body.organization
    expect(seen(created)).toEqual(new Set([`201 null {"error":0,"messages":[],"organization":${organization}}`]))
    expect((await clients[1]('GET', '/organizations')).body.total).toBe(1)
    const member = { email: 'grace@acme.example' }
    const other = { 'Idempotency-Key': 'another' }
    const added = await tenTimes(clients, 'POST', `/organizations/${organization}/users/0`, member, other)
    expect([...seen(added)]).toEqual([expect.stringMatching(/^200 /)])
  })

  test('keep one of twenty copies of a traffic file', async () => {
    const { clients } = await serveTwice({ DATABASE_URL: await open() })
    const [first] = clients
    const { organization } = (await first('POST', '/organizations', { name: 'Acme' })).body
    const blocker = { organization, device_id: 'g', email: 'soc@acme.example', type: 'series', services: [] }
    const path = `/atb/${(await first('POST', '/atb', blocker)).body.ticket}/traffic`
    const uploads = await tenTimes(clients, 'POST', path, Buffer.from('[{"time":1772366400}]'), { ...FILE, ...key })
    expect([...seen(uploads)]).toEqual([expect.stringMatching(/^200 .*\/traffic\/\d+ /)])
    expect((await first('GET', path)).body.total).toBe(1)
  })

  test('keep one of twenty copies of a document', async () => {
    const { clients } = await serveTwice({ DATABASE_URL: await open() })
    const [first, second] = clients
    const { organization } = (await first('POST', '/organizations', { name: 'Acme' })).body
    const json = { title: 'ISO 27001', security_frameworks: [{ id: 'A', title: 'A' }] }
    const framework = await first('POST', `/organizations/${organization}/security-frameworks`, json)
    const { id } = framework.body.security_framework as { id: number }
    const at = `/organizations/${organization}/security-frameworks/${id}`
    const files = await tenTimes(clients, 'POST', `${at}/documents/A`, randomBytes(400_000), { ...FILE, ...key })
    expect([...seen(files)]).toEqual([expect.stringMatching(/^201 /)])
    const read = (await second('GET', at)).body.data as { security_frameworks: { evidences: object[] }[] }
    expect(read.security_frameworks[0]?.evidences).toHaveLength(1)
  })

  test('let one of twenty edits through that expect the same ETag', async () => {
    const { clients } = await serveTwice({ DATABASE_URL: await open() })
    const [first, second] = clients
    const { organization } = (await first('POST', '/organizations', { name: 'Acme' })).body
    const path = `/organizations/${organization}`
    const etag = (await second('GET', path)).headers.get('etag') ?? ''
    const edits = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? first : second)('PUT', path, { description: `edit ${index}` }, { 'If-Match': etag }),
      ),
    )
    const [winner, ...others] = edits.filter(({ status }) => status === 200)
    expect(others).toEqual([])
    expect(edits.filter(({ status }) => status === 412)).toHaveLength(19)
    const read = await first('GET', path)
    expect(read.body).toEqual(winner?.body)
    expect(read.headers.get('etag')).toBe(winner?.headers.get('etag'))
  })

  test('keep an organization within its storage together', async () => {
    const env = { DATABASE_URL: await open(), STORAGE_QUOTA: '1000000' }
    const { clients } = await serveTwice(env)
    const [first, second] = clients
    const { organization } = (await first('POST', '/organizations', { name: 'Acme' })).body
    const frameworks = `/organizations/${organization}/security-frameworks`
    const paths: string[] = []
    for (let count = 0; count < 8; count += 1) {
      const json = { title: 'T', security_frameworks: [{ id: 'A', title: 'A' }] }
      const { security_framework } = (await first('POST', frameworks, json)).body
      paths.push(`${frameworks}/${(security_framework as { id: number }).id}/documents/A`)
    }
    const document = randomBytes(300_000)
    const uploads = await Promise.all(
      paths.map((path, index) => (index % 2 ? first : second)('POST', path, document, FILE)),
    )
    expect(uploads.map(({ status }) => status).sort()).toEqual([201, 201, 201, 400, 400, 400, 400, 400])
  })

  // By the hour, so that it does not end while the test runs; where it does, the test runs again.
  test('keep those away together who try tokens, and nobody else', { retry: 2 }, async () => {
    const env = { DATABASE_URL: await open(), MAX_FAILED_AUTHENTICATIONS: '100/h', TRUST_PROXY: '1' }
    const { one, two, clients } = await serveTwice(env)
    const attempt = (server: TestServer, from: string) =>
      clientOf(server.address, 'sms_wrong')('GET', '/me', undefined, { 'X-Forwarded-For': from })
    const failures = await Promise.all(Array.from({ length: 100 }, () => attempt(one, '203.0.113.7')))
    expect(new Set(failures.map(({ status }) => status))).toEqual(new Set([401]))
    const refused = await attempt(one, '203.0.113.7')
    expect(refused).toMatchObject({ status: 429, body: { error: 1, messages: ['Too many requests'] } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    let tries = 0
    const status = async () => {
      tries += 1
      return (await attempt(two, '203.0.113.7')).status
    }
    await expect.poll(status, PATIENT).toBe(429)
    expect(tries).toBeLessThan(100)
    expect((await attempt(two, '203.0.113.8')).status).toBe(401)
    for (const client of clients) {
      expect((await client('GET', '/me', undefined, { 'X-Forwarded-For': '203.0.113.7' })).status).toBe(200)
    }
  })

  test('hold a token to its rate together', { retry: 2 }, async () => {
    const DATABASE_URL = await open()
    const { clients, one } = await serveTwice({ DATABASE_URL, RATE_LIMIT: '100/h' })
    const [first, second] = clients
    const answers = await Promise.all(Array.from({ length: 99 }, () => first('GET', '/me')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    let requests = 0
    const status = async () => {
      requests += 1
      return (await second('GET', '/me')).status
    }
    await expect.poll(status, PATIENT).toBe(429)
    expect(requests).toBeLessThan(90)
    const { stdout } = await run(['token', 'issue', '--user', 'admin@localhost', '--json'], {
      cwd: home.path(),
      env: { DATABASE_URL },
    })
    const { token } = JSON.parse(stdout) as { token: string }
    expect((await clientOf(one.address, token)('GET', '/me')).status).toBe(200)
  })
})

describe('a connection to PostgreSQL that is lost while a change is committed', () => {
  const [, postgres] = every.databases

  test.each(['before', 'after'] as const)(
    '%s the database has committed is 503, and the next try is exact',
    async (when) => {
      const proxy = await startFlakyProxy((await postgres?.open()) ?? '')
      const server = await serve({ DATABASE_URL: proxy.url })
      const client = clientOf(server.address, await firstToken(server))
      const post = (name: string, key: string) => client('POST', '/organizations', { name }, { 'Idempotency-Key': key })
      const named = async (name: string) =>
        ((await client('GET', '/organizations')).body.data as { id: number; name: string }[])
          .filter((organization) => organization.name === name)
          .map(({ id }) => id)

      proxy.cutCommits(when)
      const lost = await post('Acme', 'a key')
      proxy.heal()
      expect(lost).toMatchObject({ status: 503, body: { error: 1, messages: [] } })
      const committed = await named('Acme')
      expect(committed).toHaveLength(when === 'after' ? 1 : 0)

      const answer = await post('Acme', 'a key')
      expect(answer.status).toBe(201)
      expect(await named('Acme')).toEqual([answer.body.organization])
      if (when === 'after') expect(committed).toEqual([answer.body.organization])
      expect((await post('Acme', 'a key')).body).toEqual(answer.body)
      await server.stop()
      await proxy.stop()
    },
  )
})
