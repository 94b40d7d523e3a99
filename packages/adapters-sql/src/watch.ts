import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '@security-management/domain'

/**
 * Time is counted in ticks, in milliseconds: while this process itself stands still, or gets no processor, none pass, so
 * that what has arrived in the meantime is read before anybody is taken for silent.
 */
const TICK = 250

/** How long somebody has waited when the server is asked whether it still answers: more than so many ticks. */
const LONG = 1

/** How long until it is asked again while somebody waits on, or until it answers, in milliseconds. */
const ASK_EVERY = 1000

/** Runs `work` after so many ticks; `clearInterval` ends it before. */
export function inTicks(count: number, work: () => void): NodeJS.Timeout {
  let left = count
  const timer = setInterval(() => {
    left -= 1
    if (left > 0) return
    clearInterval(timer)
    work()
  }, TICK).unref()
  return timer
}

/** Notices when a database server takes what it is sent and answers nothing any more. */
export type Watch = {
  /**
   * Waits for `work`, but no longer than the server answers.
   *
   * @throws DomainError `unavailable` when it does not answer; then `work` goes on unheard.
   */
  waitFor<Result>(work: () => Promise<Result>): Promise<Result>
  /** How often the server fell silent so far. */
  silences(): number
  stop(): void
}

/**
 * A server that is slow and one that is gone look alike to who waits. So whoever has waited for long makes this `ask` the
 * server on a connection of its own. If that is not answered either, all that wait are told at once, and so is whoever
 * comes next, until the server answers again; a slow statement on a server that answers takes the time it takes.
 *
 * @param ask whether the server answers; decides within two seconds.
 */
export function createWatch(ask: () => Promise<boolean>): Watch {
  const waiting = new Set<{ ticks: number; giveUp(error: DomainError): void }>()
  let looking: NodeJS.Timeout | undefined
  let asking = false
  let silent = false
  let silences = 0
  let stopped = false

  function look(): void {
    looking = undefined
    if (stopped || asking || silent) return
    // The first is the one that has waited for the longest.
    const [first] = waiting
    if (!first) return
    first.ticks += 1
    if (first.ticks <= LONG) lookIn(TICK)
    else void decide()
  }

  function lookIn(milliseconds: number): void {
    looking ??= setTimeout(look, milliseconds).unref()
  }

  async function decide(): Promise<void> {
    asking = true
    silent = !(await ask())
    asking = false
    if (!silent) return lookIn(ASK_EVERY)
    silences += 1
    for (const { giveUp } of waiting) giveUp(noAnswer())
    waiting.clear()
    while (silent && !stopped) {
      await sleep(ASK_EVERY, undefined, { ref: false })
      silent = !(await ask())
    }
  }

  return {
    waitFor(work) {
      if (silent) return Promise.reject(noAnswer())
      return new Promise((resolve, reject) => {
        const waiter = { ticks: 0, giveUp: reject }
        waiting.add(waiter)
        lookIn(TICK)
        work()
          .then(resolve, reject)
          .finally(() => waiting.delete(waiter))
      })
    },
    silences: () => silences,
    stop() {
      stopped = true
      clearTimeout(looking)
    },
  }
}

function noAnswer(): DomainError {
  return new DomainError('unavailable', [], { cause: new Error('The database server does not answer') })
}
