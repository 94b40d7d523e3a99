import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { checkDocumented } from '../packages/adapters-http/src/testing/documented.ts'
import type { Asked, Timed } from './others.ts'

const { address, token, organization, lasting } = workerData as Asked
/** Whether each answer is what the API document says: seen to once nobody is timed any more. */
const checks: (() => void)[] = []
const timed: Timed = { failed: 0, times: [] }
/** Until then, in milliseconds, nothing is timed: a thread that has just begun is slow itself. */
const WARM_UP = 1000
const begin = performance.now() + WARM_UP
const end = begin + lasting

/** Asks again and again, after a pause of this many milliseconds. */
const PAUSE = 5

async function ask(path: string, bodyOf?: () => object): Promise<void> {
  while (performance.now() < end) {
    const started = performance.now()
    const isRight = await answers(path, bodyOf?.()).catch(() => false)
    if (started >= begin) timed.times.push(performance.now() - started)
    if (!isRight) timed.failed += 1
    await sleep(PAUSE)
  }
}

async function answers(path: string, sent?: object): Promise<boolean> {
  const method = sent ? 'PUT' : 'GET'
  const response = await fetch(`${address}/api/v1${path}`, {
    method,
    headers: { 'X-Service-Token': token, 'Content-Type': 'application/json' },
    ...(sent && { body: JSON.stringify(sent) }),
  })
  const { status } = response
  const body = (await response.json()) as object
  checks.push(() =>
    checkDocumented(method, `/api/v1${path}`, { status, headers: Object.fromEntries(response.headers), body }),
  )
  return status === 200
}

await Promise.all([
  ask('/me'),
  ask('/atb?limit=10'),
  ask(`/organizations/${organization}`),
  ask(`/organizations/${organization}`, () => ({ number_employees: checks.length })),
])
for (const check of checks) check()
parentPort?.postMessage(timed)
