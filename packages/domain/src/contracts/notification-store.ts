import { describe, expect, test } from 'vitest'
import { NOTIFICATION_ORDER, type NotificationFilter } from '../notifications/notification-store.ts'
import { aNotification, NO_ID, ODD_TEXT, removeStoredOrganization, storeMember, storeOrganization } from './builders.ts'
import { NOW, type Open, openOnce } from './opened.ts'
import { all, expectOrderAndPages, expectRolledBack, fulfilled, tenAtOnce } from './paging.ts'

/** The suite that every adapter of `NotificationStore` must pass. `open` gives empty stores, new at every call. */
export function notificationStoreContract(adapter: string, open: Open): void {
  describe(`NotificationStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function insert(users: string[], part: Parameters<typeof aNotification>[0]): Promise<void> {
      await opened.ports.transact(({ notifications }) => notifications.insert(users, aNotification(part)))
    }
    async function listOf(user: string, filter: NotificationFilter = {}) {
      return opened.ports.notifications.listOf(user, filter, all('id'))
    }
    async function markRead(user: string, id: number) {
      return opened.ports.transact(({ notifications }) => notifications.markRead(user, id))
    }
    async function markAllRead(user: string) {
      return opened.ports.transact(({ notifications }) => notifications.markAllRead(user))
    }

    test('every field comes back as it was stored, unread', async () => {
      const organization = await storeOrganization(opened.ports, { name: ODD_TEXT, logo: '' })
      const { id: user } = await storeMember(opened.ports, organization)
      const notification = aNotification({
        organization,
        title: ODD_TEXT,
        message: ODD_TEXT,
        type: 'warning',
        icon: '',
        extra: { href: '/api/v1/x?y=%20' },
        datetime: '2025-12-31T23:59:59.999Z',
      })
      await insert([user], notification)
      expect(await listOf(user)).toEqual({
        total: 1,
        data: [
          {
            ...notification,
            id: expect.any(Number),
            organization: { id: organization, name: ODD_TEXT, logo: '' },
            read: false,
          },
        ],
      })
    })

    test('each person gets one of their own, and nobody else any', async () => {
      const organization = await storeOrganization(opened.ports)
      const [a, b, c] = [
        await storeMember(opened.ports, organization),
        await storeMember(opened.ports, organization),
        await storeMember(opened.ports, organization),
      ]
      await insert([a.id, b.id], { organization })
      await insert([], { organization })
      const [ofA, ofB, ofC] = [await listOf(a.id), await listOf(b.id), await listOf(c.id)]
      expect([ofA.total, ofB.total, ofC.total]).toEqual([1, 1, 0])
      expect(ofA.data[0]?.id).not.toBe(ofB.data[0]?.id)
    })

    test('a person is told once under one key, others under the same key once each', async () => {
      const organization = await storeOrganization(opened.ports)
      const [a, b] = [await storeMember(opened.ports, organization), await storeMember(opened.ports, organization)]
      const key = `malicious-traffic:${organization}`
      await insert([a.id], { organization, key, title: 'first' })
      await insert([a.id, b.id], { organization, key, title: 'second' })
      await insert([a.id], { organization, key: `${key}:other` })
      await insert([a.id], { organization })
      await insert([a.id], { organization })
      expect((await listOf(a.id)).data.map(({ title }) => title).slice(0, 1)).toEqual(['first'])
      expect((await listOf(a.id)).total).toBe(4)
      expect((await listOf(b.id)).data.map(({ title }) => title)).toEqual(['second'])
      expect((await listOf(b.id)).data[0]).not.toHaveProperty('key')
    })

    test('a removed member does not see them, and sees them again when brought back', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user } = await storeMember(opened.ports, organization)
      await insert([user], { organization })
      const [notification] = (await listOf(user)).data
      await opened.ports.transact(({ members }) => members.remove(organization, user, NOW))
      expect(await listOf(user)).toEqual({ total: 0, data: [] })
      expect(await markRead(user, notification?.id ?? 0)).toBeUndefined()
      expect(await markAllRead(user)).toEqual([])
      await opened.ports.transact(({ members }) => members.insert({ organization, user, role: 'viewer' }))
      expect(await listOf(user)).toEqual({ total: 1, data: [notification] })
    })

    test('those of a removed organization are hidden, those of others stay', async () => {
      const [gone, stays] = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const { id: user } = await storeMember(opened.ports, gone)
      await opened.ports.transact(({ members }) => members.insert({ organization: stays, user, role: 'viewer' }))
      await insert([user], { organization: gone })
      await insert([user], { organization: stays })
      const [hidden] = (await listOf(user)).data
      await removeStoredOrganization(opened.ports, gone)
      expect((await listOf(user)).data.map(({ organization }) => organization.id)).toEqual([stays])
      expect(await markRead(user, hidden?.id ?? 0)).toBeUndefined()
      expect(await markAllRead(user)).toEqual([{ organization: stays, marked: 1 }])
    })

    test('where organizations are given, those of others are hidden', async () => {
      const [here, there] = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const { id: user } = await storeMember(opened.ports, here)
      await opened.ports.transact(({ members }) => members.insert({ organization: there, user, role: 'viewer' }))
      for (const organization of [here, there]) await insert([user], { organization })
      const [first, second] = (await listOf(user)).data
      expect(await listOf(user, { organizations: [here] })).toEqual({ total: 1, data: [first] })
      expect(await listOf(user, { organizations: [here], organization: there })).toEqual({ total: 0, data: [] })
      expect(await listOf(user, { organizations: [] })).toEqual({ total: 0, data: [] })
      expect((await listOf(user, { organizations: null })).total).toBe(2)
      const { transact } = opened.ports
      const mark = (id: number) => transact(({ notifications }) => notifications.markRead(user, id, [here]))
      expect(await mark(second?.id ?? 0)).toBeUndefined()
      expect(await mark(first?.id ?? 0)).toEqual({ notification: { ...first, read: true }, wasUnread: true })
      const markAll = (organizations: number[] | null) =>
        transact(({ notifications }) => notifications.markAllRead(user, organizations))
      expect(await markAll([here])).toEqual([])
      expect((await listOf(user, { read: false })).data).toEqual([second])
      expect(await markAll(null)).toEqual([{ organization: there, marked: 1 }])
    })

    test('a person marks their own as read, and may do so again', async () => {
      const organization = await storeOrganization(opened.ports)
      const [a, b] = [await storeMember(opened.ports, organization), await storeMember(opened.ports, organization)]
      await insert([a.id], { organization })
      const [unread] = (await listOf(a.id)).data
      const id = unread?.id ?? 0
      expect(await markRead(b.id, id)).toBeUndefined()
      expect(await markRead(a.id, NO_ID)).toBeUndefined()
      expect((await listOf(a.id)).data).toEqual([unread])
      const notification = { ...unread, read: true }
      expect(await markRead(a.id, id)).toEqual({ notification, wasUnread: true })
      expect(await markRead(a.id, id)).toEqual({ notification, wasUnread: false })
      expect((await listOf(a.id)).data).toEqual([{ ...unread, read: true }])
    })

    test('all of a person are marked as read at once, and only theirs', async () => {
      const [organization, other] = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const [a, b] = [await storeMember(opened.ports, organization), await storeMember(opened.ports, organization)]
      await opened.ports.transact(({ members }) => members.insert({ organization: other, user: a.id, role: 'viewer' }))
      for (let count = 0; count < 3; count += 1) await insert([a.id, b.id], { organization })
      await insert([a.id], { organization: other })
      await markRead(a.id, (await listOf(a.id)).data[0]?.id ?? 0)
      expect(await markAllRead(a.id)).toEqual([
        { organization, marked: 2 },
        { organization: other, marked: 1 },
      ])
      expect(await markAllRead(a.id)).toEqual([])
      expect((await listOf(a.id, { read: true })).total).toBe(4)
      expect((await listOf(b.id, { read: false })).total).toBe(3)
    })

    test('lists them in every order and by pages', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user } = await storeMember(opened.ports, organization)
      for (let index = 0; index < 9; index += 1) {
        const datetime = `2026-01-0${1 + (index % 4)}T00:00:00.000Z`
        await insert([user], { organization, datetime, type: index % 3 ? 'info' : 'warning' })
      }
      for (const { id } of (await listOf(user)).data.slice(2, 5)) await markRead(user, id)
      const rows = (await listOf(user)).data.map(({ id, datetime, read, type }) => ({ id, datetime, read, type }))
      expect(rows).toHaveLength(9)
      await expectOrderAndPages(
        NOTIFICATION_ORDER,
        rows,
        (page) => opened.ports.notifications.listOf(user, {}, page),
        ({ id }) => id,
      )
    })

    test('lists those that are read, of a type, of an organization', async () => {
      const [one, other] = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const { id: user } = await storeMember(opened.ports, one)
      await opened.ports.transact(({ members }) => members.insert({ organization: other, user, role: 'viewer' }))
      await insert([user], { organization: one, type: 'info', title: 'a' })
      await insert([user], { organization: one, type: 'warning', title: 'b' })
      await insert([user], { organization: other, type: 'info', title: 'c' })
      await markRead(user, (await listOf(user)).data[0]?.id ?? 0)
      const titles = async (filter: NotificationFilter) => {
        const { total, data } = await listOf(user, filter)
        expect(total).toBe(data.length)
        return data.map(({ title }) => title)
      }
      expect(await titles({})).toEqual(['a', 'b', 'c'])
      expect(await titles({ read: true })).toEqual(['a'])
      expect(await titles({ read: false })).toEqual(['b', 'c'])
      expect(await titles({ type: 'info' })).toEqual(['a', 'c'])
      expect(await titles({ organization: one })).toEqual(['a', 'b'])
      expect(await titles({ organization: NO_ID })).toEqual([])
      expect(await titles({ organization: one, type: 'warning', read: false })).toEqual(['b'])
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user } = await storeMember(opened.ports, organization)
      await insert([user], { organization })
      const [found] = (await listOf(user)).data
      if (found) {
        found.extra.href = 'https://evil.example'
        found.read = true
      }
      expect((await listOf(user)).data).toMatchObject([{ read: false, extra: { href: '/api/v1/atb/1' } }])
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user } = await storeMember(opened.ports, organization)
      await insert([user], { organization })
      await expectRolledBack(
        opened.ports,
        async ({ notifications }) => {
          await notifications.insert([user], aNotification({ organization }))
          await notifications.markAllRead(user)
        },
        () => listOf(user),
      )
    })

    test('ten inserts under one key at once: the person is told once', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user } = await storeMember(opened.ports, organization)
      const results = await tenAtOnce(() => insert([user], { organization, key: `race:${organization}` }))
      expect(fulfilled(results)).toHaveLength(10)
      expect((await listOf(user)).total).toBe(1)
    })

    test('all marked as read ten times at once: each is counted once', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user } = await storeMember(opened.ports, organization)
      for (let count = 0; count < 3; count += 1) await insert([user], { organization })
      const results = await tenAtOnce(() => markAllRead(user))
      expect(fulfilled(results).flat()).toEqual([{ organization, marked: 3 }])
    })

    test('one marked as read ten times at once: it was unread once', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user } = await storeMember(opened.ports, organization)
      await insert([user], { organization })
      const { id = 0 } = (await listOf(user)).data[0] ?? {}
      const results = await tenAtOnce(() => markRead(user, id))
      expect(fulfilled(results).filter((marked) => marked?.wasUnread)).toHaveLength(1)
    })
  })
}
