import {
  type Delivery,
  type InvitationMailer,
  type Needs,
  sendOwedInvitations,
  subscribe,
} from '@security-management/domain'
import type { Log } from './log.ts'
import { type Repeating, repeat } from './repeat.ts'

/** How often to look for mails that other processes owe, or that are to be tried again, in milliseconds. */
const LOOK_EVERY = 5000

/** Without a sign of life for so long the relay is taken to be stuck, in milliseconds. */
const STUCK_AFTER = 5 * 60 * 1000

/**
 * Sends owed invitations in the background: at once when a member is invited here, and within seconds whatever else is
 * due. What is owed is in the database, so nothing is lost when this process ends.
 */
export function startMailRelay(
  ports: Needs<'transact' | 'now' | 'invitations' | 'bus'>,
  mailer: InvitationMailer,
  log: Log,
  every = LOOK_EVERY,
): Pick<Repeating, 'stop'> & { isWell(): boolean } {
  let stopped = false
  let failed = false
  let lastSign = performance.now()
  const fail = (err: unknown) => log.error({ err }, 'the mail relay failed')

  async function sendDue(): Promise<void> {
    const due = await ports.invitations.nextDue()
    if (due === undefined || due > ports.now().toISOString()) return
    await sendOwedInvitations(
      ports,
      mailer,
      (delivery) => {
        lastSign = performance.now()
        tell(log, delivery)
      },
      () => !stopped,
    )
  }

  async function look(): Promise<void> {
    lastSign = performance.now()
    try {
      await sendDue()
      failed = false
    } catch (error) {
      failed = true
      throw error
    }
  }

  const loop = repeat(look, every, fail)
  const unsubscribe = subscribe(ports.bus, ['member.added', 'invitation.renewed'], loop.wake, fail)
  return {
    isWell: () => !failed && performance.now() - lastSign < STUCK_AFTER,
    async stop() {
      stopped = true
      unsubscribe()
      await loop.stop()
    },
  }
}

function tell(log: Log, { outcome, ...delivery }: Delivery): void {
  if (outcome === 'sent') log.info(delivery, 'invitation sent')
  else if (outcome === 'postponed') log.warn(delivery, 'invitation could not be sent, it will be tried again')
  else log.error(delivery, 'invitation could not be sent, and will not be tried again')
}
