import { describe, expect, test } from 'vitest'
import { NO_ID, ODD_TEXT, storeMember, storeOrganization } from '../contracts/builders.ts'
import { DomainError } from '../errors.ts'
import { removeOrganization } from '../organizations/remove-organization.ts'
import { asksFor, aWorld, expectRefused, happened, refusedPaths, type World } from '../testing/world.ts'
import { authenticate } from '../tokens/authenticate.ts'
import { listTokens } from '../tokens/list-tokens.ts'
import { newSecret } from '../tokens/secret.ts'
import { acceptInvitation, checkInvitation } from './accept-invitation.ts'
import { addMember } from './add-member.ts'
import { editMember } from './edit-member.ts'
import { INVITATION_CAPS } from './invitation.ts'
import type { InvitationMail } from './invitation-mailer.ts'
import { removeMember } from './remove-member.ts'
import { renewInvitation } from './renew-invitation.ts'
import {
  backOff,
  type Delivery,
  LEASE,
  MAX_ATTEMPTS,
  sendOwedInvitations,
  type UnmarkedMails,
} from './send-owed-invitations.ts'

/** A mailer that keeps what it sends. */
function aMailer(fail: (mail: InvitationMail) => unknown = () => undefined) {
  const sent: InvitationMail[] = []
  return {
    sent,
    async send(mail: InvitationMail) {
      const failure = fail(mail)
      if (failure !== undefined) throw failure
      sent.push(mail)
    },
  }
}

async function invite({ ports, as, organization }: World, email = 'new@example.com', role = 'viewer') {
  return addMember(ports, as.owner, { organization, user: '0' }, { email, role })
}

/** Runs one relay over everything that is due and returns what it did. */
async function relay({ ports }: World, mailer: ReturnType<typeof aMailer>, mayGoOn?: () => boolean) {
  const deliveries: Delivery[] = []
  await sendOwedInvitations(ports, mailer, new Map(), (delivery) => deliveries.push(delivery), mayGoOn)
  return deliveries
}

/** A relay whose database is out of order as often as one says: when a unit that has this method in it begins. */
function aRelay({ ports }: World, mailer: ReturnType<typeof aMailer>) {
  const deliveries: Delivery[] = []
  const unmarked: UnmarkedMails = new Map()
  const broken = { markSent: 0, postpone: 0, giveUp: 0 }
  const breaking: Pick<World['ports'], 'now' | 'transact'> = {
    now: ports.now,
    transact: (work) =>
      ports.transact((stores) => {
        const invitations = { ...stores.invitations }
        for (const name of ['markSent', 'postpone', 'giveUp'] as const) {
          if (broken[name] === 0) continue
          invitations[name] = async () => {
            broken[name] -= 1
            throw new DomainError('unavailable')
          }
        }
        return work({ ...stores, invitations })
      }),
  }
  return {
    broken,
    deliveries,
    run: () => sendOwedInvitations(breaking, mailer, unmarked, (delivery) => deliveries.push(delivery)),
  }
}

function later(world: World, milliseconds: number): void {
  world.clock.now = new Date(Date.parse(world.clock.now) + milliseconds).toISOString()
}

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR

