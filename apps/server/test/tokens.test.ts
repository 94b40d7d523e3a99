import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, type Client, clientOf } from './support/client.ts'
import { everyDatabase } from './support/databases.ts'
import { temporaryDirectory } from './support/program.ts'
import { firstToken, startServer, type TestServer } from './support/server.ts'

/** For what a process does in a moment, and in more than one on a machine that is busy. */
const PATIENT = { timeout: 10_000 }
const DAY = 24 * 60 * 60 * 1000

const { databases, stop } = everyDatabase()

afterAll(stop)

describe.each(databases)('two processes on one $name', ({ open }) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  let servers: TestServer[]
  let admins: [Client, Client]

  beforeEach(async () => {
    directory = await temporaryDirectory()
    const env = { DATABASE_URL: await open() }
    servers = await Promise.all([startServer(directory.path, env), startServer(directory.path, env)])
    // Whichever was faster printed it.
    const token = await Promise.any(servers.map(firstToken))
    admins = servers.map(({ address }) => clientOf(address, token)) as [Client, Client]
  })

  afterEach(async () => {
    for (const server of servers) await server.stop('SIGKILL')
    await directory.remove()
  })

  /** What each process answers to this token: by header and by query at the first, then at the second. */
  async function statuses(token: string): Promise<number[]> {
    const answers: number[] = []
    for (const { address } of servers) {
      answers.push((await clientOf(address, token)('GET', '/me')).status)
      answers.push((await fetch(`${address}/api/v1/me?X-Service-Token=${token}`)).status)
    }
    return answers
  }

  async function issue(wanted: object = {}): Promise<{ id: number; token: string; expires_at: string }> {
    const { body } = await admins[0]('POST', '/tokens', { name: 'ci', ...wanted })
    return body.data as { id: number; token: string; expires_at: string }
  }

  function secretOf({ body }: Answer): string {
    return (body.data as { token: string }).token
  }

  const FINE = [200, 200, 200, 200]
  const REFUSED = [401, 401, 401, 401]

  test('know at once of a token that one of them issued, rotated or revoked', async () => {
    const { body } = await admins[0]('POST', '/organizations', { name: 'Acme' })
    const { id, token } = await issue({ organizations: [body.organization], access: 'read' })
    expect(await statuses(token)).toEqual(FINE)
    for (const { address } of servers) {
      expect((await clientOf(address, token)('POST', '/tokens', { name: 'wide' })).status).toBe(401)
    }
    const rotated = await admins[1]('POST', `/tokens/${id}/rotate`)
    const second = secretOf(rotated)
    expect(await statuses(token)).toEqual(REFUSED)
    expect(await statuses(second)).toEqual(FINE)
    expect((await admins[0]('DELETE', `/tokens/${id}`)).status).toBe(200)
    expect(await statuses(second)).toEqual(REFUSED)
  })

  test('refuse a token from the moment on at which it, or its overlap, ends', async () => {
    const { id, token, expires_at } = await issue({ expires_at: new Date(Date.now() + 6000).toISOString() })
    const rotated = await admins[1]('POST', `/tokens/${id}/rotate`, { overlap_days: 30 })
    expect(rotated.status).toBe(201)
    const overlapping = await issue()
    const half = await admins[0]('POST', `/tokens/${overlapping.id}/rotate`, { overlap_days: 500 / DAY })
    await sleep(Math.max(500, Date.parse(expires_at) - Date.now()))
    for (const secret of [token, secretOf(rotated), overlapping.token]) expect(await statuses(secret)).toEqual(REFUSED)
    expect(await statuses(secretOf(half))).toEqual(FINE)
  })

  test('invite a person for a second time with another code, and accept each invitation once', async () => {
    const { body } = await admins[0]('POST', '/organizations', { name: 'Acme' })
    const added = await admins[0]('POST', `/organizations/${body.organization}/users/0`, { email: 'anna@example.com' })
    const { user } = added.body.data as { user: string }
    await expect.poll(codes, PATIENT).toHaveLength(1)
    const [first = ''] = await codes()
    const again = await admins[1]('POST', `/organizations/${body.organization}/users/${user}/invitation`)
    expect(again).toMatchObject({ status: 200, body: { data: { user } } })
    await expect.poll(codes, PATIENT).toHaveLength(2)
    const second = (await codes()).find((code) => code !== first) ?? ''
    const accept = (code: string, index: number) =>
      clientOf(servers[index % 2]?.address ?? '', code)('POST', '/invitations/accept', { token_name: 'laptop' })
    expect((await accept(first, 0)).status).toBe(401)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => accept(second, index)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(401)])
  })

  /** The codes in the mails that were written as files. */
  async function codes(): Promise<string[]> {
    const mails = join(directory.path, 'data', 'mail')
    const names = (await readdir(mails).catch(() => [])).filter((file) => file.endsWith('.eml'))
    const texts = await Promise.all(names.map((name) => readFile(join(mails, name), 'utf8')))
    return texts.map((text) => /smi_[0-9A-Za-z]{49}/.exec(text)?.[0] ?? '')
  }

  test('invite together no more people an hour than one person may', async () => {
    const { body } = await admins[0]('POST', '/organizations', { name: 'Acme' })
    const path = `/organizations/${body.organization}/users`
    const add = (index: number) => admins[index % 2 ? 0 : 1]('POST', `${path}/0`, { email: `p${index}@example.com` })
    const answers: Answer[] = []
    // A few at a time, so that no client waits for a hundred others.
    for (let first = 0; first < 110; first += 10) {
      answers.push(...(await Promise.all(Array.from({ length: 10 }, (_, index) => add(first + index)))))
    }
    const refused = answers.filter(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100)
    expect(refused).toHaveLength(10)
    for (const { body: envelope, headers } of refused) {
      expect(envelope).toEqual({ error: 1, messages: ['Too many requests'] })
      expect(headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
    }
    expect((await admins[0]('GET', `${path}?limit=1`)).body.total).toBe(101)
  })
})
