// Loaded beside the service by a benchmark: says, when the process ends, how long its event loop stood still at most.
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  // What it takes to start is no stall of a service.
  setTimeout(() => delay.enable(), 2000).unref()
  // Nor what it takes to stop.
  process.once('SIGTERM', () => delay.disable())
  process.on('exit', () => writeFileSync(process.env.STALL_FILE, String(delay.max / 1e6)))
}
