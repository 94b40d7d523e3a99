/** Runs work of a caller once it is its turn; `whenGone` is given what to do where nobody waits for it any more. */
export type Turns = <Result>(
  caller: string,
  whenGone: (giveUp: (error: Error) => void) => void,
  work: () => Promise<Result>,
) => Promise<Result>

/**
 * Runs the work of each caller in the order in which it came, so much of it at a time: whoever asks for much at once waits
 * for it himself, and others do not wait for all of it.
 */
export function createTurns(atOnce: number): Turns {
  const callers = new Map<string, { running: number; waiting: Set<() => void> }>()
  return async (caller, whenGone, work) => {
    const own = callers.get(caller) ?? { running: 0, waiting: new Set() }
    callers.set(caller, own)
    if (own.running < atOnce) own.running += 1
    else {
      await new Promise<void>((resolve, reject) => {
        own.waiting.add(resolve)
        // With all that it holds on to.
        whenGone((error) => {
          if (own.waiting.delete(resolve)) reject(error)
        })
      })
    }
    try {
      return await work()
    } finally {
      const [next] = own.waiting
      // The place is handed on, so that nobody takes it who comes just then.
      if (next && own.waiting.delete(next)) next()
      else own.running -= 1
      if (own.running === 0) callers.delete(caller)
    }
  }
}
