import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { LoadedThreatIndex } from '@security-management/domain'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import type { Repeating } from './repeat.ts'

/** How long the thread may take to stop before it is ended, in milliseconds. */
const PATIENCE = 2000

/** How long to wait before a thread that ended by itself is started again, in milliseconds. */
const START_AGAIN_AFTER = 5000

/**
 * Keeps the threat feeds fresh, and judges files again that newer feeds may know more of, in a thread of its own, on a
 * database connection of its own.
 *
 * @param onIndex told of the first index, and of each that takes its place, within seconds after any process changed a
 *   feed. Its bytes are shared with the thread, and can be posted to others without a copy.
 */
export function startThreatFeeds(
  config: Config,
  log: Log,
  onIndex: (loaded: LoadedThreatIndex) => void,
): Pick<Repeating, 'stop'> {
  let stopped = false
  let again: NodeJS.Timeout | undefined
  let worker = start()

  function start(): Worker {
    // From the sources the thread runs from the sources, too.
    const isSource = import.meta.url.endsWith('.ts')
    const file = new URL(isSource ? './feed-thread.ts' : './feed-thread.js', import.meta.url)
    const started = new Worker(file, { workerData: config, ...(isSource && { execArgv: ['--conditions=source'] }) })
    started.on('message', (loaded: LoadedThreatIndex) => {
      log.info({ version: loaded.index.version }, 'threat feeds loaded')
      onIndex(loaded)
    })
    started.on('error', (err) => log.error({ err }, 'the thread of the threat feeds failed'))
    started.on('exit', () => {
      if (stopped) return
      again = setTimeout(() => {
        worker = start()
      }, START_AGAIN_AFTER)
    })
    return started
  }

  return {
    async stop() {
      stopped = true
      clearTimeout(again)
      if (worker.threadId < 0) return
      const ended = once(worker, 'exit')
      worker.postMessage('stop')
      // A source that is slow to answer is not waited for: its feed is refreshed again when the lease has ended.
      const impatient = setTimeout(() => void worker.terminate(), PATIENCE)
      await ended
      clearTimeout(impatient)
    },
  }
}
