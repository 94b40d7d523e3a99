import { setTimeout as sleep } from 'node:timers/promises'
import { type Route, routes } from '../packages/adapters-http/src/index.ts'
import type { Answer } from '../packages/adapters-http/src/testing/answers.ts'
import { answerOf, faultsOf } from '../packages/adapters-http/src/testing/answers.ts'
import { EXAMPLES, goodBody, type Named } from '../packages/adapters-http/src/testing/examples.ts'
import { type Line, openLine } from '../packages/adapters-http/src/testing/raw.ts'
import { pathOf, type Sent } from '../packages/adapters-http/src/testing/requests.ts'
import { aPerson, aSite, type Person, type Site } from '../packages/adapters-http/src/testing/world.ts'
import { addMember, issueToken } from '../packages/domain/src/index.ts'
import { ASKABLE, heapOf } from './heap.ts'
import { bytesOf, type Message } from './hostile-message.ts'
import { mutate } from './hostile-mutations.ts'
import { type Inside, lookInside, unownedFiles } from './inside.ts'
import { UNLIMITED } from './load.ts'
import { startMailServer } from './mail-server.ts'
import type { Random } from './random.ts'
import { handlesOf, memoryOf } from './resources.ts'
import type { Context, Outcome, Scenario } from './scenario.ts'

export const hostileBytes: Scenario = {
  name: 'hostile-bytes',
  title: 'spoiled requests: every answer is the envelope, none is a 5xx, and nothing grows',
  databases: ['sqlite', 'postgres'],
  run,
}

/** Connections that are used at the same time. */
const LINES = { full: 12, short: 6 }
/** Longest time that an answer, or the end of a connection, may take, in milliseconds. */
const TOO_LONG = 30_000
/** Requests after which the runtime has what it needs. */
const WARM_UP = 1000
/** Growth of what is held on to that is no leak: caches that fill, code that is compiled, in MiB. */
const HEAP = 12
/** Growth of all memory that is no leak: what the runtime does not give back of the memory of large bodies, in MiB. */
const MEMORY = 150
/** The same in the second half, when it has mostly reached its level. */
const MEMORY_LATER = 64
/** The same in all, and in the second half, once garbage is gone: what the allocator does not give back. */
const MEMORY_SETTLED = 100
const MEMORY_SETTLED_LATER = 48
/** Handles that may be open beside those of the start: connections that are about to be closed. */
const HANDLES = 8

/** What never stands in an answer: paths and stacks of the program, texts of the databases. */
const SECRETS =
  /node_modules|\/src\/|\.[tj]s:\d|\n\s+at |SQLITE_|sqlite_|postgres:|syntax error at|insert into|select "/i

/** An organization to send requests about, and those who send them. */
type Scene = {
  site: Site
  owner: Person
  viewer: Person
  stranger: Person
  notification: number
  spare: number
  code: string
}

