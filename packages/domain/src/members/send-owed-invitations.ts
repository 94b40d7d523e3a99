import { OPERATOR } from '../access/caller.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'
import type { InvitationMailer } from './invitation-mailer.ts'
import type { OwedMail } from './invitation-store.ts'

/** Tries before the service gives up: with the back-off below the last one is about two days after the first. */
export const MAX_ATTEMPTS = 14

/** How long a process may take over one mail before another may try it, in milliseconds. */
export const LEASE = 5 * 60 * 1000

/** Mails that one process sends at the same time. */
const AT_ONCE = 4

/** Milliseconds to wait after the given number of failed tries: 30 s, doubled each time, 6 hours at most. */
export function backOff(attempts: number): number {
  return Math.min(30_000 * 2 ** (attempts - 1), 6 * 60 * 60 * 1000)
}

/** What became of one owed mail. */
export type Delivery = { id: number; attempts: number; outcome: 'sent' | 'postponed' | 'given_up'; error?: string }

/**
 * Sends the invitations that are due, a few at a time, until none is. Every mail is leased first, so that several
 * processes send each once; nothing is held open while a mail server is waited for.
 *
 * @param onDelivery told of each try, so that a failure is seen.
 */
export async function sendOwedInvitations(
  ports: Needs<'transact' | 'now'>,
  mailer: InvitationMailer,
  onDelivery: (delivery: Delivery) => void,
  mayGoOn: () => boolean = () => true,
): Promise<void> {
  while (mayGoOn()) {
    const now = ports.now()
    const leaseUntil = new Date(now.getTime() + LEASE).toISOString()
    const owed = await ports.transact((stores) => stores.invitations.leaseOwed(now.toISOString(), leaseUntil, AT_ONCE))
    if (owed.length === 0) return
    for (const delivery of await Promise.all(owed.map((mail) => deliver(ports, mailer, mail)))) onDelivery(delivery)
  }
}

async function deliver(ports: Needs<'transact' | 'now'>, mailer: InvitationMailer, mail: OwedMail): Promise<Delivery> {
  const { id, attempts } = mail
  try {
    // After a long outage: who gets a code that works no more is not helped by it.
    if (mail.expires_at <= ports.now().toISOString()) throw new Error('the invitation expired before it could be sent')
    await mailer.send(mail)
  } catch (cause) {
    const error = describe(cause, mail.code)
    const at = ports.now()
    if (attempts >= MAX_ATTEMPTS || mail.expires_at <= at.toISOString()) {
      await ports.transact(async (stores) => {
        const lost = await stores.invitations.giveUp(id, at.toISOString(), error)
        if (!lost) return
        const { organization, user } = lost
        const details = { attempts, error }
        await record(ports, stores, OPERATOR, { type: 'invitation.undeliverable', organization, record: user, details })
      })
      return { id, attempts, outcome: 'given_up', error }
    }
    const next = new Date(at.getTime() + backOff(attempts)).toISOString()
    await ports.transact((stores) => stores.invitations.postpone(id, next, error))
    return { id, attempts, outcome: 'postponed', error }
  }
  await ports.transact((stores) => stores.invitations.markSent(id, ports.now().toISOString()))
  return { id, attempts, outcome: 'sent' }
}

/** The error's own words, bounded, and without the code should a mail server quote it. */
function describe(cause: unknown, code: string): string {
  const text = cause instanceof Error ? cause.message : String(cause)
  return text.replaceAll(code, '[code]').slice(0, 500)
}
