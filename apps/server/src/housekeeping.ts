import { forgetAnswers, type Needs } from '@security-management/domain'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import { type Repeating, repeat } from './repeat.ts'

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR

/** Longest time that anything is counted for a limit. */
const LONGEST_COUNT = 2 * HOUR

/**
 * Erases in the background, every hour, what nothing needs any more: answers that are no longer kept, expired codes
 * whose mails never go out, counts of limits, the bytes of traffic files that were kept as long as the configuration says,
 * and, once they are a day old, what uploads that never came to an end left behind.
 */
export function startHousekeeping(
  { TRAFFIC_RETENTION }: Pick<Config, 'TRAFFIC_RETENTION'>,
  ports: Needs<'transact' | 'files' | 'now'>,
  log: Log,
): Repeating {
  async function clean(): Promise<void> {
    const ago = (milliseconds: number) => new Date(ports.now().getTime() - milliseconds).toISOString()
    await forgetAnswers(ports)
    await ports.transact((stores) => stores.invitations.forgetExpiredCodes(ports.now().toISOString()))
    await ports.transact((stores) => stores.counters.forget(ports.now().getTime() - LONGEST_COUNT))
    await ports.transact((stores) => stores.traffic.forgetRaw(ago(TRAFFIC_RETENTION)))
    const erased = await ports.files.sweep(ago(DAY))
    if (erased > 0) log.info({ erased }, 'erased files that nothing needs')
  }
  return repeat(clean, HOUR, (err) => log.error({ err }, 'erasing files that nothing needs failed'))
}
