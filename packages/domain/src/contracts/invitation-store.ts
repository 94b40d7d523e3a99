import { describe, expect, test } from 'vitest'
import type { NewInvitation } from '../members/invitation-store.ts'
import type { Ports } from '../ports.ts'
import {
  anInvitation,
  aSha256,
  NO_ID,
  ODD_TEXT,
  removeStoredOrganization,
  storeMember,
  storeOrganization,
} from './builders.ts'
import { NOW, type Open, openFresh, openOnce } from './opened.ts'
import { expectRolledBack, fulfilled, tenAtOnce } from './paging.ts'

const LATER = '2026-03-01T12:05:00.000Z'
const LATER_STILL = '2026-03-01T12:10:00.000Z'

export function invitationStoreContract(adapter: string, open: Open): void {
  describe(`InvitationStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function invite(ports: Ports, part: Partial<NewInvitation> = {}) {
      const organization = await storeOrganization(ports, { name: 'Acme' })
      const owner = await storeMember(ports, organization, 'owner', { first_name: 'Olga', last_name: 'Bianchi' })
      const person = await storeMember(ports, organization, 'viewer', { locale: 'it' })
      const invitation = anInvitation({ membership: person.membership, invited_by: owner.id, ...part })
      await ports.transact(({ invitations }) => invitations.insert(invitation))
      return { organization, owner, person, invitation }
    }
    async function lease(ports: Ports, now = NOW, until = LATER, limit = 100) {
      return ports.transact(({ invitations }) => invitations.leaseOwed(now, until, limit))
    }

    describe('using an invitation', () => {
      test('its code finds it until it expires', async () => {
        const { organization, person, invitation } = await invite(opened.ports)
        const { code_hash, expires_at } = invitation
        const { invitations } = opened.ports
        const usable = { id: expect.any(Number), organization, user: person.id }
        expect(await invitations.findUsable(code_hash, NOW)).toEqual(usable)
        expect(await invitations.findUsable(code_hash, '2026-03-08T11:59:59.999Z')).toEqual(usable)
        expect(await invitations.findUsable(code_hash, expires_at)).toBeUndefined()
        expect(await invitations.findUsable(code_hash, '2026-03-08T12:00:00.001Z')).toBeUndefined()
        expect(await invitations.findUsable(aSha256(), NOW)).toBeUndefined()
      })

      test('it can be used once', async () => {
        const { invitation } = await invite(opened.ports)
        const { id = 0 } = (await opened.ports.invitations.findUsable(invitation.code_hash, NOW)) ?? {}
        expect(await opened.ports.transact(({ invitations }) => invitations.use(id, NOW))).toBe(true)
        expect(await opened.ports.transact(({ invitations }) => invitations.use(id, NOW))).toBe(false)
        expect(await opened.ports.invitations.findUsable(invitation.code_hash, NOW)).toBeUndefined()
        expect(await opened.ports.transact(({ invitations }) => invitations.use(NO_ID, NOW))).toBe(false)
      })

      test('it ends with the membership', async () => {
        const { organization, person, invitation } = await invite(opened.ports)
        await opened.ports.transact(({ members }) => members.remove(organization, person.id, NOW))
        expect(await opened.ports.invitations.findUsable(invitation.code_hash, NOW)).toBeUndefined()
        await opened.ports.transact(({ members }) => members.insert({ organization, user: person.id, role: 'viewer' }))
        expect(await opened.ports.invitations.findUsable(invitation.code_hash, NOW)).toBeUndefined()
      })

      test('it ends with the organization', async () => {
        const { organization, invitation } = await invite(opened.ports)
        await removeStoredOrganization(opened.ports, organization)
        expect(await opened.ports.invitations.findUsable(invitation.code_hash, NOW)).toBeUndefined()
      })

      test('ten uses at once: exactly one wins', async () => {
        const { invitation } = await invite(opened.ports)
        const { id = 0 } = (await opened.ports.invitations.findUsable(invitation.code_hash, NOW)) ?? {}
        const results = await tenAtOnce(() => opened.ports.transact(({ invitations }) => invitations.use(id, NOW)))
        expect(fulfilled(results).filter(Boolean)).toHaveLength(1)
        expect(fulfilled(results)).toHaveLength(10)
      })

      test('nothing is kept of a unit of work that fails', async () => {
        const { invitation } = await invite(opened.ports)
        const usable = () => opened.ports.invitations.findUsable(invitation.code_hash, NOW)
        const { id = 0 } = (await usable()) ?? {}
        await expectRolledBack(opened.ports, ({ invitations }) => invitations.use(id, NOW), usable)
      })
    })

    describe('sending the mail', () => {
      test('a leased mail says everything as of now', async () => {
        await openFresh(open, async (ports) => {
          const { organization, owner, person, invitation } = await invite(ports)
          await ports.transact(async ({ organizations, members, users }) => {
            await organizations.update(organization, { name: ODD_TEXT })
            await members.setRole(organization, person.id, 'security_officer')
            await users.update(person.id, { first_name: ODD_TEXT })
            await users.update(owner.id, { last_name: 'Verdi' })
          })
          expect(await lease(ports)).toEqual([
            {
              id: expect.any(Number),
              attempts: 1,
              message_id: invitation.message_id,
              to: person.email,
              first_name: ODD_TEXT,
              locale: 'it',
              organization_name: ODD_TEXT,
              role: 'security_officer',
              invited_by: 'Olga Verdi',
              code: invitation.code,
              expires_at: invitation.expires_at,
            },
          ])
        })
      })

      test('an inviter without a name is called by address, one with half a name by that', async () => {
        await openFresh(open, async (ports) => {
          const { owner } = await invite(ports)
          await ports.transact(({ users }) => users.update(owner.id, { first_name: '', last_name: '' }))
          expect((await lease(ports)).map(({ invited_by }) => invited_by)).toEqual([owner.email])
          await ports.transact(({ users }) => users.update(owner.id, { last_name: 'Bianchi' }))
          expect((await lease(ports, LATER, LATER_STILL)).map(({ invited_by }) => invited_by)).toEqual(['Bianchi'])
        })
      })

      test('a mail is leased to one at a time, and again when the lease has run out', async () => {
        await openFresh(open, async (ports) => {
          expect(await ports.invitations.nextDue()).toBeUndefined()
          expect(await lease(ports)).toEqual([])
          await invite(ports)
          expect(await ports.invitations.nextDue()).toBe(NOW)
          expect(await lease(ports, '2026-03-01T11:59:59.999Z')).toEqual([])
          expect((await lease(ports)).map(({ attempts }) => attempts)).toEqual([1])
          expect(await lease(ports)).toEqual([])
          expect(await lease(ports, '2026-03-01T12:04:59.999Z')).toEqual([])
          expect(await ports.invitations.nextDue()).toBe(LATER)
          expect((await lease(ports, LATER, LATER_STILL)).map(({ attempts }) => attempts)).toEqual([2])
        })
      })

      test('the mails that are due longest go first, as many as asked for', async () => {
        await openFresh(open, async (ports) => {
          const { invitation: second } = await invite(ports, { created_at: '2026-03-01T11:02:00.000Z' })
          const { invitation: first } = await invite(ports, { created_at: '2026-03-01T11:01:00.000Z' })
          const { invitation: third } = await invite(ports, { created_at: '2026-03-01T11:03:00.000Z' })
          expect(await ports.invitations.nextDue()).toBe('2026-03-01T11:01:00.000Z')
          const codes = async (limit: number) => (await lease(ports, NOW, LATER, limit)).map(({ code }) => code)
          expect(await codes(0)).toEqual([])
          expect(new Set(await codes(2))).toEqual(new Set([first.code, second.code]))
          expect(await codes(2)).toEqual([third.code])
        })
      })

      test('a mail that was sent is owed no more, and its invitation can be used', async () => {
        await openFresh(open, async (ports) => {
          const { invitation } = await invite(ports)
          const [mail] = await lease(ports)
          await ports.transact(({ invitations }) => invitations.markSent(mail?.id ?? 0, NOW))
          expect(await ports.invitations.nextDue()).toBeUndefined()
          expect(await lease(ports, LATER, LATER_STILL)).toEqual([])
          expect(await ports.invitations.findUsable(invitation.code_hash, NOW)).toBeDefined()
          expect(
            await ports.transact(({ invitations }) => invitations.giveUp(mail?.id ?? 0, NOW, 'no')),
          ).toBeUndefined()
        })
      })

      test('a mail whose try failed is due again at the time that was said', async () => {
        await openFresh(open, async (ports) => {
          await invite(ports)
          const [mail] = await lease(ports)
          await ports.transact(({ invitations }) =>
            invitations.postpone(mail?.id ?? 0, '2026-03-01T12:00:30.000Z', ODD_TEXT),
          )
          expect(await ports.invitations.nextDue()).toBe('2026-03-01T12:00:30.000Z')
          expect(await lease(ports)).toEqual([])
          expect((await lease(ports, '2026-03-01T12:00:30.000Z')).map(({ attempts }) => attempts)).toEqual([2])
        })
      })

      test('a mail that was given up is owed no more, once', async () => {
        await openFresh(open, async (ports) => {
          const { organization, person, invitation } = await invite(ports)
          const [mail] = await lease(ports)
          const giveUp = () => ports.transact(({ invitations }) => invitations.giveUp(mail?.id ?? 0, NOW, ODD_TEXT))
          expect(await giveUp()).toEqual({ organization, user: person.id })
          expect(await giveUp()).toBeUndefined()
          expect(await ports.invitations.nextDue()).toBeUndefined()
          expect(await lease(ports, LATER, LATER_STILL)).toEqual([])
          expect(await ports.invitations.findUsable(invitation.code_hash, NOW)).toBeDefined()
        })
      })

      test('nothing is owed to who is no member any more, nor in the name of a removed organization', async () => {
        await openFresh(open, async (ports) => {
          const { organization, person } = await invite(ports)
          const { organization: removed } = await invite(ports)
          await ports.transact(({ members }) => members.remove(organization, person.id, NOW))
          await removeStoredOrganization(ports, removed)
          expect(await ports.invitations.nextDue()).toBeUndefined()
          expect(await lease(ports)).toEqual([])
        })
      })

      test('of ten mails, several that lease at once get each one once', async () => {
        await openFresh(open, async (ports) => {
          for (let count = 0; count < 10; count += 1) await invite(ports)
          const results = await tenAtOnce(() => lease(ports, NOW, LATER, 3))
          const mails = fulfilled(results).flat()
          expect(results.every(({ status }) => status === 'fulfilled')).toBe(true)
          // A store may pass over mails that another unit is looking at; nobody may get one twice.
          expect(new Set(mails.map(({ id }) => id)).size).toBe(mails.length)
          expect(mails.length).toBeGreaterThan(0)
          const rest = await lease(ports)
          expect(new Set([...mails, ...rest].map(({ code }) => code)).size).toBe(10)
          expect(mails.length + rest.length).toBe(10)
        })
      })

      test('a lease is not kept when its unit fails', async () => {
        await openFresh(open, async (ports) => {
          await invite(ports)
          await expectRolledBack(
            ports,
            ({ invitations }) => invitations.leaseOwed(NOW, LATER, 1),
            () => ports.invitations.nextDue(),
          )
          expect((await lease(ports)).map(({ attempts }) => attempts)).toEqual([1])
        })
      })
    })
  })
}
