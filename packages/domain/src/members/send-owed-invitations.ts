import { OPERATOR } from '../access/caller.ts'
import { type EventType, record } from '../events.ts'
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

/** The events of what owes a mail: after each of them there is one to send. */
export const OWING_EVENTS = ['member.added', 'invitation.renewed'] as const satisfies readonly EventType[]

/**
 * What became of one owed mail. `unmarked`: the mail server took it, which could not be stored yet; it is told of again,
 * as `sent`, when it is.
 */
export type Delivery = {
  id: number
  attempts: number
  outcome: 'sent' | 'unmarked' | 'postponed' | 'given_up'
  error?: string
}

/**
 * Mails that a mail server took and that could not be marked as sent, by id: how many tries they took, and when it took
 * them. Each process keeps one of these from call to call, so that a mail is not sent again for want of its mark.
 */
export type UnmarkedMails = Map<number, { attempts: number; at: string }>

/**
 * Sends the invitations that are due, a few at a time, until none is. Every mail is leased first, so that several
 * processes send each once; nothing is held open while a mail server is waited for. What earlier calls left unmarked is
 * marked before anything is leased.
 *
 * @param unmarked what earlier calls left, and this one adds to.
 * @param onDelivery told of each try, so that a failure is seen.
 * @throws what a store threw, once all mails under way are told of.
 */
export async function sendOwedInvitations(
  ports: Needs<'transact' | 'now'>,
  mailer: InvitationMailer,
  unmarked: UnmarkedMails,
  onDelivery: (delivery: Delivery) => void,
  mayGoOn: () => boolean = () => true,
): Promise<void> {
  for (;;) {
    // First, so that what it leases is not among them: they are never sent again.
    await markSentInvitations(ports, unmarked, onDelivery)
    if (!mayGoOn()) return
    const now = ports.now()
    const leaseUntil = new Date(now.getTime() + LEASE).toISOString()
    const owed = await ports.transact((stores) => stores.invitations.leaseOwed(now.toISOString(), leaseUntil, AT_ONCE))
    if (owed.length === 0) return
    const results = await Promise.allSettled(owed.map((mail) => deliver(ports, mailer, unmarked, mail, onDelivery)))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
}

/**
 * Marks as sent what a mail server took and earlier calls could not mark.
 *
 * @throws what a store threw; what is not marked stays in `unmarked`.
 */
export async function markSentInvitations(
  ports: Needs<'transact'>,
  unmarked: UnmarkedMails,
  onDelivery: (delivery: Delivery) => void,
): Promise<void> {
  for (const [id, { attempts, at }] of unmarked) {
    await ports.transact((stores) => stores.invitations.markSent(id, at))
    if (unmarked.delete(id)) onDelivery({ id, attempts, outcome: 'sent' })
  }
}

async function deliver(
  ports: Needs<'transact' | 'now'>,
  mailer: InvitationMailer,
  unmarked: UnmarkedMails,
  mail: OwedMail,
  onDelivery: (delivery: Delivery) => void,
): Promise<void> {
  const { id, attempts } = mail
  try {
    // Who gets a code that works no more is not helped by it.
    if (mail.expires_at <= ports.now().toISOString()) throw new Error('the invitation expired before it could be sent')
    await mailer.send(mail)
  } catch (cause) {
    const error = describe(cause, mail.code)
    // What cannot be stored of it is tried again as well, when the lease has run out.
    let outcome: Delivery['outcome'] = 'postponed'
    try {
      outcome = await noteFailure(ports, mail, error)
    } finally {
      onDelivery({ id, attempts, outcome, error })
    }
    return
  }
  const at = ports.now().toISOString()
  try {
    await ports.transact((stores) => stores.invitations.markSent(id, at))
  } catch (cause) {
    unmarked.set(id, { attempts, at })
    onDelivery({ id, attempts, outcome: 'unmarked', error: describe(cause, mail.code) })
    throw cause
  }
  onDelivery({ id, attempts, outcome: 'sent' })
}

async function noteFailure(
  ports: Needs<'transact' | 'now'>,
  { id, attempts, expires_at }: OwedMail,
  error: string,
): Promise<'postponed' | 'given_up'> {
  const at = ports.now()
  if (attempts < MAX_ATTEMPTS && expires_at > at.toISOString()) {
    const next = new Date(Math.min(at.getTime() + backOff(attempts), Date.parse(expires_at))).toISOString()
    await ports.transact((stores) => stores.invitations.postpone(id, next, error))
    return 'postponed'
  }
  await ports.transact(async (stores) => {
    const lost = await stores.invitations.giveUp(id, at.toISOString(), error)
    if (!lost) return
    const { organization, user } = lost
    const details = { attempts, error }
    await record(ports, stores, OPERATOR, { type: 'invitation.undeliverable', organization, record: user, details })
  })
  return 'given_up'
}

/** The error's own words, bounded, and without the code should a mail server quote it. */
function describe(cause: unknown, code: string): string {
  const text = cause instanceof Error ? cause.message : String(cause)
  return text.replaceAll(code, '[code]').slice(0, 500)
}
