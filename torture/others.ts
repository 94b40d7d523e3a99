import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Whom other clients ask, for what, and for how many milliseconds they are timed. */
export type Asked = { address: string; token: string; organization: number; lasting: number }

/** How long each request took, in milliseconds. */
export type Timed = { failed: number; times: number[] }

/**
 * The latency of other clients: readers and a writer, one request after the other. They are timed in a thread of their own:
 * in that of a scenario they would wait for whatever else it does.
 *
 * @throws Error if an answer is not what the API document says.
 */
export async function timeOthers(asked: Asked): Promise<Timed> {
  const file = new URL('./others-thread.ts', import.meta.url)
  const worker = new Worker(file, { workerData: asked, execArgv: ['--conditions=source'] })
  const [timed] = await once(worker, 'message')
  return timed as Timed
}

/** The time that only one request in a hundred exceeds. */
export function p99Of(...timed: Timed[]): number {
  const times = timed.flatMap(({ times }) => times).toSorted((a, b) => a - b)
  return times[Math.floor(times.length * 0.99)] ?? Number.NaN
}
