import type { Needs } from '@security-management/domain'
import type { Log } from './log.ts'

const DAY = 24 * 60 * 60 * 1000

/** Erases what uploads that never came to an end have left behind, once they are a day old. */
export async function sweepFiles(ports: Needs<'files' | 'now'>, log: Log): Promise<void> {
  try {
    const swept = await ports.files.sweep(new Date(ports.now().getTime() - DAY).toISOString())
    if (swept > 0) log.info({ swept }, 'erased files of unfinished uploads')
  } catch (err) {
    log.error({ err }, 'sweeping unfinished uploads failed')
  }
}
