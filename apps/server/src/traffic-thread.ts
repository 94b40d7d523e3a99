import { parentPort } from 'node:worker_threads'
import {
  DomainError,
  type Judge,
  judgeOf,
  loadTrafficReading,
  NO_FEEDS,
  openThreatIndex,
  type TrafficReading,
} from '@security-management/domain'
import { packRows } from './packed-rows.ts'
import type { FromThread, ToThread } from './traffic-messages.ts'

// A thread of its own that reads traffic files, so that requests never wait for one.

const port = parentPort
if (!port) throw new Error('This file runs as a worker thread')

const createTrafficReading = await loadTrafficReading()
const readings = new Map<number, TrafficReading>()
let feeds: Judge = NO_FEEDS

port.on('message', (message: ToThread) => {
  if ('feeds' in message) {
    feeds = openThreatIndex(message.feeds)
    return
  }
  const { reading } = message
  try {
    if ('open' in message) readings.set(reading, createTrafficReading(judgeOf(feeds, message.open)))
    else if ('bytes' in message) {
      const { bytes, length } = message
      readings.get(reading)?.push(new Uint8Array(bytes, 0, length))
      say({ reading, read: true })
    } else if ('end' in message) {
      const summary = readings.get(reading)?.end()
      if (summary) {
        const packed = { slots: packRows(summary.slots), threats: packRows(summary.threats) }
        const memory = [...packed.slots, ...packed.threats].map(({ buffer }) => buffer)
        say({ reading, summary: { ...summary, ...packed } }, memory)
      }
      readings.delete(reading)
    } else readings.delete(reading)
  } catch (error) {
    readings.delete(reading)
    if (error instanceof DomainError && error.code === 'invalid') say({ reading, refused: error.details })
    else say({ reading, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})

/** @param memory that is handed over with the message, instead of a copy. */
function say(message: FromThread, memory: ArrayBuffer[] = []): void {
  port?.postMessage(message, memory)
}