async function run(context: Context): Promise<Outcome> {
  const DATABASE_URL = await context.newDatabase()
  const inside = await lookInside(context, DATABASE_URL)
  // Invitations stay owed, so that their codes are there to be sent.
  const mailServer = await startMailServer('421')
  context.atEnd(mailServer.stop)
  const server = await context.serve({ DATABASE_URL, ...UNLIMITED, SMTP_URL: mailServer.url, ...ASKABLE })
  const { port } = new URL(server.address)
  const service = { port: Number(port) }
  const requests = context.rounds({ full: 100_000, short: 2_000 })
  const [tenth, half] = [Math.ceil(Math.max(WARM_UP, requests / 10)), Math.ceil(requests / 2)]
  const statuses = new Map<number, number>()
  const mutations = new Map<string, number>()
  let sent = 0
  let memory = 0
  let halfway = 0
  let settled = 0
  let settledHalfway = 0
  let heap = 0
  let handles = 0

  async function sendOnOneLine(random: Random, name: number): Promise<void> {
    let scene = await aScene(inside, `${name}`)
    let line = await openLine(service)
    let scenes = 0
    while (sent < requests) {
      const messages = someMessages(scene, random)
      const { answers, open, end } = await exchange(line, messages, random)
      let removed = false
      let idle = false
      for (const [index, message] of messages.entries()) {
        const number = ++sent
        for (const done of message.done) mutations.set(done, (mutations.get(done) ?? 0) + 1)
        // What there is of memory after a first part of them is what all the rest must do with.
        if (number === tenth) {
          memory = memoryOf(server.pid)
          heap = await heapOf(server)
          settled = memoryOf(server.pid)
          idle = true
        }
        if (number === half) {
          halfway = memoryOf(server.pid)
          await heapOf(server)
          settledHalfway = memoryOf(server.pid)
          idle = true
        }
        const own = answers[index]
        // Behind an answer after which the connection was closed.
        if (!own) continue
        const faults = judge(message, own)
        context.check(faults.length === 0, faults.length === 0 ? '' : tellOf(number, index, messages, faults, end))
        for (const { status } of own) statuses.set(status, (statuses.get(status) ?? 0) + 1)
        removed ||= message.method === 'DELETE' && own.some(({ status }) => status === 200)
        if (number % 10_000 === 0) context.log(`${number} of ${requests}, ${Math.round(memoryOf(server.pid))} MiB`)
      }
      const isOver = removed || random.between(0, 2000) === 0
      if (isOver) scene = await aScene(inside, `${name}-${++scenes}`)
      // A connection that was idle for long, as while a scene is made or garbage collected, is closed by the server.
      if (!open || isOver || idle) {
        line.socket.destroy()
        line = await openLine(service)
      }
    }
    line.socket.destroy()
  }

  handles = handlesOf(server.pid)
  await Promise.all(
    Array.from({ length: LINES[context.size] }, (_, name) => sendOnOneLine(context.random.fork(), name)),
  )
  const grown = (await least(() => memoryOf(server.pid), memory + MEMORY)) - memory
  context.check(grown <= MEMORY, `memory grew by ${Math.round(grown)} MiB`)
  const later = memory + grown - halfway
  // The half of the short form is still on the way to that level.
  if (context.size === 'full') {
    context.check(later <= MEMORY_LATER, `memory grew by ${Math.round(later)} MiB in the second half`)
  }
  const held = (await least(() => heapOf(server), heap + HEAP)) - heap
  context.check(held <= HEAP, `${held.toFixed(1)} MiB more are held on to, of ${heap.toFixed(1)}`)
  const stays = (await least(() => memoryOf(server.pid), settled + MEMORY_SETTLED)) - settled
  context.check(stays <= MEMORY_SETTLED, `memory grew by ${Math.round(stays)} MiB that are no garbage`)
  const staysLater = settled + stays - settledHalfway
  if (context.size === 'full') {
    context.check(
      staysLater <= MEMORY_SETTLED_LATER,
      `memory grew by ${Math.round(staysLater)} MiB that are no garbage in the second half`,
    )
  }
  const open = await least(() => handlesOf(server.pid), handles + HANDLES)
  context.check(open <= handles + HANDLES, `${open} handles are open, ${handles} were at the start`)
  const left = await least(async () => unownedFiles(await inside.tables()), 0)
  context.check(left === 0, `${left} files are left that no record names`)
  await checkAlive(context, service, inside, await aScene(inside, 'last'))
  const complaints = server.said.stderr.split('\n').filter((text) => /"level":[56]0/.test(text))
  context.check(complaints.length === 0, `the log holds ${complaints.length} errors: ${complaints[0]}`)
  const unused = routes.filter(({ id }) => EXAMPLES[id] === undefined)
  context.check(unused.length === 0, `no requests of ${unused.map(({ id }) => id)}`)

  const of = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`)
  return {
    rounds: sent,
    summary: `${mutations.size} mutations; ${of.join(', ')}; heap ${held.toFixed(1)} MiB more, memory ${Math.round(grown)} MiB more, ${Math.round(later)} of them in the second half, ${Math.round(stays)} MiB once garbage is gone, ${Math.round(staysLater)} of them in the second half, handles ${open - handles} more`,
  }
}

async function aScene({ ports, codeFor }: Inside, name: string): Promise<Scene> {
  const person = (role: string) => aPerson(ports, `${role}-${name}@example.com`)
  const [owner, viewer, stranger] = [await person('owner'), await person('viewer'), await person('stranger')]
  const site = await aSite(ports, owner, `Organization ${name}`)
  const caller = { user: owner.user.id }
  const place = { organization: site.organization, user: viewer.user.id }
  await addMember(ports, caller, place, { role: 'viewer' })
  const { id: spare } = await issueToken(ports, { user: owner.user.id })
  const code = await codeFor(viewer.user.email)
  const page = { limit: 1, offset: 0, order: 'id' } as const
  const [notification] = (await ports.notifications.listOf(owner.user.id, {}, page)).data
  return { site, owner, viewer, stranger, notification: notification?.id ?? 0, spare, code }
}

/** A request that is right, mostly of somebody who may make it. */
function aMessage(scene: Scene, random: Random): Message {
  const { site, owner, viewer, stranger, notification, spare, code } = scene
  const route = random.pick(routes)
  // What removes the organization comes rarely: everything after it is a 404.
  if (route.method === 'delete' && random.between(0, 9) > 0) return aMessage(scene, random)
  const { path, query = '', sent = {} } = exampleOf(route, site, { viewer: viewer.user.id, notification, spare })
  const token = random.pick([owner, owner, owner, owner, owner, viewer, stranger]).token
  const body = route.upload ? random.pick([sent.body, ...FILES]) : sent.body
  const message: Message = {
    method: route.method.toUpperCase(),
    target: pathOf(route, ...path) + query,
    version: 'HTTP/1.1',
    headers: [
      ['Host', 'localhost'],
      ['X-Service-Token', route.authentication === 'invitation' ? code : token],
      ...Object.entries(sent.headers ?? {}).map(([name, value]) => [name, String(value)] as [string, string]),
    ],
    body: typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body) : Buffer.alloc(0),
    form: route.formats === 'json+multipart',
    expected: 'one',
    done: [],
  }
  if (route.body) {
    message.json = JSON.stringify(random.between(0, 1) ? (sent.json ?? {}) : goodBody(route, site))
    message.headers.push(['Content-Type', 'application/json'])
  }
  return message
}

function exampleOf(route: Route, site: Site, named: Named) {
  return EXAMPLES[route.id]?.(site, named) ?? { path: [] as (string | number)[], query: '', sent: {} as Sent }
}

const LOG_LINE =
  '{"time":"2025-03-01T10:00:00Z","client_ip":"203.0.113.9","host":"a.example","status":200,"verdict":"allowed"}'

/** Traffic files that are right, for something to go wrong in. */
const FILES = [
  `[${LOG_LINE},${LOG_LINE}]`,
  `{"lines":[${LOG_LINE}]}`,
  `${LOG_LINE}\n${LOG_LINE}\n`,
  '["203.0.113.9 - - [01/Mar/2025:10:00:00 +0000] \\"GET /a HTTP/1.1\\" 200 5 \\"-\\" \\"curl\\""]',
  '[]',
]

/** A spoiled request; now and then several that go out together, each but the last with an end that is beyond doubt. */
function someMessages(scene: Scene, random: Random): Message[] {
  const messages = Array.from({ length: random.between(0, 9) ? 1 : random.between(2, 5) }, () => {
    const message = aMessage(scene, random)
    mutate(message, random)
    return message
  })
  return [...messages.filter((message) => !isLast(message)), ...messages.filter(isLast).slice(0, 1)]
}

/** Nothing comes behind one that has no such end, nor where the connection may be closed with the answer. */
function isLast({ expected, headers }: Message): boolean {
  return expected === 'some' || headers.some(([name]) => /^(?:connection|expect)$/i.test(name))
}

/** The answers to each message that was taken up; `open` when the connection can be used again; how it ended, and when. */
type Exchanged = { answers: Answer[][]; open: boolean; end: string }

/** Sends messages, in pieces, and takes what comes back. */
async function exchange(line: Line, messages: readonly Message[], random: Random): Promise<Exchanged> {
  const before = line.howEnded()
  const written = performance.now()
  const { answers, open } = await converse(line, messages, random)
  const lasted = `after ${Math.round(performance.now() - written)} ms`
  const end = before === undefined ? `${line.howEnded() ?? 'open'} ${lasted}` : `${before} before it was written`
  return { answers, open, end }
}

async function converse(line: Line, messages: readonly Message[], random: Random): Promise<Omit<Exchanged, 'end'>> {
  const bytes = Buffer.concat(messages.map((message) => bytesOf(message).subarray(0, message.cut)))
  const at = random.between(0, 9) === 0 ? random.between(0, bytes.length) : bytes.length
  line.write(bytes.subarray(0, at))
  if (at < bytes.length) {
    await sleep(1)
    line.write(bytes.subarray(at))
  }
  const answers: Answer[][] = []
  for (const message of messages) {
    if (message.expected === 'some') {
      if (message.cut !== undefined && random.between(0, 1)) line.socket.resetAndDestroy()
      else line.socket.end()
      answers.push(await allAnswers(line, message.method))
      return { answers, open: false }
    }
    const answer = await finalAnswer(line, message.method)
    answers.push(answer ? [answer] : [])
    const asked = message.headers.filter(([name]) => /^connection$/i.test(name)).join()
    if (!answer || /close/i.test(`${asked} ${answer.headers.connection}`)) return { answers, open: false }
  }
  return { answers, open: true }
}

async function allAnswers(line: Line, method: string): Promise<Answer[]> {
  const answers: Answer[] = []
  for (;;) {
    const answer = await finalAnswer(line, method)
    if (!answer) return answers
    answers.push(answer)
  }
}

/** The next answer that is not `100 Continue`. */
async function finalAnswer(line: Line, method: string): Promise<Answer | undefined> {
  const late = setTimeout(() => line.socket.destroy(new Error('Nothing came in time')), TOO_LONG)
  try {
    for (;;) {
      const answer = await line.answer(method)
      if (answer?.status !== 100) return answer
    }
  } catch (error) {
    // An answer that cannot be read is judged as one.
    return answerOf(0, {}, Buffer.from(String(error)))
  } finally {
    clearTimeout(late)
  }
}

function judge(message: Message, answers: readonly Answer[]): string[] {
  const { expected, method, target } = message
  const faults = expected === 'one' && answers.length === 0 ? ['no answer'] : []
  for (const answer of answers) {
    const { status, bytes } = answer
    if (status < 200 || status >= 500) faults.push(`the status is ${status}`)
    if (SECRETS.test(bytes.toString('latin1'))) faults.push(`it tells ${bytes}`)
    // Bytes that are read as another request than they were meant as may be answered as that.
    const ways = [faultsOf(method, target, answer), ...(expected === 'some' ? readings(answer) : [])]
    // What is no HTTP at all, or breaks its rule of one host, belongs to no operation.
    const isNoHttp = answer.headers.connection === 'close' || answer.json.details?.[0]?.path === 'Host'
    if (status === 400 && isNoHttp) ways.push(faultsOf('', '', answer))
    if (ways.every((found) => found.length > 0)) faults.push(...(ways[0] ?? []))
  }
  if (answers.some(({ headers }) => headers['x-injected'] !== undefined)) faults.push('a header was injected')
  return faults
}

/** Judges an answer as that of any operation. */
function readings(answer: Answer): string[][] {
  return routes.map((route) => faultsOf(route.method.toUpperCase(), route.path, answer))
}

function tellOf(number: number, index: number, messages: readonly Message[], faults: string[], end: string): string {
  const what = `request ${number}, ${index + 1} of ${messages.length}: ${[...faults, end].join('; ')}`
  return [what, ...messages.map(describe)].join('\n')
}

function describe(message: Message): string {
  const text = bytesOf(message).toString('latin1')
  return `${message.done.join(', ')}: ${JSON.stringify(text.length > 2000 ? `${text.slice(0, 2000)}…` : text)}`
}

/**
 * Waits until a figure has come down to `enough`, for longer than connections to a database are kept that nothing uses;
 * returns the least that was seen.
 */
async function least(figure: () => number | Promise<number>, enough: number): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 450 && smallest > enough; tries += 1) {
    if (tries > 0) await sleep(100)
    smallest = Math.min(smallest, await figure())
  }
  return smallest
}

/** Every operation still does what it says. */
async function checkAlive(
  context: Context,
  service: { port: number },
  { codeFor }: Inside,
  scene: Scene,
): Promise<void> {
  const last = (route: Route) => (route.id === 'removeOrganization' ? 2 : route.method === 'delete' ? 1 : 0)
  for (const route of [...routes].sort((a, b) => last(a) - last(b))) {
    const {
      path,
      query = '',
      sent = {},
    } = exampleOf(route, scene.site, {
      viewer: scene.viewer.user.id,
      notification: scene.notification,
      spare: scene.spare,
    })
    // The one that was sent again has a new code.
    const isAcceptance = route.authentication === 'invitation'
    const token = isAcceptance ? await codeFor(scene.viewer.user.email) : scene.owner.token
    const response = await fetch(`http://127.0.0.1:${service.port}${pathOf(route, ...path)}${query}`, {
      method: route.method.toUpperCase(),
      headers: {
        'X-Service-Token': token,
        ...(sent.json !== undefined && { 'Content-Type': 'application/json' }),
        ...(sent.headers as { [name: string]: string } | undefined),
      },
      ...(sent.json !== undefined && { body: JSON.stringify(sent.json) }),
      ...(typeof sent.body === 'string' && { body: sent.body }),
    })
    await response.arrayBuffer()
    // So many people were invited by then that the cap on invitations may be reached.
    const isCapped = response.status === 429 && (route.id === 'addMember' || route.id === 'renewInvitation')
    context.check(response.status === route.status || isCapped, `after all that ${route.id} answers ${response.status}`)
  }
}
