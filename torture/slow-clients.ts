import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf } from '../apps/server/test/support/client.ts'
import { type Answer, faultsOf } from '../packages/adapters-http/src/testing/answers.ts'
import { type Line, openLine } from '../packages/adapters-http/src/testing/raw.ts'
import { aPerson, aSite, type Person, type Site, stream } from '../packages/adapters-http/src/testing/world.ts'
import { attachEvidence, type Ports } from '../packages/domain/src/index.ts'
import { ASKABLE, heapOf } from './heap.ts'
import { lookInside, unownedFiles } from './inside.ts'
import { UNLIMITED } from './load.ts'
import { p99Of, type Timed, timeOthers } from './others.ts'
import { handlesOf, memoryOf } from './resources.ts'
import type { Context, Outcome, Scenario } from './scenario.ts'

export const slowClients: Scenario = {
  name: 'slow-clients',
  title:
    'clients that send headers and bodies, and read answers, a byte at a time: others are served, and they are closed',
  databases: ['sqlite', 'postgres'],
  run,
}

/**
 * How many clients of each kind there are at a time, how long others are timed with and without them, in milliseconds, and
 * how often: the machine may be slower for seconds, by its disk or by whatever else runs on it, and that shall hit both.
 */
const SIZES = {
  full: { headers: 1000, bodies: 500, readers: 100, timed: 15_000, rounds: 3 },
  short: { headers: 40, bodies: 20, readers: 5, timed: 2000, rounds: 1 },
}

/** Timeouts of the service; in the short form nobody waits for those of every day. */
const TIMEOUTS = { full: {}, short: { REQUEST_TIMEOUT: '3s', UPLOAD_TIMEOUT: '3s' } }

/**
 * Longest times after which a slow client must be closed, in milliseconds, and in which the machine gets round to it.
 * The short form, which runs beside all other tests, only tells its own timeouts from those of every day.
 */
const CLOSED_WITHIN = {
  full: { headers: 10_000, bodies: 30_000, uploads: 30_000, readers: 30_000 },
  short: { headers: 20_000, bodies: 20_000, uploads: 20_000, readers: 20_000 },
}
const NOTICED_WITHIN = 5000

/** How often a slow client moves a byte, in milliseconds. */
const EVERY = 2000

/** How much others may be slowed down. */
const FACTOR = 2
/** A p99 below this is as good as any, in milliseconds: what it would be compared with is noise. */
const FAST = { full: 10, short: 3000 }
/** How much the memory of the process may grow, in MiB. */
const MEMORY = 150
/**
 * In the short form, how much more may be held on to that is no garbage: the same for each client, in MiB. The memory of a
 * process that has just started, on a machine that is busy, grows by more than so few clients could hold.
 */
const HELD = MEMORY / 1600
/** Connections of others that may be open beside those that were open before. */
const HANDLES = 8

const MIB = 1024 * 1024

type Kind = 'headers' | 'bodies' | 'uploads' | 'readers'
/** When a slow client was closed, in milliseconds after it began, undefined while it is open; and what it was told. */
type Slow = { kind: Kind; closed?: number; answer?: Answer; close(): void }

