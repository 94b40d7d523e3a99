import {
  addMember,
  backOff,
  createOrganization,
  type InvitationMail,
  type InvitationMailer,
  LEASE,
  MAX_ATTEMPTS,
  registerUser,
  renewInvitation,
} from '@security-management/domain'
import { type MemoryPorts, memoryPorts } from '@security-management/domain/memory'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startMailRelay } from '../src/mail-relay.ts'

const HOUR = 60 * 60 * 1000

let now: Date
let ports: MemoryPorts
let logged: Record<string, unknown>[]
let stops: ((patience: number) => Promise<void>)[]

const log = pino({ level: 'info', base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) })

beforeEach(() => {
  now = new Date('2025-05-01T10:00:00.000Z')
  ports = memoryPorts({ now: () => now })
  logged = []
  stops = []
})

afterEach(async () => {
  for (const stop of stops) await stop(0)
})

/** Starts a relay that looks every few milliseconds, and gives what was handed to its mailer. */
function relay(send: InvitationMailer['send'] = async () => {}, every = 5) {
  const mails: InvitationMail[] = []
  const mailer = {
    send(mail: InvitationMail) {
      mails.push(mail)
      return send(mail)
    },
  }
  const { stop } = startMailRelay(ports, mailer, log, every)
  stops.push(stop)
  return { mails, stop }
}

async function invite(email = 'anna@example.com'): Promise<{ user: string }> {
  const owner = (await ports.users.findByEmail('owner@example.com')) ?? (await registerOwner())
  const organization = await createOrganization(ports, { user: owner.id }, { name: 'Acme' })
  return addMember(ports, { user: owner.id }, { organization, user: '0' }, { email })
}

function registerOwner() {
  return registerUser(ports, { email: 'owner@example.com' })
}

function until(check: () => unknown): Promise<void> {
  return vi.waitFor(() => expect(check()).toBeTruthy(), { timeout: 5000, interval: 5 })
}

/** A database that cannot mark a mail as sent, so many times. */
function breakMarks(times: number): { left: number } {
  const marks = { left: times }
  const { transact } = ports
  ports.transact = (work) =>
    transact((stores) => {
      const markSent: typeof stores.invitations.markSent = async (id, at) => {
        marks.left -= 1
        if (marks.left >= 0) throw new Error('the database is gone')
        await stores.invitations.markSent(id, at)
      }
      return work({ ...stores, invitations: { ...stores.invitations, markSent } })
    })
  return marks
}