describe('sending owed invitations', () => {
  test('each goes out once, and says what the person needs', async () => {
    const world = await aWorld()
    const mailer = aMailer()
    await invite(world, 'New@Example.com', 'security_officer')
    expect(await relay(world, mailer)).toMatchObject([{ outcome: 'sent', attempts: 1 }])
    expect(mailer.sent).toMatchObject([
      {
        to: 'New@Example.com',
        organization_name: 'Acme',
        role: 'security_officer',
        invited_by: 'Ada Rossi',
        locale: 'en',
        expires_at: '2026-03-08T12:00:00.000Z',
      },
    ])
    expect(mailer.sent[0]?.code).toMatch(/^smi_/)
    later(world, DAY)
    expect(await relay(world, mailer)).toEqual([])
    expect(mailer.sent).toHaveLength(1)
  })

  test('nothing is sent for an addition that failed', async () => {
    const world = await aWorld()
    const mailer = aMailer()
    await expectRefused(world, 'forbidden', () =>
      addMember(world.ports, world.as.viewer, { organization: world.organization, user: '0' }, { email: 'x@y.z' }),
    )
    expect(await relay(world, mailer)).toEqual([])
  })

  test('many are sent, a few at a time', async () => {
    const world = await aWorld()
    let atOnce = 0
    let most = 0
    const sent = new Set<string>()
    const mailer = {
      sent: [],
      async send({ to }: InvitationMail) {
        atOnce += 1
        most = Math.max(most, atOnce)
        await new Promise((resolve) => setImmediate(resolve))
        atOnce -= 1
        sent.add(to)
      },
    }
    for (let index = 0; index < 11; index += 1) await invite(world, `p${index}@example.com`)
    expect(await relay(world, mailer)).toHaveLength(11)
    expect(sent.size).toBe(11)
    expect(most).toBe(4)
  })

  test('two relays at once send each mail once', async () => {
    const world = await aWorld()
    const [one, two] = [aMailer(), aMailer()]
    for (let index = 0; index < 9; index += 1) await invite(world, `p${index}@example.com`)
    await Promise.all([relay(world, one), relay(world, two)])
    const codes = [...one.sent, ...two.sent].map(({ code }) => code)
    expect(codes).toHaveLength(9)
    expect(new Set(codes).size).toBe(9)
  })

  test('while one relay waits for its mail server, the mail is nobody else’s', async () => {
    const world = await aWorld()
    await invite(world)
    let release = () => {}
    const slow = {
      sent: [],
      send: () =>
        new Promise<void>((resolve) => {
          release = resolve
        }),
    }
    const first = relay(world, slow)
    await new Promise((resolve) => setImmediate(resolve))
    const other = aMailer()
    later(world, LEASE - 1)
    expect(await relay(world, other)).toEqual([])
    later(world, 1)
    expect(await relay(world, other)).toMatchObject([{ outcome: 'sent', attempts: 2 }])
    release()
    expect(await first).toMatchObject([{ outcome: 'sent', attempts: 1 }])
  })

  test('the server may go on with its work while a mail is under way', async () => {
    const world = await aWorld()
    await invite(world)
    const busy = {
      sent: [],
      send: async () => {
        await invite(world, 'second@example.com')
        throw new Error('busy')
      },
    }
    let rounds = 0
    await relay(world, busy, () => rounds++ < 1)
    expect(await world.ports.users.findByEmail('second@example.com')).toBeDefined()
  })

  test('a mail that fails is tried again, later and later, with the same message id', async () => {
    const world = await aWorld()
    await invite(world)
    const messageIds = new Set<string>()
    const failing = aMailer((mail) => {
      messageIds.add(mail.message_id)
      return new Error('450 try later')
    })
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect(await relay(world, failing)).toMatchObject([{ outcome: 'postponed', attempts: attempt }])
      later(world, backOff(attempt) - 1)
      expect(await relay(world, failing)).toEqual([])
      later(world, 1)
    }
    const working = aMailer((mail) => void messageIds.add(mail.message_id))
    expect(await relay(world, working)).toMatchObject([{ outcome: 'sent', attempts: 6 }])
    expect(messageIds.size).toBe(1)
  })

  test('the waits double from half a minute up to six hours', () => {
    expect([1, 2, 3, 10].map(backOff)).toEqual([30_000, 60_000, 120_000, 30_000 * 512])
    expect(backOff(11)).toBe(6 * HOUR)
    expect(backOff(MAX_ATTEMPTS)).toBe(6 * HOUR)
    const waits = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => backOff(index + 1))
    const total = waits.reduce((sum, wait) => sum + wait, 0)
    expect(total).toBeLessThan(7 * DAY)
  })

  test('one that expired before it could be sent is given up, and not mailed', async () => {
    const world = await aWorld()
    const mailer = aMailer()
    await invite(world)
    later(world, 7 * DAY)
    expect(await relay(world, mailer)).toMatchObject([{ outcome: 'given_up', attempts: 1 }])
    expect(mailer.sent).toEqual([])
    expect(happened(world, 'invitation.undeliverable')).toHaveLength(1)
  })

  test('one whose next try would come after it expired is given up when it expires', async () => {
    const world = await aWorld()
    await invite(world)
    later(world, 7 * DAY - 10_000)
    const failing = aMailer(() => new Error('450 try later'))
    expect(await relay(world, failing)).toMatchObject([{ outcome: 'postponed' }])
    later(world, 9_999)
    expect(await relay(world, failing)).toEqual([])
    later(world, 1)
    expect(await relay(world, failing)).toMatchObject([{ outcome: 'given_up', attempts: 2 }])
  })

  test('after the last try it is given up, and the audit trail says so', async () => {
    const world = await aWorld()
    const { user } = await invite(world)
    const failing = aMailer(() => new Error('550 no such user'))
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
      expect(await relay(world, failing)).toMatchObject([{ outcome: 'postponed' }])
      later(world, backOff(attempt))
    }
    expect(await relay(world, failing)).toMatchObject([
      { outcome: 'given_up', attempts: MAX_ATTEMPTS, error: '550 no such user' },
    ])
    expect(happened(world, 'invitation.undeliverable')).toMatchObject([
      {
        organization: world.organization,
        record: user,
        user_id: null,
        details: { attempts: MAX_ATTEMPTS, error: '550 no such user' },
      },
    ])
    later(world, DAY)
    expect(await relay(world, aMailer())).toEqual([])
    expect(await world.ports.invitations.nextDue()).toBeUndefined()
  })

  test('nobody is told of the loss of a mail to somebody who was removed during the last try', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const { user } = await invite(world)
    const failing = aMailer(() => new Error('no'))
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
      await relay(world, failing)
      later(world, backOff(attempt))
    }
    const removing = {
      sent: [],
      send: async () => {
        await removeMember(ports, as.owner, { organization, user })
        throw new Error('no')
      },
    }
    expect(await relay(world, removing)).toMatchObject([{ outcome: 'given_up' }])
    expect(happened(world, 'invitation.undeliverable')).toEqual([])
  })

  test('one mail that fails does not hold up the others', async () => {
    const world = await aWorld()
    for (const name of ['a', 'bad', 'c']) await invite(world, `${name}@example.com`)
    const mailer = aMailer(({ to }) => (to.startsWith('bad') ? new Error('no') : undefined))
    const deliveries = await relay(world, mailer)
    expect(deliveries.map(({ outcome }) => outcome).toSorted()).toEqual(['postponed', 'sent', 'sent'])
  })

  test('one that was taken while the database failed is not sent again, and is marked once that is possible', async () => {
    const world = await aWorld()
    const mailer = aMailer()
    await invite(world)
    const { run, broken, deliveries } = aRelay(world, mailer)
    broken.markSent = 1
    await expect(run()).rejects.toMatchObject({ code: 'unavailable' })
    expect(await world.ports.invitations.countOwed()).toBe(1)
    await run()
    expect(await world.ports.invitations.countOwed()).toBe(0)
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['unmarked', 'sent'])
    expect(mailer.sent).toHaveLength(1)
  })

  test('nor is it when the database fails for longer than the lease', async () => {
    const world = await aWorld()
    const mailer = aMailer()
    await invite(world)
    const { run, broken, deliveries } = aRelay(world, mailer)
    broken.markSent = Number.POSITIVE_INFINITY
    for (let minutes = 0; minutes < 60; minutes += 2) {
      await expect(run()).rejects.toMatchObject({ code: 'unavailable' })
      later(world, 2 * 60_000)
    }
    broken.markSent = 0
    await invite(world, 'second@example.com')
    await run()
    expect(mailer.sent.map(({ to }) => to)).toEqual(['new@example.com', 'second@example.com'])
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['unmarked', 'sent', 'sent'])
    expect(await world.ports.invitations.countOwed()).toBe(0)
  })

  test('a mail that cannot be marked does not hold up those that are sent with it, and all are told of', async () => {
    const world = await aWorld()
    const mailer = aMailer(({ to }) => (to.startsWith('bad') ? new Error('no') : undefined))
    for (const name of ['a', 'bad', 'c']) await invite(world, `${name}@example.com`)
    const slow = {
      sent: mailer.sent,
      async send(mail: InvitationMail) {
        // The first is taken, and fails to be marked, long before the others.
        if (!mail.to.startsWith('a')) for (let turn = 0; turn < 20; turn += 1) await world.ports.nextTurn()
        await mailer.send(mail)
      },
    }
    const { run, broken, deliveries } = aRelay(world, slow)
    broken.markSent = 1
    await expect(run()).rejects.toMatchObject({ code: 'unavailable' })
    expect(deliveries.map(({ outcome }) => outcome).toSorted()).toEqual(['postponed', 'sent', 'unmarked'])
    expect(mailer.sent).toHaveLength(2)
  })

  test.each([
    { what: 'postponed', method: 'postpone', attempts: 1 },
    { what: 'given up', method: 'giveUp', attempts: MAX_ATTEMPTS },
  ] as const)('one that cannot be $what is tried again when its lease has run out', async ({ method, attempts }) => {
    const world = await aWorld()
    await invite(world)
    const failing = aMailer(() => new Error('no'))
    for (let attempt = 1; attempt < attempts; attempt += 1) {
      await relay(world, failing)
      later(world, backOff(attempt))
    }
    const { run, broken, deliveries } = aRelay(world, failing)
    broken[method] = 1
    await expect(run()).rejects.toMatchObject({ code: 'unavailable' })
    expect(deliveries).toMatchObject([{ outcome: 'postponed', attempts, error: 'no' }])
    later(world, LEASE)
    expect(await relay(world, aMailer())).toMatchObject([{ outcome: 'sent', attempts: attempts + 1 }])
  })

  test('an error that quotes the code is kept without it, and not whole', async () => {
    const world = await aWorld()
    await invite(world)
    const mailer = aMailer(({ code }) => new Error(`refused: ${code} and ${code} ${'x'.repeat(10_000)}`))
    const [delivery] = await relay(world, mailer)
    expect(delivery?.error).toMatch(/^refused: \[code\] and \[code\] x+$/)
    expect(delivery?.error?.length).toBeLessThanOrEqual(500)
    expect(JSON.stringify(world.ports.published)).not.toContain('smi_')
  })

  test.each([['plain text'], [{ code: 'ECONNREFUSED' }], [null]])(
    'whatever is thrown, here %j, is a failed try',
    async (thrown) => {
      const world = await aWorld()
      await invite(world)
      expect(
        await relay(
          world,
          aMailer(() => thrown),
        ),
      ).toMatchObject([{ outcome: 'postponed', error: String(thrown) }])
    },
  )

  test('the code is forgotten once the mail is out', async () => {
    const world = await aWorld()
    const mailer = aMailer()
    await invite(world)
    const [{ id }] = (await relay(world, mailer)) as [Delivery]
    // Even a store that is asked to send it again has nothing to send.
    await world.ports.transact(({ invitations }) => invitations.postpone(id, '2020-01-01T00:00:00.000Z', ''))
    expect(await relay(world, mailer)).toEqual([])
  })

  test('who was removed meanwhile is not written to', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const { user } = await invite(world)
    await removeMember(ports, as.owner, { organization, user })
    const mailer = aMailer()
    expect(await relay(world, mailer)).toEqual([])
    await addMember(ports, as.owner, { organization, user }, {})
    await relay(world, mailer)
    expect(mailer.sent).toHaveLength(1)
  })

  test('nobody is written to on behalf of a removed organization', async () => {
    const world = await aWorld()
    await invite(world)
    await removeOrganization(world.ports, world.as.owner, world.organization)
    expect(await relay(world, aMailer())).toEqual([])
  })

  test('a role that changed meanwhile is the one the mail names', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const { user } = await invite(world)
    await editMember(ports, as.owner, { organization, user }, { role: 'owner' })
    const mailer = aMailer()
    await relay(world, mailer)
    expect(mailer.sent).toMatchObject([{ role: 'owner' }])
  })

  test('a relay that is told to stop leases nothing more', async () => {
    const world = await aWorld()
    for (let index = 0; index < 6; index += 1) await invite(world, `p${index}@example.com`)
    let rounds = 0
    expect(await relay(world, aMailer(), () => rounds++ < 1)).toHaveLength(4)
    expect(await relay(world, aMailer(), () => false)).toEqual([])
    expect(await relay(world, aMailer())).toHaveLength(2)
  })
})

