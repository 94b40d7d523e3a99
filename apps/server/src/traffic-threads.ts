import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { DomainError, type ReadFile, type ReadTraffic, type TrafficSummary } from '@security-management/domain'
import type { FromThread, ToThread } from './traffic-messages.ts'

/** Bytes that go to the thread at a time, and buffers of that size that one file has: what it adds to memory. */
const BUFFER_SIZE = 512 * 1024
const BUFFERS = 4

/** Reads traffic files in a worker thread, which is started with the first one. */
export type TrafficThreads = { readTraffic: ReadTraffic; close(): Promise<void> }

type Waiting = {
  take(buffer: ArrayBuffer): void
  done(summary: TrafficSummary): void
  fail(error: unknown): void
}

export function createTrafficThreads(): TrafficThreads {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let count = 0

  function start(): Worker {
    // From the sources the thread runs from the sources, too.
    const isSource = import.meta.url.endsWith('.ts')
    const file = new URL(isSource ? './traffic-thread.ts' : './traffic-thread.js', import.meta.url)
    const started = new Worker(file, isSource ? { execArgv: ['--conditions=source'] } : {})
    started.unref()
    started.on('message', (message: FromThread) => {
      const reader = waiting.get(message.reading)
      if (!reader) return
      if ('read' in message) return reader.take(message.read)
      waiting.delete(message.reading)
      if ('summary' in message) reader.done(message.summary)
      else if ('refused' in message) reader.fail(new DomainError('invalid', message.refused))
      else reader.fail(new Error(message.failed))
    })
    // A thread that dies takes the files it was reading with it, and no other: the next one starts a new thread.
    const end = (error: unknown) => {
      if (worker === started) worker = undefined
      const readers = [...waiting.values()]
      waiting.clear()
      for (const reader of readers) reader.fail(error)
    }
    started.on('error', end)
    started.on('exit', (code) => end(new Error(`The thread that reads traffic files ended with ${code}`)))
    return started
  }

  async function readTraffic(
    content: AsyncIterable<Uint8Array>,
    judging: Parameters<ReadTraffic>[1],
  ): Promise<ReadFile> {
    worker ??= start()
    const thread = worker
    count += 1
    const reading = count
    const say = (message: ToThread, transfer: ArrayBuffer[] = []) => thread.postMessage(message, transfer)
    const free = Array.from({ length: BUFFERS }, () => new ArrayBuffer(BUFFER_SIZE))
    let failure: { error: unknown } | undefined
    let wake = () => {}
    const summary = new Promise<TrafficSummary>((done, reject) => {
      waiting.set(reading, {
        take(buffer) {
          free.push(buffer)
          wake()
        },
        done,
        fail(error) {
          failure = { error }
          reject(error)
          wake()
        },
      })
    })
    // It may be refused before anybody waits for it.
    summary.catch(() => {})

    const hash = createHash('sha256')
    let size = 0
    let buffer: ArrayBuffer | undefined
    let filled = 0
    const flush = () => {
      if (!buffer || filled === 0) return
      say({ reading, bytes: buffer, length: filled }, [buffer])
      buffer = undefined
      filled = 0
    }
    const nextBuffer = async (): Promise<ArrayBuffer> => {
      for (;;) {
        if (failure) throw failure.error
        const next = free.pop()
        if (next) return next
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }

    say({ reading, open: judging })
    try {
      for await (const bytes of content) {
        if (failure) throw failure.error
        hash.update(bytes)
        size += bytes.length
        for (let taken = 0; taken < bytes.length; ) {
          buffer ??= await nextBuffer()
          const part = bytes.subarray(taken, taken + BUFFER_SIZE - filled)
          new Uint8Array(buffer).set(part, filled)
          filled += part.length
          taken += part.length
          if (filled === BUFFER_SIZE) flush()
        }
      }
      flush()
      say({ reading, end: true })
      return { ...(await summary), size, sha256: hash.digest('hex') }
    } catch (error) {
      say({ reading, abort: true })
      throw error
    } finally {
      waiting.delete(reading)
    }
  }

  return {
    readTraffic,
    async close() {
      await worker?.terminate()
    },
  }
}