async function run(context: Context): Promise<Outcome> {
  const { timed, rounds } = SIZES[context.size]
  const DATABASE_URL = await context.newDatabase()
  const inside = await lookInside(context, DATABASE_URL)
  const owner = await aPerson(inside.ports, 'owner@example.com')
  const site = await aSite(inside.ports, owner, 'Alpha')
  const isShort = context.size === 'short'
  const server = await context.serve({
    ...{ DATABASE_URL, ...UNLIMITED, ...TIMEOUTS[context.size] },
    ...(isShort && ASKABLE),
  })
  const document = await attach(inside.ports, owner, site)
  const others = { address: server.address, token: owner.token, organization: site.organization }

  // Once for the compiler, once for the clock.
  await askQuickly(context, server.address, owner, site, document)
  await timeOthers({ ...others, lasting: timed / 2 })
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, memoryOf(server.pid))
  }, 250)
  context.atEnd(async () => clearInterval(watch))
  const without = [await timeOthers({ ...others, lasting: timed })]
  const memory = Math.max(peak, memoryOf(server.pid))
  const heap = isShort ? await heapOf(server) : 0
  const handles = handlesOf(server.pid)

  const slow: Slow[] = []
  const among: Timed[] = []
  let held = 0
  for (let round = 1; round <= rounds; round += 1) {
    const clients = await openSlow(context, Number(new URL(server.address).port), owner, site, document)
    // Who is connected is not yet known to a server that is busy.
    const allOpen = handles + clients.length
    for (let tries = 0; tries < 100 && handlesOf(server.pid) < allOpen; tries += 1) await sleep(20)
    held = isShort ? (await heapOf(server)) - heap : 0
    among.push(await timeOthers({ ...others, lasting: timed }))
    await untilClosed(context, clients, () => handlesOf(server.pid) <= handles + HANDLES)
    slow.push(...clients)
    without.push(await timeOthers({ ...others, lasting: timed }))
  }
  clearInterval(watch)
  const p99 = { without: p99Of(...without), among: p99Of(...among) }

  const count = (timed: Timed[], of: (each: Timed) => number) => timed.reduce((sum, each) => sum + of(each), 0)
  const requests = count(among, ({ times }) => times.length)
  const failed = count([...without, ...among], (each) => each.failed)
  context.check(failed === 0, `${failed} requests of others failed`)
  context.check(
    p99.among <= FACTOR * Math.max(p99.without, FAST[context.size]),
    `p99 of others is ${p99.among.toFixed(1)} ms, ${p99.without.toFixed(1)} ms without slow clients`,
  )
  const grown = isShort ? held : peak - memory
  const mayGrow = isShort ? HELD * slow.length : MEMORY
  context.check(grown <= mayGrow, `memory grew by ${grown.toFixed(1)} MiB`)
  for (const { kind, closed, answer } of slow) {
    const limit = CLOSED_WITHIN[context.size][kind] + NOTICED_WITHIN
    context.check(closed !== undefined && closed <= limit, `one of ${kind} was closed after ${closed ?? 'too many'} ms`)
    // It may also be closed without a word.
    if (!answer) continue
    const faults = answer.status === 408 ? faultsOf('', '', answer) : [`the status is ${answer.status}`]
    context.check(faults.length === 0, `one of ${kind} was told ${faults.join('; ')}`)
  }
  const left = unownedFiles(await inside.tables(['file', 'document', 'traffic_upload', 'threat_feed']))
  context.check(left === 0, `${left} files are left of uploads that never ended`)
  context.check((without.at(-1)?.times.length ?? 0) > 0, 'it does not answer any more')

  const latest = (kind: Kind) =>
    Math.max(...slow.filter((one) => one.kind === kind).map(({ closed = Infinity }) => closed))
  const kinds = (['headers', 'bodies', 'uploads', 'readers'] as const).map(
    (kind) => `${kind} in ${(latest(kind) / 1000).toFixed(1)} s`,
  )
  return {
    rounds: slow.length,
    summary: `p99 ${p99.without.toFixed(1)} ms without, ${p99.among.toFixed(1)} ms among them (${requests} requests); memory ${grown.toFixed(1)} MiB more; the last closed: ${kinds.join(', ')}`,
  }
}

/** Opens the slow clients of one round, which are closed at the end whatever happens. */
async function openSlow(context: Context, port: number, owner: Person, site: Site, document: string): Promise<Slow[]> {
  const { headers, bodies, readers } = SIZES[context.size]
  const slow: Slow[] = []
  context.atEnd(async () => {
    for (const { close } of slow) close()
  })
  const begin = async (count: number, one: (index: number) => Promise<Slow>) => {
    // No more at once than wait to be accepted.
    for (let index = 0; index < count; index += 50) {
      const some = Array.from({ length: Math.min(50, count - index) }, (_, more) => one(index + more))
      slow.push(...(await Promise.all(some)))
    }
  }
  await begin(readers, () => slowReader(port, owner, document))
  await begin(bodies, (index) => (index % 2 ? slowUpload(port, owner, site) : slowBody(port, owner)))
  await begin(headers, () => slowHeaders(port))
  return slow
}