describe('accepting an invitation', () => {
  async function invited(world: World) {
    const mailer = aMailer()
    const { user } = await invite(world)
    await relay(world, mailer)
    return { user, code: mailer.sent[0]?.code ?? '' }
  }

  test('gives the person their first token, and takes what they say of themselves', async () => {
    const world = await aWorld()
    const { ports } = world
    const { user, code } = await invited(world)
    await expect(checkInvitation(ports, code)).resolves.toBeUndefined()
    const acceptance = { first_name: ` ${ODD_TEXT} `, locale: 'it', token_name: ' laptop ' }
    const { token, ...answer } = await acceptInvitation(ports, code, acceptance)
    expect(answer).toEqual({ user })
    expect(token).toMatch(/^sms_[0-9A-Za-z]{49}$/)
    const narrowing = { access: 'full', organizations: null }
    expect(await authenticate(ports, token)).toMatchObject({ user, narrowing })
    expect(await listTokens(ports)).toMatchObject([{ user_id: user, name: 'laptop', expires_at: null }])
    expect(await ports.users.find(user)).toMatchObject({ first_name: ODD_TEXT.trim(), last_name: '', locale: 'it' })
    expect(happened(world, 'token.issued', 'invitation.accepted')).toMatchObject([
      { type: 'token.issued', user_id: user },
      { type: 'invitation.accepted', organization: world.organization, record: user },
    ])
    expect(JSON.stringify(ports.published)).not.toMatch(/sms_|smi_/)
  })

  test('works once', async () => {
    const world = await aWorld()
    const { code } = await invited(world)
    await acceptInvitation(world.ports, code, {})
    await expectRefused(world, 'unauthenticated', () => acceptInvitation(world.ports, code, {}))
    await expectRefused(world, 'unauthenticated', () => checkInvitation(world.ports, code))
  })

  test('of ten attempts at once one succeeds', async () => {
    const world = await aWorld()
    const { user, code } = await invited(world)
    const attempts = Array.from({ length: 10 }, () => acceptInvitation(world.ports, code, {}))
    const results = await Promise.allSettled(attempts)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await world.ports.tokens.list()).filter(({ user_id }) => user_id === user)).toHaveLength(1)
  })

  test('works for seven days and no longer', async () => {
    const world = await aWorld()
    const { code } = await invited(world)
    later(world, 7 * DAY - 1)
    await expect(checkInvitation(world.ports, code)).resolves.toBeUndefined()
    later(world, 1)
    await expectRefused(world, 'unauthenticated', () => acceptInvitation(world.ports, code, {}))
    await expectRefused(world, 'unauthenticated', () => checkInvitation(world.ports, code))
  })

  test('a body that does not fit does not use it up', async () => {
    const world = await aWorld()
    const { code } = await invited(world)
    const wrong = { first_name: 1, last_name: 'x'.repeat(256), locale: 'de', token_name: ' ' }
    expect(await refusedPaths(acceptInvitation(world.ports, code, wrong))).toEqual([
      'first_name',
      'last_name',
      'locale',
      'token_name',
    ])
    expect(await refusedPaths(acceptInvitation(world.ports, code, []))).toEqual([''])
    await expect(acceptInvitation(world.ports, code, {})).resolves.toBeDefined()
    expect(await listTokens(world.ports)).toMatchObject([{ name: 'invitation' }])
  })

  test('a role that changed meanwhile holds', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const { user, code } = await invited(world)
    await editMember(ports, as.owner, { organization, user }, { role: 'security_officer' })
    await acceptInvitation(ports, code, {})
    expect(await ports.members.roleOf(organization, user)).toBe('security_officer')
  })

  test('ends with the membership, and does not come back with a new one', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const { user, code } = await invited(world)
    await removeMember(ports, as.owner, { organization, user })
    await expectRefused(world, 'unauthenticated', () => acceptInvitation(ports, code, {}))
    await addMember(ports, as.owner, { organization, user }, {})
    await expectRefused(world, 'unauthenticated', () => acceptInvitation(ports, code, {}))
  })

  test('ends with the organization', async () => {
    const world = await aWorld()
    const { code } = await invited(world)
    await removeOrganization(world.ports, world.as.owner, world.organization)
    await expectRefused(world, 'unauthenticated', () => acceptInvitation(world.ports, code, {}))
  })

  test('a code that nobody was given, a token, and a mistyped code are refused', async () => {
    const world = await aWorld()
    const { ports } = world
    const { code } = await invited(world)
    const { token } = await acceptInvitation(ports, code, {})
    for (const wrong of ['', 'smi_', token, newSecret(ports, 'smi_'), code.replace(/.$/, '!'), ` ${code}`]) {
      await expectRefused(world, 'unauthenticated', () => acceptInvitation(ports, wrong, {}))
      await expectRefused(world, 'unauthenticated', () => checkInvitation(ports, wrong))
    }
  })
})

