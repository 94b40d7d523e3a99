import { constants, setPriority } from 'node:os'
import type { Log } from './log.ts'

/**
 * Lets everything else go before the calling thread. Where the system forbids that, as a sandbox may, the thread goes on
 * as it is.
 */
export function takeLowestPriority(log: Pick<Log, 'warn'>, set: (priority: number) => void = setPriority): void {
  // On Linux this is about the calling thread alone; elsewhere the process would be meant.
  if (process.platform !== 'linux') return
  try {
    set(constants.priority.PRIORITY_LOW)
  } catch (err) {
    log.warn({ err }, 'the thread of the threat feeds cannot take the lowest priority')
  }
}
