import { describe, expect, test } from 'vitest'
import { addMember } from '../members/add-member.ts'
import { NO_INVITATION_CAPS } from '../members/invitation.ts'
import type { NewInvitation } from '../members/invitation-store.ts'
import { removeMember } from '../members/remove-member.ts'
import { renewInvitation } from '../members/renew-invitation.ts'
import { removeOrganization } from '../organizations/remove-organization.ts'
import type { Ports } from '../ports.ts'
import {
  anInvitation,
  aSha256,
  NO_ID,
  ODD_TEXT,
  removeStoredOrganization,
  storeMember,
  storeOrganization,
  storeUser,
} from './builders.ts'
import { NOW, type Open, openFresh, openOnce } from './opened.ts'
import { expectRolledBack, fulfilled, tenAtOnce } from './paging.ts'

const LATER = '2026-03-01T12:05:00.000Z'
const LATER_STILL = '2026-03-01T12:10:00.000Z'

/** The suite that every adapter of `InvitationStore` must pass. `open` gives empty stores, new at every call. */
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

      test('once replaced it cannot be used, and is not replaced again', async () => {
        const { person, invitation } = await invite(opened.ports)
        const { id = 0 } = (await opened.ports.invitations.findUsable(invitation.code_hash, NOW)) ?? {}
        const replace = (membership: number) =>
          opened.ports.transact(({ invitations }) => invitations.replace(membership, NOW))
        expect(await replace(NO_ID)).toBe(false)
        expect(await replace(person.membership)).toBe(true)
        expect(await opened.ports.invitations.findUsable(invitation.code_hash, NOW)).toBeUndefined()
        expect(await opened.ports.transact(({ invitations }) => invitations.use(id, NOW))).toBe(false)
        expect(await replace(person.membership)).toBe(false)
      })

      test('one that was used is not replaced, one that expired is', async () => {
        const { transact, invitations } = opened.ports
        const { person: used, invitation } = await invite(opened.ports)
        const { id = 0 } = (await invitations.findUsable(invitation.code_hash, NOW)) ?? {}
        await transact((stores) => stores.invitations.use(id, NOW))
        expect(await transact((stores) => stores.invitations.replace(used.membership, NOW))).toBe(false)
        const { person: late } = await invite(opened.ports, { expires_at: '2026-02-01T00:00:00.000Z' })
        expect(await transact((stores) => stores.invitations.replace(late.membership, NOW))).toBe(true)
      })

      test('ten replacements at once: exactly one wins; and of a use and a replacement exactly one', async () => {
        const { person } = await invite(opened.ports)
        const replace = (membership: number) =>
          opened.ports.transact(({ invitations }) => invitations.replace(membership, NOW))
        const results = await tenAtOnce(() => replace(person.membership))
        expect(fulfilled(results).filter(Boolean)).toHaveLength(1)
        expect(fulfilled(results)).toHaveLength(10)
        for (let round = 0; round < 5; round += 1) {
          const { person, invitation } = await invite(opened.ports)
          const { id = 0 } = (await opened.ports.invitations.findUsable(invitation.code_hash, NOW)) ?? {}
          const both = await Promise.all([
            opened.ports.transact(({ invitations }) => invitations.use(id, NOW)),
            replace(person.membership),
          ])
          expect(both.filter(Boolean)).toHaveLength(1)
        }
      })

      test('sending one again ten times at once leaves one code that works', async () => {
        await openFresh(open, async (ports) => {
          const { organization, owner, person } = await invite(ports)
          const path = { organization, user: person.id }
          const results = await tenAtOnce(() => renewInvitation(ports, { user: owner.id }, path))
          expect(fulfilled(results)).toEqual(Array(10).fill(path))
          expect(await lease(ports)).toHaveLength(1)
        })
      })

      test('nothing is kept of a unit of work that fails', async () => {
        const { person, invitation } = await invite(opened.ports)
        const usable = () => opened.ports.invitations.findUsable(invitation.code_hash, NOW)
        const { id = 0 } = (await usable()) ?? {}
        await expectRolledBack(opened.ports, ({ invitations }) => invitations.use(id, NOW), usable)
        await expectRolledBack(opened.ports, ({ invitations }) => invitations.replace(person.membership, NOW), usable)
      })
    })

    describe('counting', () => {
      const EARLY = '2026-03-01T11:00:00.000Z'
      const MIDDLE = '2026-03-01T11:30:00.000Z'

      test('says when the nth newest was made, by who invites, for which organization, and who is invited', async () => {
        const { organization, owner, person } = await invite(opened.ports, { created_at: MIDDLE })
        const nth = opened.ports.invitations.nthNewest
        const since = '2026-03-01T10:00:00.000Z'
        const again = anInvitation({ membership: person.membership, invited_by: owner.id, created_at: EARLY })
        await opened.ports.transact(({ invitations }) => invitations.insert(again))
        // Somebody else's, which counts for none of them.
        await invite(opened.ports)
        for (const by of [{ actor: owner.id }, { organization }, { recipient: person.id }]) {
          expect(await nth(by, 1, since)).toBe(MIDDLE)
          expect(await nth(by, 2, since)).toBe(EARLY)
          expect(await nth(by, 3, since)).toBeUndefined()
          expect(await nth(by, 2, EARLY)).toBeUndefined()
        }
        expect(await nth({ actor: owner.id, recipient: owner.id }, 1, since)).toBeUndefined()
        expect(await nth({ actor: person.id }, 1, since)).toBeUndefined()
      })

      test('leaves none out: used, replaced, expired, of removed members and organizations', async () => {
        const { organization, owner, person, invitation } = await invite(opened.ports, { expires_at: EARLY })
        await opened.ports.transact(async ({ invitations, members, organizations }) => {
          await invitations.replace(person.membership, NOW)
          await members.remove(organization, person.id, NOW)
          await organizations.remove(organization, NOW)
        })
        for (const by of [{ actor: owner.id }, { organization }, { recipient: person.id }]) {
          expect(await opened.ports.invitations.nthNewest(by, 1, EARLY)).toBe(invitation.created_at)
        }
      })

      /** Ten owners, of one organization or of one each. */
      async function tenOwners(ports: Ports, { together }: { together: boolean }) {
        const first = await storeOrganization(ports)
        const places: { organization: number; owner: string }[] = []
        for (let count = 0; count < 10; count += 1) {
          const organization = together ? first : await storeOrganization(ports)
          places.push({ organization, owner: (await storeMember(ports, organization)).id })
        }
        return places
      }
      /** One owner of ten organizations. */
      async function oneOwner(ports: Ports) {
        const { id: owner } = await storeUser(ports)
        const places: { organization: number; owner: string }[] = []
        for (let count = 0; count < 10; count += 1) {
          const organization = await storeOrganization(ports)
          await ports.transact(({ members }) => members.insert({ organization, user: owner, role: 'owner' }))
          places.push({ organization, owner })
        }
        return places
      }

      const edges = [
        { cap: 'actor', arrange: oneOwner, registered: 3 },
        { cap: 'organization', arrange: (ports: Ports) => tenOwners(ports, { together: true }), registered: 3 },
        { cap: 'recipient', arrange: (ports: Ports) => tenOwners(ports, { together: false }), registered: 1 },
      ] as const

      test.each(edges)(
        'of ten invitations at once at the cap of one $cap none is too many, and nothing is kept of those',
        async (edge) => {
          await openFresh(open, async (ports) => {
            const places = await edge.arrange(ports)
            const before = (await ports.users.list()).length
            const results = await tenAtOnce((index) => {
              const { organization, owner } = places[index] ?? { organization: 0, owner: '' }
              const one = index % 2 ? 'one@example.com' : 'ONE@example.com'
              const email = edge.cap === 'recipient' ? one : `p${index}@example.com`
              const caps = { [edge.cap]: { limit: 3, period: 60 * 60 * 1000 } }
              return addMember(ports, { user: owner }, { organization, user: '0' }, { email }, caps)
            })
            expect(fulfilled(results)).toHaveLength(3)
            for (const result of results) {
              if (result.status === 'fulfilled') continue
              expect(result.reason).toMatchObject({ code: 'too_many_requests', retryAfter: 3600 })
            }
            expect(await lease(ports)).toHaveLength(3)
            expect((await ports.users.list()).length - before).toBe(edge.registered)
          })
        },
      )

      test('ten at once where no cap is kept: all of them', async () => {
        await openFresh(open, async (ports) => {
          const places = await oneOwner(ports)
          const results = await tenAtOnce((index) => {
            const { organization, owner } = places[index] ?? { organization: 0, owner: '' }
            const path = { organization, user: '0' }
            return addMember(ports, { user: owner }, path, { email: `p${index}@example.com` }, NO_INVITATION_CAPS)
          })
          expect(fulfilled(results)).toHaveLength(10)
        })
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

      test('a mail whose invitation was replaced is owed no more, also when it is under way', async () => {
        await openFresh(open, async (ports) => {
          const { person } = await invite(ports)
          const [mail] = await lease(ports)
          await ports.transact(({ invitations }) => invitations.replace(person.membership, NOW))
          expect(await ports.invitations.nextDue()).toBeUndefined()
          await ports.transact(({ invitations }) => invitations.postpone(mail?.id ?? 0, NOW, 'no'))
          expect(await lease(ports, LATER, LATER_STILL)).toEqual([])
          const lost = await ports.transact(({ invitations }) => invitations.giveUp(mail?.id ?? 0, NOW, 'no'))
          expect(lost).toBeUndefined()
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

      test('what is owed is counted, leased or not, until it is sent, given up, or nobody is a member any more', async () => {
        await openFresh(open, async (ports) => {
          const count = () => ports.invitations.countOwed()
          expect(await count()).toBe(0)
          await invite(ports)
          await invite(ports)
          const { organization, person } = await invite(ports)
          expect(await count()).toBe(3)
          const [first, second] = await lease(ports)
          expect(await count()).toBe(3)
          await ports.transact(({ invitations }) => invitations.markSent(first?.id ?? 0, NOW))
          expect(await count()).toBe(2)
          await ports.transact(({ invitations }) => invitations.giveUp(second?.id ?? 0, NOW, 'no'))
          expect(await count()).toBe(1)
          await ports.transact(({ members }) => members.remove(organization, person.id, NOW))
          expect(await count()).toBe(0)
        })
      })

      /** How many mails are owed once whatever was removed is restored: of those whose codes are still there. */
      async function codesLeft(ports: Ports): Promise<number> {
        for (const kind of ['organization', 'member'] as const) {
          const removed = await ports.removedRecords.list(kind, { after: 0, limit: 100 })
          for (const { id } of removed) await ports.transact((stores) => stores.removedRecords.restore(kind, id))
        }
        return ports.invitations.countOwed()
      }

      test('what was used is owed no more, also while its mail is under way', async () => {
        await openFresh(open, async (ports) => {
          const { invitation } = await invite(ports)
          await lease(ports)
          const { id = 0 } = (await ports.invitations.findUsable(invitation.code_hash, NOW)) ?? {}
          await ports.transact(({ invitations }) => invitations.use(id, NOW))
          expect(await ports.invitations.countOwed()).toBe(0)
          expect(await ports.transact(({ invitations }) => invitations.giveUp(id, NOW, 'no'))).toBeUndefined()
        })
      })

      test('codes are forgotten of one person in an organization, and of all', async () => {
        await openFresh(open, async (ports) => {
          const { organization, owner, person, invitation } = await invite(ports)
          const other = await storeMember(ports, organization)
          const another = anInvitation({ membership: other.membership, invited_by: owner.id })
          await ports.transact(({ invitations }) => invitations.insert(another))
          const elsewhere = await invite(ports)
          const forget = (of: number, user?: string) =>
            ports.transact(({ invitations }) => invitations.forgetCodes(of, user))
          const codes = async (from: string, until: string) => (await lease(ports, from, until)).map(({ code }) => code)
          await forget(elsewhere.organization, person.id)
          expect(await ports.invitations.countOwed()).toBe(3)
          await forget(organization, person.id)
          expect(new Set(await codes(NOW, LATER))).toEqual(new Set([another.code, elsewhere.invitation.code]))
          await forget(organization)
          expect(await codes(LATER, LATER_STILL)).toEqual([elsewhere.invitation.code])
          // What was sent already can be used all the same.
          expect(await ports.invitations.findUsable(invitation.code_hash, NOW)).toBeDefined()
        })
      })

      test('the codes of a member, and of an organization, that are removed are gone for good; a new one can be sent', async () => {
        await openFresh(open, async (ports) => {
          const { organization, owner, person } = await invite(ports)
          const other = await invite(ports)
          await removeMember(ports, { user: owner.id }, { organization, user: person.id })
          await removeOrganization(ports, { user: other.owner.id }, other.organization)
          expect(await codesLeft(ports)).toBe(0)
          await renewInvitation(ports, { user: owner.id }, { organization, user: person.id })
          const path = { organization: other.organization, user: other.person.id }
          await renewInvitation(ports, { user: other.owner.id }, path)
          expect(await ports.invitations.countOwed()).toBe(2)
        })
      })

      test('expired codes are forgotten that nobody sends or gives up, since there is no member any more', async () => {
        await openFresh(open, async (ports) => {
          const { expires_at } = (await invite(ports)).invitation
          const { organization, person } = await invite(ports)
          const { organization: removed } = await invite(ports)
          const forget = async (at: string) => {
            await ports.transact(async ({ invitations, members, organizations }) => {
              await members.remove(organization, person.id, NOW)
              await organizations.remove(removed, NOW)
              await invitations.forgetExpiredCodes(at)
            })
            return codesLeft(ports)
          }
          expect(await forget('2026-03-08T11:59:59.999Z')).toBe(3)
          expect(await forget(expires_at)).toBe(1)
        })
      })

      test('codes are not forgotten when the unit fails', async () => {
        await openFresh(open, async (ports) => {
          const { organization } = await invite(ports)
          const count = () => ports.invitations.countOwed()
          await expectRolledBack(ports, ({ invitations }) => invitations.forgetCodes(organization), count)
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
