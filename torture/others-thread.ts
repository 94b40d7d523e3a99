import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { Asked, Timed } from './others.ts'

const { address, token, organization, lasting } = workerData as Asked
const timed: Timed = { failed: 0, times: [] }
const end = performance.now() + lasting

/** Asks again and again, after a pause of this many milliseconds. */
const PAUSE = 5

async function ask(path: string, bodyOf?: () => object): Promise<void> {
  while (performance.now() < end) {
    const started = performance.now()
    const isRight = await answers(path, bodyOf?.()).catch(() => false)
    timed.times.push(performance.now() - started)
    if (!isRight) timed.failed += 1
    await sleep(PAUSE)
  }
}

async function answers(path: string, body?: object): Promise<boolean> {
  const response = await fetch(`${address}/api/v1${path}`, {
    headers: { 'X-Service-Token': token, 'Content-Type': 'application/json' },
    ...(body && { method: 'PUT', body: JSON.stringify(body) }),
  })
  const { error } = (await response.json()) as { error: number }
  return response.status === 200 && error === 0
}

await Promise.all([
  ask('/me'),
  ask('/atb?limit=10'),
  ask(`/organizations/${organization}`),
  ask(`/organizations/${organization}`, () => ({ number_employees: timed.times.length })),
])
parentPort?.postMessage(timed)
