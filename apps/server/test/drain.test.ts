import { Agent, type IncomingMessage, request } from 'node:http'
import { afterAll, describe, expect, test } from 'vitest'
import { execute } from '../../../packages/adapters-sql/src/testing/execute.ts'
import { clientOf } from './support/client.ts'
import { everyDatabase } from './support/databases.ts'
import { temporaryDirectory } from './support/program.ts'
import { firstToken, startServer } from './support/server.ts'

const CLIENTS = 20
const ROUNDS = 2

/** Answers in a round before the service is told to stop. */
const ENOUGH = 100

const { databases, stop } = everyDatabase()
afterAll(stop)

/** What became of one request. */
type Outcome = { name: string; status: number } | { name: string; error: string }

/** A client that creates organizations over one connection, kept open, until that fails. */
async function createUntilRefused(address: string, token: string, prefix: string, done: (outcome: Outcome) => void) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { 'X-Service-Token': token, 'Content-Type': 'application/json' }
  for (let count = 0; ; count += 1) {
    const name = `${prefix} ${count}`
    const outcome = await new Promise<Outcome>((resolve) => {
      const sending = request(`${address}/api/v1/organizations`, { method: 'POST', headers, agent })
      sending.on('response', async (response) => {
        try {
          JSON.parse(await textOf(response))
          resolve({ name, status: response.statusCode ?? 0 })
        } catch (error) {
          resolve({ name, error: `cut: ${error}` })
        }
      })
      sending.on('error', (error: NodeJS.ErrnoException) => resolve({ name, error: error.code ?? String(error) }))
      sending.end(JSON.stringify({ name }))
    })
    done(outcome)
    if ('error' in outcome) return agent.destroy()
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += piece
  return text
}

const everyWay = databases.flatMap(({ name, open }) => [
  { name: `one process on ${name}`, open, WORKERS: '1' },
  { name: `two workers on ${name}`, open, WORKERS: '2' },
])

describe.each(everyWay)('SIGTERM under load, with $name', ({ open, WORKERS }) => {
  test('every request is answered wholly, or was never taken up', { timeout: 120_000 }, async () => {
    const directory = await temporaryDirectory()
    const DATABASE_URL = await open()
    const outcomes: Outcome[] = []
    let token: string | undefined
    for (let round = 0; round < ROUNDS; round += 1) {
      const server = await startServer(directory.path, { DATABASE_URL, WORKERS, LOG_LEVEL: 'info' })
      token ??= await firstToken(server)
      const known = token
      let answered = 0
      let ended: Promise<{ code: number | null }> | undefined
      await Promise.all(
        Array.from({ length: CLIENTS }, (_, client) =>
          createUntilRefused(server.address, known, `round ${round} client ${client} request`, (outcome) => {
            outcomes.push(outcome)
            if ('status' in outcome) answered += 1
            if (answered >= ENOUGH) ended ??= server.stop()
          }),
        ),
      )
      expect((await ended)?.code).toBe(0)
    }

    const server = await startServer(directory.path, { DATABASE_URL })
    const names = new Set<string>()
    for (let offset = 0, total = 1; offset < total; offset += 1000) {
      const { body } = await clientOf(server.address, token)('GET', `/organizations?limit=1000&offset=${offset}`)
      for (const { name } of body.data as { name: string }[]) names.add(name)
      total = body.total as number
    }
    await server.stop()
    await directory.remove()

    const answered = outcomes.flatMap((outcome) => ('status' in outcome ? [outcome] : []))
    const broken = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome] : []))
    expect(answered.length).toBeGreaterThanOrEqual(ENOUGH * ROUNDS)
    expect(answered.filter(({ name, status }) => status !== 201 || !names.has(name))).toEqual([])
    // Each client ends by a connection that is refused, or closed before any of the request was read.
    expect(broken).toHaveLength(CLIENTS * ROUNDS)
    expect(broken.filter(({ error }) => !['ECONNREFUSED', 'ECONNRESET'].includes(error))).toEqual([])
    expect(broken.filter(({ name }) => names.has(name))).toEqual([])
    // A connection that is kept open gets a last answer which says so, instead of being closed under a request.
    expect(broken.filter(({ error }) => error === 'ECONNRESET').length).toBeLessThan(CLIENTS / 2)
  })
})

describe.each(databases)('SIGTERM during an upload that does not end, on $name', ({ open }) => {
  test('cuts it after ten seconds, and leaves nothing of it', { timeout: 60_000 }, async () => {
    const directory = await temporaryDirectory()
    const DATABASE_URL = await open()
    const server = await startServer(directory.path, { DATABASE_URL })
    const token = await firstToken(server)
    const client = clientOf(server.address, token)
    const { body } = await client('POST', '/organizations', { name: 'Acme' })
    const framework = { title: 'ISO 27001', security_frameworks: [{ id: 'A.5.1', title: 'Policies' }] }
    await client('POST', `/organizations/${body.organization}/security-frameworks`, framework)
    const chunks = async () => {
      const here = DATABASE_URL.replace('sqlite:', `sqlite:${directory.path}/`)
      const [row] = await execute(here, 'select count(*) as count from file_chunk')
      return Number(row?.count)
    }

    const path = `/api/v1/organizations/${body.organization}/security-frameworks/1/documents/A.5.1`
    const headers = {
      'X-Service-Token': token,
      'Content-Type': 'text/plain',
      'Content-Disposition': 'attachment; filename="policy.txt"',
      'Content-Length': '5000000',
    }
    const upload = request(`${server.address}${path}`, { method: 'POST', headers })
    const broken = new Promise<NodeJS.ErrnoException>((resolve) => upload.once('error', resolve))
    upload.write(Buffer.alloc(600_000, 'x'))
    await expect.poll(chunks, { timeout: 10_000 }).toBe(2)
    // Fast enough not to be refused for being slow, and far too slow to come to an end.
    const going = setInterval(() => upload.write(Buffer.alloc(64 * 1024, 'x')), 1000)
    const before = performance.now()
    const { code, stderr } = await server.stop()
    const seconds = (performance.now() - before) / 1000
    clearInterval(going)
    expect(await broken).toMatchObject({ code: expect.stringMatching(/^(?:ECONNRESET|EPIPE)$/) })
    expect(code).toBe(0)
    expect(seconds).toBeGreaterThan(9.5)
    expect(await chunks()).toBe(0)
    expect(stderr).toContain('client went away')
    await directory.remove()
  })
})
