import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { LoadedThreatIndex } from '@security-management/domain'
import type { Config } from './config.ts'
import { createFeedFetcher } from './feed-fetcher.ts'
import { startFeedLoop } from './feed-loop.ts'
import { createLog } from './log.ts'
import { openPorts } from './wire/ports.ts'

// A thread of its own that reads feeds, builds the index, and judges files again, which takes seconds to hours, on a
// connection of its own.

const port = parentPort
if (!port) throw new Error('This file runs as a worker thread')

// On Linux this is about the calling thread alone; elsewhere the process would be meant. Requests go first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW)

const config: Config = workerData
const { ports, close } = await openPorts(config)
const say = (loaded: LoadedThreatIndex) => port.postMessage(loaded)
const loop = startFeedLoop(ports, createFeedFetcher(), createLog(config.LOG_LEVEL), say)

// The only message there is: to stop.
port.once('message', async () => {
  await loop.stop()
  await close()
})
