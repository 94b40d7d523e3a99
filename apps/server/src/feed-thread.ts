import { parentPort, workerData } from 'node:worker_threads'
import type { LoadedThreatIndex } from '@security-management/domain'
import type { Config } from './config.ts'
import { createFeedFetcher } from './feed-fetcher.ts'
import { startFeedLoop } from './feed-loop.ts'
import { createLog } from './log.ts'
import { takeLowestPriority } from './lowest-priority.ts'
import { openPorts } from './wire/ports.ts'

// A thread of its own that reads feeds, builds the index, and judges files again, which takes seconds to hours, on a
// connection of its own.

const port = parentPort
if (!port) throw new Error('This file runs as a worker thread')

const config: Config = workerData
const log = createLog(config.LOG_LEVEL)
// Requests go first.
takeLowestPriority(log)

const { ports, close } = await openPorts(config)
const say = (loaded: LoadedThreatIndex) => port.postMessage(loaded)
const loop = startFeedLoop(ports, createFeedFetcher(), log, say)

// The only message there is: to stop.
port.once('message', async () => {
  await loop.stop()
  await close()
})