describe('the mail relay', () => {
  test('sends what was owed before it started', async () => {
    await invite()
    const { mails } = relay()
    await until(() => mails.length === 1)
    expect(mails).toMatchObject([{ to: 'anna@example.com', organization_name: 'Acme', role: 'viewer' }])
  })

  test('sends at once when an invitation is sent again', async () => {
    const { mails } = relay(undefined, HOUR)
    const { user } = await invite()
    await until(() => mails.length === 1)
    const owner = await ports.users.findByEmail('owner@example.com')
    const [organization] = await ports.members.organizationsOf(user, ['viewer'])
    await renewInvitation(ports, { user: owner?.id ?? '' }, { organization: organization ?? 0, user })
    await until(() => mails.length === 2)
    expect(mails[1]?.code).not.toBe(mails[0]?.code)
  })

  test('sends at once when a member is added, without waiting for its next look', async () => {
    const { mails } = relay(undefined, HOUR)
    await invite()
    await until(() => mails.length === 1)
    expect(mails).toHaveLength(1)
  })

  test('sends each mail once', async () => {
    const { mails } = relay()
    const other = relay()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await invite(`${name}@example.com`)
    await until(() => mails.length + other.mails.length >= 6)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const sent = [...mails, ...other.mails].map(({ to }) => to).sort()
    expect(sent).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}@example.com`))
  })

  test('tries again later what failed, with the same message, and says so without the code', async () => {
    await invite()
    let failures = 0
    const { mails } = relay(async ({ code }) => {
      failures += 1
      if (failures === 1) throw new Error(`550 no ${code} here`)
    })
    await until(() => logged.length === 1)
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(mails).toHaveLength(1)
    now = new Date(now.getTime() + backOff(1))
    await until(() => logged.length === 2)
    expect(mails).toHaveLength(2)
    expect(mails[1]).toMatchObject({ message_id: mails[0]?.message_id, code: mails[0]?.code })
    expect(logged).toMatchObject([
      { level: 40, attempts: 1, error: '550 no [code] here' },
      { level: 30, attempts: 2 },
    ])
    expect(JSON.stringify(logged)).not.toContain(mails[0]?.code)
  })

  test('gives up in the end, and says so as an error', async () => {
    await invite()
    const { mails } = relay(async () => {
      throw new Error('550 nobody here')
    })
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      await until(() => logged.length === attempt)
      now = new Date(now.getTime() + backOff(attempt))
    }
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(mails).toHaveLength(MAX_ATTEMPTS)
    expect(logged.at(-1)).toMatchObject({ level: 50, attempts: MAX_ATTEMPTS, error: '550 nobody here' })
    expect(ports.published.map(({ type }) => type)).toContain('invitation.undeliverable')
  })

  test('waits, when it is stopped, for the mail that is on its way, and sends no other', async () => {
    for (let person = 0; person < 10; person += 1) await invite(`p${person}@example.com`)
    let finish = () => {}
    const slow = new Promise<void>((resolve) => {
      finish = resolve
    })
    const { mails, stop } = relay(() => slow)
    await until(() => mails.length > 0)
    const sending = mails.length
    let stopped = false
    const stopping = stop(HOUR).then(() => {
      stopped = true
    })
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(stopped).toBe(false)
    finish()
    await stopping
    expect(mails).toHaveLength(sending)
    expect(logged.filter(({ msg }) => msg === 'invitation sent')).toHaveLength(sending)
  })

  test('goes on after the database could not answer', async () => {
    await invite()
    const { nextDue } = ports.invitations
    let asked = 0
    ports.invitations.nextDue = async () => {
      asked += 1
      if (asked === 1) throw new Error('the database is gone')
      return nextDue()
    }
    const { mails } = relay()
    await until(() => mails.length === 1)
    expect(logged[0]).toMatchObject({ level: 50, msg: 'the mail relay failed' })
  })

  test('marks again, before its next look, what was sent and could not be marked', async () => {
    breakMarks(3)
    const { mails } = relay(undefined, HOUR)
    await invite()
    await until(() => logged.some(({ msg }) => msg === 'invitation sent'))
    expect(logged.map(({ level, msg }) => [level, msg])).toEqual([
      [40, 'invitation sent, which cannot be marked yet'],
      ...Array(3).fill([50, 'the mail relay failed']),
      [30, 'invitation sent'],
    ])
    expect(mails).toHaveLength(1)
    expect(await ports.invitations.countOwed()).toBe(0)
  })

  test('sends nothing twice while the database fails for longer than a lease', async () => {
    const marks = breakMarks(Number.POSITIVE_INFINITY)
    const { mails } = relay()
    await invite()
    await until(() => mails.length === 1)
    now = new Date(now.getTime() + 2 * LEASE)
    const before = logged.length
    await until(() => logged.length > before + 5)
    marks.left = 0
    await until(() => logged.at(-1)?.msg === 'invitation sent')
    expect(mails).toHaveLength(1)
  })

  test('waits, when it is stopped, until what was sent is marked', async () => {
    const marks = breakMarks(Number.POSITIVE_INFINITY)
    const { mails, stop } = relay(undefined, HOUR)
    await invite()
    await until(() => logged.length > 1)
    const stopping = stop(HOUR)
    marks.left = 1
    await stopping
    expect(mails).toHaveLength(1)
    expect(await ports.invitations.countOwed()).toBe(0)
    expect(logged.at(-1)).toMatchObject({ level: 30, msg: 'invitation sent' })
  })

  test('waits for that no longer than it may, and says what will be sent again', async () => {
    breakMarks(Number.POSITIVE_INFINITY)
    const { stop } = relay(undefined, HOUR)
    await invite()
    await until(() => logged.length > 1)
    const [{ id }] = logged as [{ id: number }]
    await stop(10)
    const msg = 'invitations were sent and could not be marked, they will be sent again'
    expect(logged.at(-1)).toMatchObject({ level: 50, msg, ids: [id] })
  })
})
