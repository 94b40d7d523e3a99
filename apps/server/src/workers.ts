import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { DomainEvent } from '@security-management/domain'
import type { Checks } from './admin.ts'
import { within } from './checks.ts'
import type { Config } from './config.ts'
import { PATIENCE } from './interface.ts'
import type { Log } from './log.ts'
import type { Snapshot } from './metrics.ts'
import { type FromWorker, type ToWorker, WORKER } from './worker-messages.ts'

/** How long a worker may take to answer a question, in milliseconds. */
const ANSWERS_WITHIN = 1500

/** A worker that lived so long was sound: what takes its place starts at once. In milliseconds. */
const SOUND_AFTER = 10_000

/** How long to wait before the next try to replace one that did not, doubled each time, in milliseconds. */
const FIRST_WAIT = 1000
const LONGEST_WAIT = 30_000

/** What workers get over their own patience before they are killed, in milliseconds. */
const BEYOND_PATIENCE = 8000

export type Workers = {
  /** Where they serve, once all of them do. Rejects, with one line, if one of them cannot. */
  listening: Promise<string>
  /** What those say that serve, and how many they are. */
  checks(): Promise<Checks[]>
  snapshots(): Promise<Snapshot[]>
  /** Lets all come to their end. */
  stop(): Promise<void>
}

/**
 * Starts so many processes that serve requests on one port, and starts another one for each that ends by itself.
 *
 * @param onEvent told what workers committed.
 */
export function startWorkers(
  { WORKERS: count, STOP_DELAY }: Pick<Config, 'WORKERS' | 'STOP_DELAY'>,
  log: Log,
  onEvent: (event: DomainEvent) => void,
): Workers {
  const living = new Set<Worker>()
  const serving = new Set<Worker>()
  const waits = new Set<NodeJS.Timeout>()
  const asked = new Map<number, (answer: unknown) => void>()
  let questions = 0
  let stopping = false
  let started = false
  let haveStarted = (_address: string) => {}
  let haveFailed = (_error: Error) => {}
  const listening = new Promise<string>((resolve, reject) => {
    haveStarted = resolve
    haveFailed = reject
  })

  function start(number: number, failures = 0): void {
    const worker = cluster.fork({ [WORKER]: String(number) })
    const startedAt = performance.now()
    let reason: string | undefined
    living.add(worker)
    worker.on('error', (err) => log.error({ err, worker: number }, 'a worker cannot be reached'))
    worker.on('message', (message: FromWorker) => {
      if ('event' in message) onEvent(message.event)
      else if ('failed' in message) reason = message.failed
      else if ('id' in message) asked.get(message.id)?.(message.answer)
      else {
        serving.add(worker)
        if (started || serving.size < count) return
        started = true
        haveStarted(message.address)
      }
    })
    worker.once('exit', (code, signal) => {
      living.delete(worker)
      serving.delete(worker)
      if (stopping) return
      if (!started)
        return haveFailed(new Error(reason ?? `A worker ended with ${signal ?? code} before it could serve`))
      const isSound = performance.now() - startedAt >= SOUND_AFTER
      const wait = isSound ? 0 : Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** failures)
      log.error({ worker: number, code, signal, reason, wait_ms: wait }, 'a worker ended, another one takes its place')
      const timer = setTimeout(() => {
        waits.delete(timer)
        start(number, isSound ? 0 : failures + 1)
      }, wait)
      waits.add(timer)
    })
  }

  async function ask<Answer>(what: 'checks' | 'snapshot'): Promise<Answer[]> {
    const answers = [...serving].map(async (worker) => {
      questions += 1
      const id = questions
      const answer = new Promise((resolve) => asked.set(id, resolve))
      say(worker, { id, ask: what })
      const result = await within(ANSWERS_WITHIN, answer)
      asked.delete(id)
      return result as Answer | undefined
    })
    return (await Promise.all(answers)).filter((answer) => answer !== undefined)
  }

  for (let number = 1; number <= count; number += 1) start(number)

  return {
    listening,
    async checks() {
      const found = await ask<Checks>('checks')
      const says = `${found.length} of ${count}`
      return [...found, { workers: { ok: found.length > 0, says } }]
    },
    snapshots: () => ask<Snapshot>('snapshot'),
    async stop() {
      stopping = true
      for (const timer of waits) clearTimeout(timer)
      const ended = [...living].map((worker) => once(worker, 'exit'))
      for (const worker of living) say(worker, { stop: true })
      const impatient = setTimeout(
        () => {
          for (const worker of living) worker.process.kill('SIGKILL')
        },
        STOP_DELAY + PATIENCE + BEYOND_PATIENCE,
      )
      await Promise.all(ended)
      clearTimeout(impatient)
    },
  }
}

function say(worker: Worker, message: ToWorker): void {
  // One that is about to end cannot be told.
  if (worker.isConnected()) worker.send(message, () => {})
}