describe('sending an invitation again', () => {
  asksFor(
    'member.invite',
    async (world) => ({ organization: world.organization, user: (await invite(world)).user }),
    ({ ports }, caller, path) => renewInvitation(ports, caller, path),
    ({ as }) => ({ organization: NO_ID, user: as.viewer.user }),
  )

  test('replaces the code: the one of before works no more, the new one for seven days', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const mailer = aMailer()
    const { user } = await invite(world)
    await relay(world, mailer)
    later(world, 3 * DAY)
    expect(await renewInvitation(ports, as.owner, { organization, user })).toEqual({ organization, user })
    await relay(world, mailer)
    const [first, second] = mailer.sent
    expect(second).toMatchObject({ to: 'new@example.com', expires_at: '2026-03-11T12:00:00.000Z' })
    expect(second?.message_id).not.toBe(first?.message_id)
    await expectRefused(world, 'unauthenticated', () => acceptInvitation(ports, first?.code ?? '', {}))
    await expectRefused(world, 'unauthenticated', () => checkInvitation(ports, first?.code ?? ''))
    await expect(acceptInvitation(ports, second?.code ?? '', {})).resolves.toMatchObject({ user })
    expect(happened(world, 'invitation.renewed')).toMatchObject([
      { organization, record: user, user_id: as.owner.user },
    ])
  })

  test('brings a code that expired back to life, and a mail that is still owed goes out once', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const mailer = aMailer()
    const { user } = await invite(world)
    await renewInvitation(ports, as.owner, { organization, user })
    await relay(world, mailer)
    expect(mailer.sent).toHaveLength(1)
    later(world, 8 * DAY)
    await renewInvitation(ports, as.owner, { organization, user })
    await relay(world, mailer)
    expect(mailer.sent).toHaveLength(2)
    await expect(checkInvitation(ports, mailer.sent[1]?.code ?? '')).resolves.toBeUndefined()
  })

  test('is refused once the person has accepted, and to who was never invited', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const mailer = aMailer()
    const { user } = await invite(world)
    await relay(world, mailer)
    await acceptInvitation(ports, mailer.sent[0]?.code ?? '', {})
    for (const person of [user, as.viewer.user, as.owner.user]) {
      await expectRefused(world, 'conflict', () => renewInvitation(ports, as.owner, { organization, user: person }))
    }
    expect(await relay(world, mailer)).toEqual([])
  })

  test('finds no one who is no member', async () => {
    const world = await aWorld()
    const { ports, as, organization, stranger } = world
    const { user } = await invite(world)
    await removeMember(ports, as.owner, { organization, user })
    for (const person of [stranger.user, user, '0']) {
      await expectRefused(world, 'not_found', () => renewInvitation(ports, as.owner, { organization, user: person }))
    }
  })
})