/** Waits until all are closed, for as long as that may take. */
async function untilClosed(context: Context, slow: Slow[], isLetGo: () => boolean): Promise<void> {
  const last = Math.max(...Object.values(CLOSED_WITHIN[context.size])) + NOTICED_WITHIN
  const started = performance.now()
  const isOver = () => slow.every(({ closed }) => closed !== undefined)
  while (!isOver() && performance.now() - started < last) {
    await sleep(100)
    // What waits to be read hides from a reader that it was closed: it was, when the server holds no connection any more.
    if (!isLetGo()) continue
    for (const one of slow.filter(({ kind }) => kind === 'readers')) one.close()
  }
}

/** Attaches a document that no buffer between server and client can hold; returns its path. */
async function attach(ports: Ports, owner: Person, { organization, framework, control }: Site): Promise<string> {
  const file = {
    file_name: 'large.bin',
    content_type: 'text/plain',
    content: stream(Buffer.alloc(20 * MIB, 'evidence')),
  }
  const path = { organization, framework, control }
  return (await attachEvidence(ports, { user: owner.user.id }, path, file)).file_path
}

/** How often clients that are not slow ask for what slow ones do. */
const QUICK = { full: 20, short: 5 }

/** What slow clients ask for, quickly: memory that any of these takes, the first time or each time, is not theirs. */
async function askQuickly(context: Context, address: string, { token }: Person, site: Site, document: string) {
  const client = clientOf(address, token)
  const { organization, framework, control } = site
  const upload = `/organizations/${organization}/security-frameworks/${framework}/documents/${encodeURIComponent(control)}`
  const named = { 'Content-Disposition': 'attachment; filename=quick.bin' }
  for (let index = 0; index < QUICK[context.size]; index += 1) {
    const answers = await Promise.all([
      client('POST', '/organizations', { name: `Quick ${index}` }),
      client('POST', upload, Buffer.alloc(MIB, 'quick'), named),
    ])
    const download = await fetch(`${address}${document}`, { headers: { 'X-Service-Token': token } })
    const { byteLength } = await download.arrayBuffer()
    const statuses = [...answers.map(({ status }) => status), download.status].join(', ')
    context.check(
      statuses === '201, 201, 200' && byteLength === 20 * MIB,
      `quick clients were answered with ${statuses}`,
    )
  }
}

/** Watches a client that goes on with `move` until it is closed. */
function watched(kind: Kind, socket: Socket, move: () => void): Slow {
  const started = performance.now()
  const timer = setInterval(move, EVERY)
  const slow: Slow = {
    kind,
    close() {
      clearInterval(timer)
      slow.closed ??= Math.round(performance.now() - started)
      socket.destroy()
    },
  }
  for (const event of ['end', 'close', 'error']) socket.on(event, slow.close)
  return slow
}

/** Sends a request up to `head`, and more of it byte by byte; what it is told in the end is that it is late. */
async function slowSender(kind: Kind, port: number, head: string, byte: string): Promise<Slow> {
  const line: Line = await openLine({ port })
  line.write(head)
  const slow = watched(kind, line.socket, () => line.socket.writable && line.write(byte))
  // Judged in the end: a thousand at a time would make others wait for this process, and not for the service.
  void line.answer().then((answer) => Object.assign(slow, { answer }))
  return slow
}

const slowHeaders = (port: number) =>
  slowSender('headers', port, 'GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nX-Slow: ', 'a')

const slowBody = (port: number, { token }: Person) =>
  slowSender(
    'bodies',
    port,
    `POST /api/v1/organizations HTTP/1.1\r\nHost: localhost\r\nX-Service-Token: ${token}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":"',
    'a',
  )

const slowUpload = (port: number, { token }: Person, { organization, framework, control }: Site) =>
  slowSender(
    'uploads',
    port,
    `POST /api/v1/organizations/${organization}/security-frameworks/${framework}/documents/${encodeURIComponent(control)}` +
      ` HTTP/1.1\r\nHost: localhost\r\nX-Service-Token: ${token}\r\n` +
      `Content-Disposition: attachment; filename=slow.bin\r\nContent-Length: ${5 * MIB}\r\n\r\n`,
    'a',
  )

/** Asks for the document and takes five bytes of it now and then. */
async function slowReader(port: number, { token }: Person, document: string): Promise<Slow> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`GET ${document} HTTP/1.1\r\nHost: localhost\r\nX-Service-Token: ${token}\r\n\r\n`)
  return watched('readers', socket, () => socket.read(5))
}
