import { type Needs, tellDueEvidence } from '@security-management/domain'
import type { Log } from './log.ts'
import { type Repeating, repeat } from './repeat.ts'

const LOOK_EVERY = 10 * 60 * 1000

/** Tells people in the background of evidence that has fallen due. */
export function startDueEvidence(
  ports: Needs<'transact' | 'securityFrameworks' | 'now' | 'nextTurn'>,
  log: Log,
): Pick<Repeating, 'stop'> {
  async function look(): Promise<void> {
    const told = await tellDueEvidence(ports)
    if (told > 0) log.info({ told }, 'told of evidence that is due')
  }
  return repeat(look, LOOK_EVERY, (err) => log.error({ err }, 'looking for due evidence failed'))
}
