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

/**
 * Sends owed invitations in the background: at once when a member is added here, and within seconds whatever else is
 * due. What is owed is in the database, so nothing is lost when this process ends.
 */
export function startMailRelay(
  ports: Needs<'transact' | 'now' | 'invitations' | 'bus'>,
  mailer: InvitationMailer,
  log: Log,
  every = LOOK_EVERY,
): Pick<Repeating, 'stop'> {
  let stopped = false
  const fail = (err: unknown) => log.error({ err }, 'the mail relay failed')

  async function sendDue(): Promise<void> {
    const due = await ports.invitations.nextDue()
    if (due === undefined || due > ports.now().toISOString()) return
    await sendOwedInvitations(
      ports,
      mailer,
      (delivery) => tell(log, delivery),
      () => !stopped,
    )
  }

  const loop = repeat(sendDue, every, fail)
  const unsubscribe = subscribe(ports.bus, ['member.added'], loop.wake, fail)
  return {
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