describe('the caps on invitations', () => {
  const HOURLY = { limit: 2, period: HOUR }

  test('are these', () => {
    expect(INVITATION_CAPS).toEqual({
      actor: { limit: 100, period: HOUR },
      organization: { limit: 200, period: HOUR },
      recipient: { limit: 20, period: DAY },
    })
  })

  test('hold without a word: a person is invited twenty times a day, and not once more', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const { user } = await invite(world)
    const renew = () => renewInvitation(ports, as.owner, { organization, user })
    for (let count = 1; count < 20; count += 1) await renew()
    await expectRefused(world, 'too_many_requests', renew)
    later(world, DAY - 1)
    await expectRefused(world, 'too_many_requests', renew)
    later(world, 1)
    await expect(renew()).resolves.toBeDefined()
  })

  test('of one person hold over all organizations', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const second = await storeOrganization(ports)
    await ports.transact(({ members }) => members.insert({ organization: second, user: as.owner.user, role: 'owner' }))
    const add = (place: number, email: string, caller = as.owner) =>
      addMember(ports, caller, { organization: place, user: '0' }, { email }, { actor: HOURLY })
    await add(organization, 'a@example.com')
    await add(second, 'b@example.com')
    await expectRefused(world, 'too_many_requests', () => add(second, 'c@example.com'))
    const other = { user: (await storeMember(ports, second)).id }
    await expect(add(second, 'c@example.com', other)).resolves.toBeDefined()
  })

  test('of one organization hold for all of its owners', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const other = { user: (await storeMember(ports, organization)).id }
    const add = (caller: typeof other, email: string) =>
      addMember(ports, caller, { organization, user: '0' }, { email }, { organization: HOURLY })
    await add(as.owner, 'a@example.com')
    await add(other, 'b@example.com')
    await expectRefused(world, 'too_many_requests', () => add(other, 'c@example.com'))
  })

  test('of one address hold whoever invites it, and count what was removed and added again', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const second = await storeOrganization(ports)
    const other = { user: (await storeMember(ports, second)).id }
    const add = (caller: typeof other, place: number, email = 'new@example.com') =>
      addMember(ports, caller, { organization: place, user: '0' }, { email }, { recipient: HOURLY })
    const { user } = await add(as.owner, organization)
    await removeMember(ports, as.owner, { organization, user })
    await add(as.owner, organization)
    await expectRefused(world, 'too_many_requests', () => add(other, second, 'NEW@example.com'))
    await expect(add(other, second, 'another@example.com')).resolves.toBeDefined()
  })

  test('say when there is room again, and whoever they refuse leaves nothing behind', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const caps = { actor: HOURLY, recipient: { limit: 1, period: DAY } }
    const add = (email: string) => addMember(ports, as.owner, { organization, user: '0' }, { email }, caps)
    await add('a@example.com')
    later(world, 10 * 60 * 1000 + 1)
    const { user } = await add('b@example.com')
    await expect(add('c@example.com')).rejects.toMatchObject({ code: 'too_many_requests', retryAfter: 50 * 60 })
    expect(await ports.users.findByEmail('c@example.com')).toBeUndefined()
    // Both caps are reached: the longer wait is the one to tell of.
    const renewing = renewInvitation(ports, as.owner, { organization, user }, caps)
    await expect(renewing).rejects.toMatchObject({ retryAfter: 24 * 60 * 60 })
    later(world, 50 * 60 * 1000 - 2)
    await expect(add('c@example.com')).rejects.toMatchObject({ retryAfter: 1 })
    later(world, 1)
    await expect(add('c@example.com')).resolves.toBeDefined()
  })

  test('that refuse to send again leave the code of before as it is', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const mailer = aMailer()
    const { user } = await invite(world)
    await relay(world, mailer)
    const caps = { organization: { limit: 1, period: HOUR } }
    const renew = () => renewInvitation(ports, as.owner, { organization, user }, caps)
    await expectRefused(world, 'too_many_requests', renew)
    await expect(checkInvitation(ports, mailer.sent[0]?.code ?? '')).resolves.toBeUndefined()
  })
})
