import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Role } from '../access/policy.ts'
import { addMember } from '../members/add-member.ts'
import { MEMBER_ORDER, type MemberFilter } from '../members/member-store.ts'
import { removeMember } from '../members/remove-member.ts'
import { NO_ID, ODD_TEXT, removeStoredOrganization, storeMember, storeOrganization, storeUser } from './builders.ts'
import { NOW, type Open, openFresh, openOnce } from './opened.ts'
import { all, expectOrderAndPages, expectRolledBack, fulfilled, TEXTS_TO_SORT, tenAtOnce } from './paging.ts'

/** The suite that every adapter of `MemberStore` must pass. `open` gives empty stores, new at every call. */
export function memberStoreContract(adapter: string, open: Open): void {
  describe(`MemberStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function insert(organization: number, user: string, role: Role = 'viewer') {
      return opened.ports.transact(({ members }) => members.insert({ organization, user, role }))
    }
    async function remove(organization: number, user: string) {
      return opened.ports.transact(({ members }) => members.remove(organization, user, NOW))
    }
    async function setRole(organization: number, user: string, role: Role) {
      return opened.ports.transact(({ members }) => members.setRole(organization, user, role))
    }

    test('a member has the role that was given, and comes back with every field', async () => {
      const organization = await storeOrganization(opened.ports, { name: ODD_TEXT, logo: 'https://logo.example' })
      const part = { username: ODD_TEXT, first_name: ODD_TEXT, last_name: '' }
      const { id, username, email, first_name, last_name } = await storeUser(opened.ports, part)
      expect(await insert(organization, id, 'security_officer')).toBeGreaterThanOrEqual(1)
      const { members } = opened.ports
      expect(await members.roleOf(organization, id)).toBe('security_officer')
      expect(await members.find(organization, id)).toEqual(expect.any(Number))
      expect(await members.listActive(organization, {}, all('username'))).toEqual({
        total: 1,
        data: [{ id, username, email, first_name, last_name, role: 'security_officer' }],
      })
      expect(await members.membershipsOf(id)).toEqual([
        {
          organization: { id: organization, name: ODD_TEXT, logo: 'https://logo.example' },
          role: 'security_officer',
        },
      ])
    })

    test('who is no member has no role and no organizations', async () => {
      const organization = await storeOrganization(opened.ports)
      const stranger = await storeUser(opened.ports)
      const { members } = opened.ports
      expect(await members.roleOf(organization, stranger.id)).toBeUndefined()
      expect(await members.find(organization, stranger.id)).toBeUndefined()
      expect(await members.roleOf(NO_ID, stranger.id)).toBeUndefined()
      expect(await members.roleOf(organization, randomUUID())).toBeUndefined()
      expect(await members.organizationsOf(stranger.id, ['viewer', 'owner'])).toEqual([])
      expect(await members.membershipsOf(stranger.id)).toEqual([])
      expect(await members.withRoles(NO_ID, ['owner'])).toEqual([])
      expect(await members.listActive(NO_ID, {}, all('username'))).toEqual({ total: 0, data: [] })
      expect(await setRole(organization, stranger.id, 'owner')).toBe(false)
      expect(await remove(organization, stranger.id)).toBeUndefined()
      expect(await remove(NO_ID, stranger.id)).toBeUndefined()
    })

    test('nobody is a member twice, until they are removed', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id } = await storeUser(opened.ports)
      const first = await insert(organization, id, 'owner')
      expect(await insert(organization, id, 'viewer')).toBeUndefined()
      expect(await opened.ports.members.roleOf(organization, id)).toBe('owner')
      expect(await remove(organization, id)).toBe('owner')
      const second = await insert(organization, id, 'viewer')
      expect(second).toBeGreaterThanOrEqual(1)
      expect(second).not.toBe(first)
      expect(await opened.ports.members.roleOf(organization, id)).toBe('viewer')
    })

    test('a second membership does not spoil the unit that tried it', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id } = await storeMember(opened.ports, organization)
      const other = await storeUser(opened.ports)
      await opened.ports.transact(async ({ members }) => {
        expect(await members.insert({ organization, user: id, role: 'viewer' })).toBeUndefined()
        expect(await members.insert({ organization, user: other.id, role: 'viewer' })).toBeDefined()
      })
      expect(await opened.ports.members.roleOf(organization, other.id)).toBe('viewer')
    })

    test('a removed member leaves every read', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id } = await storeMember(opened.ports, organization, 'owner')
      expect(await remove(organization, id)).toBe('owner')
      expect(await remove(organization, id)).toBeUndefined()
      const { members } = opened.ports
      expect(await members.roleOf(organization, id)).toBeUndefined()
      expect(await members.organizationsOf(id, ['owner'])).toEqual([])
      expect(await members.membershipsOf(id)).toEqual([])
      expect(await members.withRoles(organization, ['owner'])).toEqual([])
      expect((await members.listActive(organization, {}, all('username'))).total).toBe(0)
      expect(await setRole(organization, id, 'viewer')).toBe(false)
    })

    test('the members of a removed organization are none', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id } = await storeMember(opened.ports, organization, 'owner')
      await removeStoredOrganization(opened.ports, organization)
      const { members } = opened.ports
      expect(await members.roleOf(organization, id)).toBeUndefined()
      expect(await members.organizationsOf(id, ['owner'])).toEqual([])
      expect(await members.membershipsOf(id)).toEqual([])
      expect(await members.withRoles(organization, ['owner'])).toEqual([])
      expect((await members.listActive(organization, {}, all('username'))).total).toBe(0)
      expect(await setRole(organization, id, 'viewer')).toBe(false)
      expect(await remove(organization, id)).toBeUndefined()
    })

    test('organizations and memberships of a person come by organization id, filtered by role', async () => {
      const [first, second, third] = [
        await storeOrganization(opened.ports),
        await storeOrganization(opened.ports),
        await storeOrganization(opened.ports),
      ]
      const { id } = await storeUser(opened.ports)
      await insert(third, id, 'owner')
      await insert(first, id, 'viewer')
      await insert(second, id, 'security_officer')
      const { members } = opened.ports
      expect(await members.organizationsOf(id, ['viewer', 'security_officer', 'owner'])).toEqual([first, second, third])
      expect(await members.organizationsOf(id, ['security_officer', 'owner'])).toEqual([second, third])
      expect(await members.organizationsOf(id, [])).toEqual([])
      const memberships = await members.membershipsOf(id)
      expect(memberships.map(({ organization, role }) => [organization.id, role])).toEqual([
        [first, 'viewer'],
        [second, 'security_officer'],
        [third, 'owner'],
      ])
    })

    test('people with a role come by their id', async () => {
      const organization = await storeOrganization(opened.ports)
      const owners = [
        await storeMember(opened.ports, organization, 'owner'),
        await storeMember(opened.ports, organization, 'owner'),
        await storeMember(opened.ports, organization, 'owner'),
      ].map(({ id }) => id)
      const viewer = await storeMember(opened.ports, organization, 'viewer')
      await storeMember(opened.ports, await storeOrganization(opened.ports), 'owner')
      const { members } = opened.ports
      expect(await members.withRoles(organization, ['owner'])).toEqual(owners.toSorted())
      expect(await members.withRoles(organization, ['viewer', 'owner'])).toEqual([...owners, viewer.id].toSorted())
      expect(await members.withRoles(organization, ['security_officer'])).toEqual([])
      expect(await members.withRoles(organization, [])).toEqual([])
    })

    test('a changed role holds at once and for this organization alone', async () => {
      const [here, there] = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const { id } = await storeMember(opened.ports, here, 'viewer')
      await insert(there, id, 'viewer')
      expect(await setRole(here, id, 'owner')).toBe(true)
      expect(await opened.ports.members.roleOf(here, id)).toBe('owner')
      expect(await opened.ports.members.roleOf(there, id)).toBe('viewer')
    })

    test('lists the members in every order and by pages', async () => {
      await openFresh(open, async (ports) => {
        const organization = await storeOrganization(ports)
        const rows = []
        for (const [index, text] of TEXTS_TO_SORT.entries()) {
          const role = (['viewer', 'owner', 'security_officer'] as const)[index % 3] ?? 'viewer'
          const email = `${index % 2 ? 'a' : 'B'}${index}@example.com`
          const names = { username: text, first_name: TEXTS_TO_SORT.at(-index) ?? '', last_name: `${index % 2}` }
          const { id } = await storeMember(ports, organization, role, { ...names, email })
          rows.push({ id, ...names, email, role })
        }
        await storeMember(ports, await storeOrganization(ports))
        await expectOrderAndPages(
          MEMBER_ORDER,
          rows,
          (page) => ports.members.listActive(organization, {}, page),
          ({ id }) => id,
        )
      })
    })

    test.each<[MemberFilter, string[]]>([
      [{}, ['ada', 'bo', 'cy']],
      [{ role: 'owner' }, ['ada']],
      [{ role: 'security_officer' }, []],
      [{ search: 'ADA' }, ['ada']],
      [{ search: 'éva' }, ['bo']],
      [{ search: 'e\u0301va' }, ['bo']],
      [{ search: 'şah' }, ['cy']],
      [{ search: 'example.com' }, ['ada', 'bo', 'cy']],
      [{ search: '100%' }, ['cy']],
      [{ search: '%' }, ['cy']],
      [{ search: '_' }, ['bo']],
      [{ search: 'o', role: 'viewer' }, ['bo', 'cy']],
      [{ search: 'ada r' }, []],
      [{ search: '' }, ['ada', 'bo', 'cy']],
    ])('the filter %j leaves %j', async (filter, expected) => {
      const organization = await storeOrganization(opened.ports)
      // Without letters, which could spell what is searched for.
      const id = randomUUID().replaceAll(/\D/g, '')
      const people = [
        { username: 'ada', email: `ada.${id}@example.com`, first_name: 'Ada', last_name: 'Rossi' },
        { username: 'bo', email: `b_o.${id}@example.com`, first_name: 'ÉVA', last_name: '' },
        { username: 'cy', email: `cy.${id}@example.com`, first_name: '100%', last_name: 'ŞAHİN' },
      ]
      for (const [index, person] of people.entries()) {
        await storeMember(opened.ports, organization, index === 0 ? 'owner' : 'viewer', person)
      }
      const page = await opened.ports.members.listActive(organization, filter, all('username'))
      expect(page.data.map(({ username }) => username)).toEqual(expected)
      expect(page.total).toBe(expected.length)
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id } = await storeMember(opened.ports, organization, 'viewer')
      const [listed] = (await opened.ports.members.listActive(organization, {}, all('username'))).data
      if (listed) listed.role = 'owner'
      const [membership] = await opened.ports.members.membershipsOf(id)
      if (membership) membership.organization.name = 'Evil'
      expect(await opened.ports.members.roleOf(organization, id)).toBe('viewer')
      expect((await opened.ports.organizations.findActive(organization))?.name).not.toBe('Evil')
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const organization = await storeOrganization(opened.ports)
      const [viewer, owner] = [
        await storeMember(opened.ports, organization, 'viewer'),
        await storeMember(opened.ports, organization, 'owner'),
      ]
      const stranger = await storeUser(opened.ports)
      await expectRolledBack(
        opened.ports,
        async ({ members }) => {
          await members.insert({ organization, user: stranger.id, role: 'owner' })
          await members.setRole(organization, viewer.id, 'owner')
          await members.remove(organization, owner.id, NOW)
        },
        () => opened.ports.members.listActive(organization, {}, all('username')),
      )
    })

    test('ten memberships of one person at once: exactly one is kept', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id } = await storeUser(opened.ports)
      const results = fulfilled(await tenAtOnce(() => insert(organization, id)))
      expect(results).toHaveLength(10)
      expect(results.filter((result) => result !== undefined)).toHaveLength(1)
      expect((await opened.ports.members.listActive(organization, {}, all('username'))).total).toBe(1)
    })

    test('ten removals of one member at once: exactly one wins', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id } = await storeMember(opened.ports, organization)
      const results = fulfilled(await tenAtOnce(() => remove(organization, id)))
      expect(results).toHaveLength(10)
      expect(results.filter(Boolean)).toHaveLength(1)
    })

    test('adding one unregistered person ten times at once: one person, one membership, one invitation', async () => {
      await openFresh(open, async (ports) => {
        const organization = await storeOrganization(ports)
        const owner = await storeMember(ports, organization, 'owner')
        const path = { organization, user: '0' }
        const results = await tenAtOnce((index) =>
          addMember(ports, { user: owner.id }, path, { email: index % 2 ? 'New@Example.com' : 'new@example.com' }),
        )
        expect(fulfilled(results)).toHaveLength(1)
        for (const result of results) {
          if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' })
        }
        expect(
          (await ports.users.list()).filter(({ email }) => email.toLowerCase() === 'new@example.com'),
        ).toHaveLength(1)
        expect((await ports.members.listActive(organization, {}, all('username'))).total).toBe(2)
        const owed = await ports.transact(({ invitations }) =>
          invitations.leaseOwed(NOW, '2026-03-01T13:00:00.000Z', 50),
        )
        expect(owed).toHaveLength(1)
      })
    })

    test('two owners who remove each other at once: exactly one remains', async () => {
      for (let round = 0; round < 5; round += 1) {
        const organization = await storeOrganization(opened.ports)
        const [a, b] = [
          await storeMember(opened.ports, organization, 'owner'),
          await storeMember(opened.ports, organization, 'owner'),
        ]
        const results = await Promise.allSettled([
          removeMember(opened.ports, { user: a.id }, { organization, user: b.id }),
          removeMember(opened.ports, { user: b.id }, { organization, user: a.id }),
        ])
        expect(fulfilled(results)).toHaveLength(1)
        expect(await opened.ports.members.withRoles(organization, ['owner'])).toHaveLength(1)
      }
    })

    test('ten owners who remove themselves at once: exactly one remains', async () => {
      const organization = await storeOrganization(opened.ports)
      const owners: string[] = []
      for (let count = 0; count < 10; count += 1) {
        owners.push((await storeMember(opened.ports, organization, 'owner')).id)
      }
      const results = await Promise.allSettled(
        owners.map((user) => removeMember(opened.ports, { user }, { organization, user })),
      )
      expect(fulfilled(results)).toHaveLength(9)
      expect(await opened.ports.members.withRoles(organization, ['owner'])).toHaveLength(1)
    })
  })
}
