import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { aUser, ODD_TEXT, storeUser } from './builders.ts'
import { type Open, openFresh, openOnce } from './opened.ts'
import { expectRolledBack, fulfilled, tenAtOnce } from './paging.ts'

/** The suite that every adapter of `UserStore` must pass. `open` gives empty stores, new at every call. */
export function userStoreContract(adapter: string, open: Open): void {
  describe(`UserStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    test('every field comes back as it was stored, by id and by address', async () => {
      const part = { username: ODD_TEXT, first_name: '', last_name: ODD_TEXT, locale: 'it' } as const
      const user = aUser({ ...part, email: `Mixed.Case+${randomUUID()}@Example.COM` })
      expect(await opened.ports.transact(({ users }) => users.insert(user))).toBe(true)
      expect(await opened.ports.users.find(user.id)).toEqual(user)
      expect(await opened.ports.users.findByEmail(user.email)).toEqual(user)
    })

    test('addresses are compared without case', async () => {
      const user = await storeUser(opened.ports, { email: `Zoe.${randomUUID()}@Example.com` })
      expect(await opened.ports.users.findByEmail(user.email.toUpperCase())).toEqual(user)
      expect(await opened.ports.users.findByEmail(user.email.toLowerCase())).toEqual(user)
      const again = aUser({ email: user.email.toUpperCase() })
      expect(await opened.ports.transact(({ users }) => users.insert(again))).toBe(false)
      expect(await opened.ports.users.find(again.id)).toBeUndefined()
    })

    test('a taken address does not spoil the unit that tried it', async () => {
      const { email } = await storeUser(opened.ports)
      const next = aUser()
      await opened.ports.transact(async ({ users }) => {
        expect(await users.insert(aUser({ email }))).toBe(false)
        expect(await users.insert(next)).toBe(true)
      })
      expect(await opened.ports.users.find(next.id)).toEqual(next)
    })

    test('patterns in an address mean themselves', async () => {
      const id = randomUUID()
      await storeUser(opened.ports, { email: `a.b-${id}@example.com` })
      expect(await opened.ports.users.findByEmail(`a_b-${id}@example.com`)).toBeUndefined()
      expect(await opened.ports.users.findByEmail(`%${id}@example.com`)).toBeUndefined()
    })

    test('nobody is found by what nobody has', async () => {
      expect(await opened.ports.users.find(randomUUID())).toBeUndefined()
      expect(await opened.ports.users.find('0')).toBeUndefined()
      expect(await opened.ports.users.findByEmail(`${randomUUID()}@example.com`)).toBeUndefined()
    })

    test('an edit replaces what it names', async () => {
      const user = await storeUser(opened.ports)
      await opened.ports.transact(({ users }) => users.update(user.id, { first_name: ODD_TEXT, last_name: undefined }))
      expect(await opened.ports.users.find(user.id)).toEqual({ ...user, first_name: ODD_TEXT })
      await opened.ports.transact(({ users }) => users.update(user.id, {}))
      await opened.ports.transact(({ users }) => users.update(user.id, { last_name: '', locale: 'it' }))
      expect(await opened.ports.users.find(user.id)).toEqual({
        ...user,
        first_name: ODD_TEXT,
        last_name: '',
        locale: 'it',
      })
    })

    test('lists everybody in the order of their addresses', async () => {
      await openFresh(open, async (ports) => {
        expect(await ports.users.isEmpty()).toBe(true)
        expect(await ports.users.list()).toEqual([])
        const b = await storeUser(ports, { email: 'b@example.com' })
        const a = await storeUser(ports, { email: 'a@example.com' })
        const Z = await storeUser(ports, { email: 'Z@example.com' })
        expect(await ports.users.list()).toEqual([Z, a, b])
        expect(await ports.users.isEmpty()).toBe(false)
      })
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const user = await storeUser(opened.ports)
      const found = await opened.ports.users.find(user.id)
      if (found) found.first_name = 'Eve'
      expect(await opened.ports.users.find(user.id)).toEqual(user)
    })

    test('who holds the lock of a person reads and writes what is theirs alone', async () => {
      const { id } = await storeUser(opened.ports)
      const others = await Promise.all([storeUser(opened.ports), storeUser(opened.ports)])
      const results = await tenAtOnce((index) =>
        opened.ports.transact(async ({ users }) => {
          // Named in one order or the other: nobody waits for somebody who waits for them.
          const ids = [id, ...others.map((other) => other.id), randomUUID()]
          await users.lock(index % 2 ? ids : ids.toReversed())
          const before = await users.find(id)
          await users.update(id, { last_name: `${before?.last_name}.` })
        }),
      )
      expect(fulfilled(results)).toHaveLength(10)
      expect((await opened.ports.users.find(id))?.last_name).toBe('Rossi..........')
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const user = await storeUser(opened.ports)
      const never = aUser()
      await expectRolledBack(
        opened.ports,
        async ({ users }) => {
          await users.insert(never)
          await users.update(user.id, { first_name: 'Eve' })
        },
        () => opened.ports.users.find(user.id),
      )
      expect(await opened.ports.users.find(never.id)).toBeUndefined()
    })

    test('ten registrations of one address at once: exactly one is kept', async () => {
      const email = `${randomUUID()}@example.com`
      const results = await tenAtOnce((index) =>
        opened.ports.transact(({ users }) =>
          users.insert(aUser({ email: index % 2 === 0 ? email : email.toUpperCase() })),
        ),
      )
      expect(fulfilled(results).filter(Boolean)).toHaveLength(1)
      expect(fulfilled(results)).toHaveLength(10)
    })
  })
}
