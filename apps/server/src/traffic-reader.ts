import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import {
  DomainError,
  type OpenTrafficReader,
  type SlotCount,
  type ThreatCount,
  type ThreatIndex,
} from '@security-management/domain'
import { unpackRows } from './packed-rows.ts'
import type { FromThread, PackedSummary, ToThread } from './traffic-messages.ts'

/** Bytes that go to the thread at a time, and buffers of that size that one file has: what it adds to memory. */
const BUFFER_SIZE = 512 * 1024
const BUFFERS = 4

/** What lives shortly in the thread is little; unbounded, room for it would be a third of what a file adds to memory. */
const YOUNG_MIB = 6

/** Far more than it needs. Below 2 GiB garbage may be about half of what is in use before it is collected, and not thrice. */
const OLD_MIB = 1024

/** Reads traffic files in a worker thread, which is started with the first feeds, or the first file. */
export type TrafficThread = {
  openTrafficReader: OpenTrafficReader
  /** Judges the files that are opened from now on by these feeds. */
  judgeBy(feeds: ThreatIndex): void
  close(): Promise<void>
}

/** A file that is being read. */
type Waiting = {
  wasRead(): void
  done(summary: PackedSummary): void
  fail(error: unknown): void
}

export function createTrafficThread(): TrafficThread {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let feeds: ThreatIndex | undefined
  let count = 0

  function start(): Worker {
    // From the sources the thread runs from the sources, too.
    const isSource = import.meta.url.endsWith('.ts')
    const file = new URL(isSource ? './traffic-thread.ts' : './traffic-thread.js', import.meta.url)
    const started = new Worker(file, {
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB, maxOldGenerationSizeMb: OLD_MIB },
      ...(isSource && { execArgv: ['--conditions=source'] }),
    })
    started.unref()
    if (feeds) say(started, { feeds })
    started.on('message', (message: FromThread) => {
      const file = waiting.get(message.reading)
      if (!file) return
      if ('read' in message) return file.wasRead()
      waiting.delete(message.reading)
      if ('summary' in message) file.done(message.summary)
      else if ('refused' in message) file.fail(new DomainError('invalid', message.refused))
      else file.fail(new Error(message.failed))
    })
    // A thread that dies takes the files it was reading with it, and no other: the next one starts a new thread.
    const end = (error: unknown) => {
      if (worker !== started) return
      worker = undefined
      const files = [...waiting.values()]
      waiting.clear()
      for (const file of files) file.fail(error)
    }
    started.on('error', end)
    started.on('exit', (code) => end(new Error(`The thread that reads traffic files ended with ${code}`)))
    return started
  }

  function say(thread: Worker, message: ToThread): void {
    thread.postMessage(message)
  }

  const openTrafficReader: OpenTrafficReader = (judging) => {
    worker ??= start()
    const thread = worker
    count += 1
    const reading = count
    // Shared: to hand memory over and back costs more than to read it.
    const free = Array.from({ length: BUFFERS }, () => new SharedArrayBuffer(BUFFER_SIZE))
    const sent: SharedArrayBuffer[] = []
    let failure: { error: unknown } | undefined
    let wake = () => {}
    const summary = new Promise<PackedSummary>((done, reject) => {
      waiting.set(reading, {
        wasRead() {
          const buffer = sent.shift()
          if (buffer) free.push(buffer)
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
    let buffer: SharedArrayBuffer | undefined
    let filled = 0

    async function nextBuffer(): Promise<SharedArrayBuffer> {
      for (;;) {
        if (failure) throw failure.error
        const next = free.pop()
        if (next) return next
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }

    function flush(): void {
      if (!buffer || filled === 0) return
      sent.push(buffer)
      say(thread, { reading, bytes: buffer, length: filled })
      buffer = undefined
      filled = 0
    }

    say(thread, { reading, open: judging })
    return {
      async push(bytes) {
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
      },
      async end() {
        flush()
        say(thread, { reading, end: true })
        const { slots, threats, ...read } = await summary
        const rows = { slots: unpackRows<SlotCount>(slots), threats: unpackRows<ThreatCount>(threats) }
        return { ...read, ...rows, size, sha256: hash.digest('hex') }
      },
      abort() {
        if (waiting.delete(reading)) say(thread, { reading, abort: true })
      },
    }
  }

  return {
    openTrafficReader,
    judgeBy(index) {
      feeds = index
      // A service starts the thread with its feeds, since that takes longer than a request may be held up.
      if (worker) say(worker, { feeds })
      else worker = start()
    },
    async close() {
      await worker?.terminate()
    },
  }
}
