import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf } from '../apps/server/test/support/client.ts'
import type { TestServer } from '../apps/server/test/support/server.ts'
import { type Line, openLine } from '../packages/adapters-http/src/testing/raw.ts'
import { aPerson, aSite, type Person, type Site } from '../packages/adapters-http/src/testing/world.ts'
import { type Inside, lookInside } from './inside.ts'
import { UNLIMITED } from './load.ts'
import type { Random } from './random.ts'
import type { Context, Outcome, Scenario } from './scenario.ts'

export const stopped: Scenario = {
  name: 'stopped',
  title:
    'SIGTERM under load: no answer is cut, nothing is done that is not answered, three processes restart unnoticed',
  databases: ['sqlite', 'postgres'],
  run,
}

/** Longest time that a service may take to stop, in milliseconds: its own patience, and the machine's. */
const STOPS_WITHIN = 20_000

const MIB = 1024 * 1024

/**
 * What was asked for: the name of the record that it makes, and the status that came back; none where nothing came.
 * `warned`: the answer before it on the connection had said that it was the last, or there was none before it.
 */
type Asked = { name: string; status: number | undefined; warned: boolean }

async function run(context: Context): Promise<Outcome> {
  const DATABASE_URL = await context.newDatabase()
  const inside = await lookInside(context, DATABASE_URL)
  const owner = await aPerson(inside.ports, 'owner@example.com')
  const site = await aSite(inside.ports, owner, 'Alpha')
  const rounds = context.rounds({ full: 50, short: 1 })
  const counts = { answered: 0, unanswered: 0, unwarned: 0, busy: 0, restarts: 0 }
  for (let round = 1; round <= rounds; round += 1) {
    const server = await context.serve({ DATABASE_URL, ...UNLIMITED })
    await stopUnderLoad(context, inside, server, { owner, site, round }, counts)
    if (round % 10 === 0) context.log(`${round} of ${rounds} rounds`)
  }
  await restartInTurn(context, inside, DATABASE_URL, owner, counts)
  return {
    rounds,
    summary: `${counts.answered} requests answered, ${counts.busy} of them with 503, ${counts.unanswered} not begun when it stopped, ${counts.unwarned} of them without a word before; ${counts.restarts} restarts behind a proxy`,
  }
}

type Counts = { answered: number; unanswered: number; unwarned: number; busy: number; restarts: number }
type Round = { owner: Person; site: Site; round: number }

async function stopUnderLoad(context: Context, inside: Inside, server: TestServer, round: Round, counts: Counts) {
  const port = Number(new URL(server.address).port)
  const asked: Asked[] = []
  const cuts: string[] = []
  const clients = Array.from({ length: 20 }, async (_, number) => {
    const kind = number < 12 ? 1 : number < 16 ? 4 : 'upload'
    const random = context.random.fork()
    for (let count = 0; ; count += 1) {
      const line = await openLine({ port }).catch(() => undefined)
      // Refused: it has stopped to listen.
      if (!line) return
      line.socket.on('error', () => {})
      const name = `${round.round}-${number}-${count}`
      if (kind === 'upload') await uploadOn(line, round, name, random, asked)
      else await writeOn(line, round, name, kind, asked)
      if (line.left() > 0) cuts.push(name)
      line.socket.destroy()
    }
  })
  await sleep(context.random.between(100, 1000))
  const signalled = performance.now()
  const { code, signal, stderr } = await server.stop('SIGTERM')
  const took = performance.now() - signalled
  await Promise.all(clients)

  context.check(code === 0, `round ${round.round}: it ended with ${code ?? signal}: ${stderr.slice(-2000)}`)
  context.check(took < STOPS_WITHIN, `round ${round.round}: it took ${Math.round(took)} ms to stop`)
  context.check(!/"level":[56]0/.test(stderr), `round ${round.round}: the log holds an error`)
  for (const name of cuts) context.check(false, `an answer on connection ${name} was cut`)
  await checkAsked(context, inside, asked, counts)
}

/**
 * What was acknowledged is there, and what was not answered is not: a client may send on a connection just as it is
 * closed for having been idle, and then nothing of it may be done.
 */
async function checkAsked(context: Context, inside: Inside, asked: readonly Asked[], counts: Counts): Promise<void> {
  const { organization = [], document = [] } = await inside.tables(['organization', 'document'])
  const stored = new Set([...organization.map(({ name }) => name), ...document.map(({ file_name }) => file_name)])
  for (const { name, status, warned } of asked) {
    if (status === undefined) {
      counts.unanswered += 1
      if (!warned) counts.unwarned += 1
      context.check(!stored.has(name), `${name} was not answered, and is done all the same`)
    } else {
      counts.answered += 1
      // Three processes wait for one lock of SQLite; who waits too long is told so, and may come again.
      if (status === 503) counts.busy += 1
      context.check(status === 201 || status === 503, `${name} was answered with ${status}`)
      context.check(
        stored.has(name) === (status === 201),
        `${name}, answered with ${status}, is ${stored.has(name) ? '' : 'not '}there`,
      )
    }
  }
}

