/** Work that comes back until it is stopped. */
export type Repeating = {
  /** Runs the work as soon as it can, once more if it runs right now. */
  wake(): void
  /** Ends the repetition and waits for the run that is on its way. */
  stop(): Promise<void>
}

/** Runs `work` now, every so many milliseconds, and when woken; never twice at the same time. */
export function repeat(work: () => Promise<unknown>, every: number, onError: (error: unknown) => void): Repeating {
  let running: Promise<void> | undefined
  let again = false
  let stopped = false

  async function run(): Promise<void> {
    do {
      again = false
      try {
        await work()
      } catch (error) {
        onError(error)
      }
    } while (again && !stopped)
    running = undefined
  }

  function wake(): void {
    if (stopped) return
    again = true
    running ??= run()
  }

  const timer = setInterval(wake, every)
  wake()
  return {
    wake,
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}
