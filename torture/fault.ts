import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Client, clientOf } from '../apps/server/test/support/client.ts'
import type { TestServer } from '../apps/server/test/support/server.ts'
import { CONTROL, type Site } from './kinds.ts'
import { type Ledger, openLedger, readLedger } from './ledger.ts'
import type { Context, Outcome } from './scenario.ts'
import { checkSite, checkStored, makeSite, type People, registerPeople } from './site.ts'
import { writeEverything } from './writers.ts'

/** Longest time until an answer while the database is gone, and until all is well when it is back, in milliseconds. */
const PROMISED = { answer: 3000, health: 5000 }

/** In the tests, which share their machine with others. Without a promise it would be longer still. */
const IN_TESTS = { answer: 8000, health: 10_000 }

/** A lock that is held no longer than this is waited for, in milliseconds; a machine that is busy may hold one longer. */
const WAITED_FOR = 2000

/** A way in which the database fails, and what of the service is left in the meantime. */
export type Fault = {
  name: string
  begin(server: TestServer): Promise<unknown>
  end(server: TestServer): Promise<unknown>
  /** Milliseconds from the beginning to the end. */
  lasts: number
  /** How what is asked in the meantime is answered: with 503, as ever if after a wait, or some of it so and some so. */
  reads: 'refused' | 'served'
  writes: 'refused' | 'served' | 'either'
}

/**
 * Brings faults about, one after the other, while eight writers work and others ask. All are answered, in time and with
 * the envelope; what was acknowledged is there afterwards; and all is well soon, with the same process.
 */
export async function runFaults(
  context: Context,
  url: string,
  faults: readonly Fault[],
  rounds: number,
): Promise<Outcome> {
  const server = await context.serve({ DATABASE_URL: url })
  await untilFeedsAreLoaded(server)
  const totals = { refused: 0, acknowledged: 0, slowest: 0, healthy: 0 }
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, fault] of faults.entries()) {
      // One owner for all would invite more people than one person may.
      const people = await registerPeople(url, round * faults.length + index)
      const site = await makeSite(server.address, `round${round}fault${index}`, people)
      const result = await bringAbout(context, fault, site, server, people)
      const { refused, acknowledged, slowest, healthy } = result
      context.log(
        `${fault.name}: ${acknowledged} writes acknowledged, ${refused} answers 503, the slowest answer after ` +
          `${slowest} ms, healthy ${healthy} ms after`,
      )
      totals.refused += refused
      totals.acknowledged += acknowledged
      totals.slowest = Math.max(totals.slowest, slowest)
      totals.healthy = Math.max(totals.healthy, healthy)
    }
  }
  await checkStored(url, context.check)
  const { stderr } = server.said
  const failed = stderr.split('\n').find((line) => line.includes('"level":60') || line.includes('thread'))
  context.check(failed === undefined, `the log tells of more than requests that failed: ${failed}`)
  const { refused, acknowledged, slowest, healthy } = totals
  return {
    rounds: rounds * faults.length,
    summary: `${acknowledged} writes acknowledged, ${refused} answers 503, slowest ${slowest} ms, healthy ${healthy} ms after`,
  }
}

/** By then all threads of the service have been started. */
async function untilFeedsAreLoaded({ said }: TestServer): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (said.stderr.includes('"msg":"threat feeds loaded"')) return
    await sleep(50)
  }
  throw new Error('The threads of the service were not started')
}