/** Creates organizations on one connection, `atOnce` sent before the first is answered, until the connection ends. */
async function writeOn(line: Line, { owner }: Round, prefix: string, atOnce: number, asked: Asked[]): Promise<void> {
  // A connection that the stopping server never took up is as good as refused.
  let warned = true
  for (let batch = 0; ; batch += 1) {
    const names = Array.from({ length: atOnce }, (_, index) => `organization ${prefix}-${batch}-${index}`)
    line.write(names.map((name) => creation(name, owner)).join(''))
    for (const name of names) {
      const answer = await line.answer().catch(() => undefined)
      asked.push({ name, status: answer?.status, warned })
      warned = !answer || answer.headers.connection === 'close'
    }
    if (warned) return
  }
}

function creation(name: string, { token }: Person): string {
  const body = JSON.stringify({ name })
  const head = `POST /api/v1/organizations HTTP/1.1\r\nHost: localhost\r\nX-Service-Token: ${token}\r\n`
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** Attaches documents of some MiB on one connection, piece by piece, until the connection ends. */
async function uploadOn(
  line: Line,
  { owner, site }: Round,
  prefix: string,
  random: Random,
  asked: Asked[],
): Promise<void> {
  const { organization, framework, control } = site
  const path = `/api/v1/organizations/${organization}/security-frameworks/${framework}/documents`
  let warned = true
  for (let count = 0; ; count += 1) {
    const name = `document-${prefix}-${count}.bin`
    const size = random.between(1, 3) * MIB
    line.write(
      `POST ${path}/${encodeURIComponent(control)} HTTP/1.1\r\nHost: localhost\r\nX-Service-Token: ${owner.token}\r\n` +
        `Content-Disposition: attachment; filename="${name}"\r\nContent-Length: ${size}\r\n\r\n`,
    )
    const answered = line.answer().catch(() => undefined)
    const piece = Buffer.alloc(64 * 1024, count)
    for (let sent = 0; sent < size && !line.socket.destroyed; sent += piece.length) {
      if (!line.socket.write(piece)) await Promise.race([once(line.socket, 'drain').catch(() => {}), answered])
      await sleep(random.between(0, 10))
    }
    const answer = await answered
    asked.push({ name, status: answer?.status, warned })
    if (!answer || answer.headers.connection === 'close') return
    warned = false
  }
}

/** Three processes behind a proxy are restarted one after the other while clients go on: no client notices. */
async function restartInTurn(context: Context, inside: Inside, DATABASE_URL: string, owner: Person, counts: Counts) {
  const serve = () => context.serve({ DATABASE_URL, ...UNLIMITED })
  const servers = await Promise.all([serve(), serve(), serve()])
  const proxy = await startProxy(() => servers.map(({ address }) => address))
  context.atEnd(proxy.stop)
  const asked: Asked[] = []
  let over = false
  const clients = Array.from({ length: 20 }, async (_, number) => {
    const client = clientOf(proxy.address, owner.token)
    for (let count = 0; !over; count += 1) {
      const name = `organization through the proxy ${number}-${count}`
      const answer = await client('POST', '/organizations', { name }).catch(() => undefined)
      asked.push({ name, status: answer?.status, warned: false })
      const read = await client('GET', '/me').then(
        ({ status }) => status,
        (error: Error) => error.cause ?? error,
      )
      context.check(read === 200 || read === 503, `GET /me through the proxy: ${read}`)
    }
  })
  for (let turn = 0; turn < (context.size === 'full' ? 12 : 2); turn += 1) {
    await sleep(context.random.between(100, 500))
    const index = turn % servers.length
    const { code, signal } = (await servers[index]?.stop('SIGTERM')) ?? {}
    context.check(code === 0, `a process behind the proxy ended with ${code ?? signal}`)
    servers[index] = await serve()
    counts.restarts += 1
  }
  over = true
  await Promise.all(clients)
  for (const fault of proxy.faults) context.check(false, `through the proxy: ${fault}`)
  await checkAsked(context, inside, asked, counts)
  await Promise.all(servers.map((server) => server.stop('SIGTERM')))
}

/**
 * A proxy that takes the servers in turn. It sends a request to the next one only where that can do no harm: where the
 * connection was refused, or where the request only reads and nothing came back.
 */
async function startProxy(addresses: () => string[]) {
  const faults: string[] = []
  // Connections are used in turn, and not kept for long: the less often one is used, the likelier it has been closed.
  const agent = new Agent({ keepAlive: true, scheduling: 'fifo', timeout: 200 })
  let turn = 0
  const server = createServer(async (incoming, answer) => {
    const chunks: Buffer[] = []
    for await (const bytes of incoming) chunks.push(bytes)
    const send = (tries: number): void => {
      const all = addresses()
      turn += 1
      const { method = 'GET', headers } = incoming
      const target = `${all[turn % all.length]}${incoming.url}`
      const outgoing = request(target, { method, headers: { ...headers, connection: 'keep-alive' }, agent })
      outgoing.on('response', (response) => {
        answer.writeHead(response.statusCode ?? 502, { ...response.headers, connection: 'keep-alive' })
        response.on('error', (error) => faults.push(`an answer was cut: ${error.message}`))
        response.pipe(answer)
      })
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        const harmless = error.code === 'ECONNREFUSED' || (method === 'GET' && !answer.headersSent)
        if (harmless && tries < 30) setTimeout(send, 20, tries + 1)
        else answer.destroy()
      })
      outgoing.end(Buffer.concat(chunks))
    }
    send(1)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    async stop() {
      agent.destroy()
      server.close()
      server.closeAllConnections()
    },
  }
}
