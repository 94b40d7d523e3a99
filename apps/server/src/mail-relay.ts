import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Delivery,
  type InvitationMailer,
  markSentInvitations,
  type Needs,
  OWING_EVENTS,
  sendOwedInvitations,
  subscribe,
  type UnmarkedMails,
} from '@security-management/domain'
import type { Log } from './log.ts'
import { repeat } from './repeat.ts'

/** How often to look for mails that other processes owe, or that are to be tried again, in milliseconds. */
const LOOK_EVERY = 5000

/** Without a sign of life for so long the relay is taken to be stuck, in milliseconds. */
const STUCK_AFTER = 5 * 60 * 1000

/** The first wait before a mail that was sent is marked again, doubled each time up to the next look, in milliseconds. */
const FIRST_WAIT = 100

/**
 * Sends owed invitations in the background: at once when a member is invited here, or by a worker of this process, and
 * within seconds whatever else is due. What is owed is in the database, so nothing is lost when this process ends. What
 * was sent and cannot be marked so is in its memory only: `stop` waits for that as well, for so many milliseconds.
 */
export function startMailRelay(
  ports: Needs<'transact' | 'now' | 'invitations' | 'bus'>,
  mailer: InvitationMailer,
  log: Log,
  every = LOOK_EVERY,
): { isWell(): boolean; stop(patience: number): Promise<void> } {
  const unmarked: UnmarkedMails = new Map()
  let wait = FIRST_WAIT
  let soon: NodeJS.Timeout | undefined
  let stopped = false
  let failed = false
  let lastSign = performance.now()
  const fail = (err: unknown) => log.error({ err }, 'the mail relay failed')

  const onDelivery = (delivery: Delivery) => {
    lastSign = performance.now()
    tell(log, delivery)
  }

  async function sendDue(): Promise<void> {
    await markSentInvitations(ports, unmarked, onDelivery)
    const due = await ports.invitations.nextDue()
    if (due === undefined || due > ports.now().toISOString()) return
    await sendOwedInvitations(ports, mailer, unmarked, onDelivery, () => !stopped)
  }

  async function look(): Promise<void> {
    lastSign = performance.now()
    clearTimeout(soon)
    try {
      await sendDue()
      failed = false
      wait = FIRST_WAIT
    } catch (error) {
      failed = true
      if (unmarked.size > 0 && wait < every) {
        soon = setTimeout(loop.wake, wait)
        wait *= 2
      }
      throw error
    }
  }

  const loop = repeat(look, every, fail)
  const unsubscribe = subscribe(ports.bus, OWING_EVENTS, loop.wake, fail)
  return {
    isWell: () => !failed && performance.now() - lastSign < STUCK_AFTER,
    async stop(patience) {
      const deadline = performance.now() + patience
      stopped = true
      unsubscribe()
      await loop.stop()
      clearTimeout(soon)
      for (let wait = FIRST_WAIT; unmarked.size > 0 && performance.now() < deadline; wait *= 2) {
        await sleep(Math.min(wait, Math.max(0, deadline - performance.now())))
        await markSentInvitations(ports, unmarked, onDelivery).catch(fail)
      }
      const ids = [...unmarked.keys()]
      if (ids.length > 0) log.error({ ids }, 'invitations were sent and could not be marked, they will be sent again')
    },
  }
}

function tell(log: Log, { outcome, ...delivery }: Delivery): void {
  if (outcome === 'sent') log.info(delivery, 'invitation sent')
  else if (outcome === 'unmarked') log.warn(delivery, 'invitation sent, which cannot be marked yet')
  else if (outcome === 'postponed') log.warn(delivery, 'invitation could not be sent, it will be tried again')
  else log.error(delivery, 'invitation could not be sent, and will not be tried again')
}