async function bringAbout(context: Context, fault: Fault, site: Site, server: TestServer, people: People) {
  const { random, directory, size } = context
  const within = size === 'full' ? PROMISED : IN_TESTS
  const check = (holds: boolean, what: string) => context.check(holds, `${fault.name}: ${what}`)
  const path = join(directory, `${site.name}.ledger`)
  const ledger = openLedger(path)
  const client = clientOf(server.address, people.owner.token)
  const result = { refused: 0, acknowledged: 0, slowest: 0, healthy: 0 }
  let phase: 'before' | 'during' | 'after' = 'before'
  let writing = true
  const during = { reads: [] as number[], writes: [] as number[] }

  function checkAnswer(what: string, { status, body }: Answer, milliseconds: number): void {
    result.slowest = Math.max(result.slowest, Math.round(milliseconds))
    check(milliseconds <= within.answer, `${what} is answered after ${Math.round(milliseconds)} ms`)
    if (status === 503) {
      result.refused += 1
      const { error, messages } = body
      check(error === 1 && Array.isArray(messages) && messages.length === 0, `${what}: ${JSON.stringify(body)}`)
    } else check(status < 300, `${what} is answered with ${status} ${JSON.stringify(body)}`)
  }
  /** Asks, and checks the answer against what the fault leaves of the service. */
  async function ask(kind: 'reads' | 'writes', method: string, path: string, body?: object): Promise<void> {
    const [began, started] = [phase, performance.now()]
    const answer = await client(method, path, body)
    checkAnswer(`${method} ${path}`, answer, performance.now() - started)
    // What lies across the beginning or the end may go either way.
    if (began !== 'during' || phase !== 'during') return
    during[kind].push(answer.status)
  }
  async function keepAsking(kind: 'reads' | 'writes', method: string, path: string, body?: object): Promise<void> {
    while (writing) {
      await ask(kind, method, path, body)
      await sleep(random.between(5, 50))
    }
  }

  const writers = writeEverything(
    site,
    random.fork(),
    ledger,
    () => writing,
    ({ verb, key }, answer, milliseconds) => checkAnswer(`${verb} ${key}`, answer, milliseconds),
  )
  const asking = [
    keepAsking('reads', 'GET', '/me'),
    keepAsking('reads', 'GET', `/atb?organization=${site.organization}`),
    keepAsking('writes', 'POST', '/organizations', { name: 'asked for' }),
  ]
  await sleep(random.between(200, 700))
  const upload = slowUpload(site, ledger, Math.min(fault.lasts, 2000)).then(({ answer, waited }) =>
    checkAnswer('an upload that was on its way', answer, waited),
  )
  const everybody = Promise.all([writers, upload, ...asking])
  // If it fails, that is told of where it is waited for.
  everybody.catch(() => {})
  await sleep(100)
  await fault.begin(server)
  const began = performance.now()
  phase = 'during'
  await sleep(fault.lasts)
  phase = 'after'
  await fault.end(server)
  const lasted = performance.now() - began

  result.healthy = await timeToHealth(client)
  check(result.healthy <= within.health, `healthy only ${result.healthy} ms after`)
  await sleep(random.between(200, 700))
  writing = false
  const [gone] = await everybody
  check(gone === 0, 'the service was not there')
  ledger.close()
  const writes = readLedger(path)
  result.acknowledged = writes.filter(({ end }) => end === 'acknowledged').length
  check(fault.writes === 'served' || result.refused > 0, 'nothing was refused')
  for (const kind of ['reads', 'writes'] as const) {
    const refused = during[kind].filter((status) => status === 503).length
    const all = during[kind].length
    if (fault[kind] === 'refused') check(refused === all, `of ${all} ${kind} in the meantime ${refused} were refused`)
    const isServed = fault[kind] === 'served' && (kind === 'reads' || lasted <= WAITED_FOR + 100)
    if (isServed) check(refused === 0, `of ${all} ${kind} in the meantime ${refused} were refused`)
  }
  await checkSite(site, writes, people, check)
  return result
}

/** Milliseconds until a read and a write that are sent again and again both succeed. */
async function timeToHealth(client: Client): Promise<number> {
  const started = performance.now()
  for (;;) {
    const read = await client('GET', '/me')
    const write = await client('POST', '/organizations', { name: 'asked for again' })
    const waited = Math.round(performance.now() - started)
    if ((read.status === 200 && write.status === 201) || waited > 4 * PROMISED.health) return waited
    await sleep(50)
  }
}

/** Sends a document over so many milliseconds; tells how it was answered, and how many after its last byte. */
async function slowUpload(site: Site, ledger: Ledger, lasts: number): Promise<{ answer: Answer; waited: number }> {
  const { address, organization, framework, ownerToken } = site
  const path = `/organizations/${organization}/security-frameworks/${framework}/documents/${CONTROL}`
  const pieces = Array.from({ length: 20 }, (_, piece) => Buffer.alloc(100_000, `${piece}`))
  const bytes = Buffer.concat(pieces)
  const state = { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  const number = ledger.sent({ kind: 'document', key: 'slow', verb: 'create', state })
  const sending = request(`${address}/api/v1${path}`, {
    method: 'POST',
    headers: { 'X-Service-Token': ownerToken, 'Content-Disposition': 'attachment; filename="slow.txt"' },
  })
  const answered = once(sending, 'response')
  let last = performance.now()
  for (const piece of pieces) {
    sending.write(piece)
    last = performance.now()
    await sleep(lasts / pieces.length)
  }
  sending.end()
  const [response] = (await answered) as [IncomingMessage]
  const waited = Math.max(0, performance.now() - last)
  const { statusCode: status = 0 } = response
  if (status < 300) ledger.ended(number, 'acknowledged')
  const body = (await json(response)) as Answer['body']
  return { answer: { status, headers: new Headers(), body }, waited }
}
