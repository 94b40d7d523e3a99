import type { Needs, Tally } from '@security-management/domain'
import type { Log } from './context.ts'

/** So many in each stretch of so many milliseconds; stretches begin at multiples of that. */
export type Rate = { limit: number; window: number }

/** A limit that all processes on a database keep together. */
export type SharedLimit = {
  /** Milliseconds until `name` is below the limit again; undefined while it is. */
  wait(name: string): number | undefined
  /** Counts one. */
  count(name: string): void
  /** Ends the sharing. */
  stop(): void
}

/** How often a process tells the others what it has counted, in milliseconds. */
const SHARE_EVERY = 1000

/** Names that a process counts at the same time. Further ones are let pass. */
const MAX_NAMES = 10_000

type Entry = {
  /** As of the last time that counts were shared, by all processes. */
  shared: number
  /** By this process since. */
  own: number
}

/**
 * Counts in memory and shares the counts beside the requests, once a second and only where there are new ones, so that
 * no request waits for the database. What one process counted the others know a second later, so together they may go
 * past the limit by what each lets pass in that time.
 *
 * @param purpose keeps the names of one limit apart from those of others.
 */
export function createSharedLimit(
  ports: Needs<'transact' | 'now'>,
  log: Log,
  purpose: string,
  { limit, window }: Rate,
): SharedLimit {
  let start = 0
  let entries = new Map<string, Entry>()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  /** The counts of the present window. */
  function present(now: number): Map<string, Entry> {
    const begun = now - (now % window)
    if (begun !== start) {
      start = begun
      entries = new Map()
    }
    return entries
  }

  async function share(): Promise<void> {
    const shared = present(ports.now().getTime())
    const tallies: Tally[] = []
    for (const [name, entry] of shared) {
      if (entry.own === 0) continue
      tallies.push({ name: `${purpose} ${name}`, start, count: entry.own })
      entry.shared += entry.own
      entry.own = 0
    }
    if (tallies.length === 0) return
    try {
      const sums = await ports.transact((stores) => stores.counters.add(tallies))
      for (const { name, count } of sums) {
        const entry = shared.get(name.slice(purpose.length + 1))
        if (entry) entry.shared = count
      }
    } catch (err) {
      // This process goes on with what it knows.
      log.warn({ err, purpose }, 'counts not shared with other processes')
    }
  }

  function schedule(): void {
    if (isStopped) return
    timer ??= setTimeout(() => {
      timer = undefined
      void share()
    }, SHARE_EVERY).unref()
  }

  return {
    wait(name) {
      const now = ports.now().getTime()
      const { shared = 0, own = 0 } = present(now).get(name) ?? {}
      return shared + own < limit ? undefined : start + window - now
    },
    count(name) {
      const counts = present(ports.now().getTime())
      const entry = counts.get(name)
      if (entry) entry.own += 1
      else if (counts.size < MAX_NAMES) counts.set(name, { shared: 0, own: 1 })
      else return
      schedule()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
