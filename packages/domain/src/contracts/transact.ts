import { describe, expect, test } from 'vitest'
import type { DomainEvent } from '../events.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import type { Needs, Stores } from '../ports.ts'
import { anEvent, anOrganization, aUser, eventsOf, storeOrganization, storeUser } from './builders.ts'
import { type Open, openOnce } from './opened.ts'
import { fulfilled, tenAtOnce } from './paging.ts'

/** The suite that every adapter of `transact` must pass. `open` gives empty stores, new at every call. */
export function transactContract(adapter: string, open: Open): void {
  describe(`transact contract: ${adapter}`, () => {
    const opened = openOnce(open)

    /** The events that are emitted while `run` does. */
    async function emittedDuring(ports: Needs<'bus'>, run: (seen: DomainEvent[]) => Promise<unknown>) {
      const seen: DomainEvent[] = []
      const listener = (event: DomainEvent) => void seen.push(event)
      ports.bus.on('event', listener)
      try {
        await run(seen)
      } finally {
        ports.bus.off('event', listener)
      }
      return seen
    }
    async function name(id: number): Promise<string | undefined> {
      return (await opened.ports.organizations.findActive(id))?.name
    }

    test('returns what the work returns', async () => {
      expect(await opened.ports.transact(async () => ({ answer: 42 }))).toEqual({ answer: 42 })
      expect(await opened.ports.transact(async () => undefined)).toBeUndefined()
    })

    test('fails with the very error that the work throws, and goes on with the next', async () => {
      const failure = new Error('no')
      await expect(opened.ports.transact(() => Promise.reject(failure))).rejects.toBe(failure)
      await expect(
        opened.ports.transact(() => {
          throw failure
        }),
      ).rejects.toBe(failure)
      expect(await opened.ports.transact(async () => 'fine')).toBe('fine')
    })

    test('a unit sees what it wrote itself', async () => {
      const id = await storeOrganization(opened.ports, { name: 'before' })
      await opened.ports.transact(async ({ organizations, users }) => {
        await organizations.update(id, { name: 'after' })
        expect((await organizations.findActive(id))?.name).toBe('after')
        const user = aUser()
        await users.insert(user)
        expect(await users.find(user.id)).toEqual(user)
      })
    })

    test('others see nothing of a unit before it ends, and all of it afterwards', async () => {
      const id = await storeOrganization(opened.ports, { name: 'before' })
      let inserted = 0
      await opened.ports.transact(async ({ organizations }) => {
        await organizations.update(id, { name: 'after' })
        inserted = await organizations.insert(anOrganization({ name: 'new' }))
        expect(await name(id)).toBe('before')
        expect(await name(inserted)).toBeUndefined()
      })
      expect(await name(id)).toBe('after')
      expect(await name(inserted)).toBe('new')
    })

    test('changes to several stores are kept together', async () => {
      const user = aUser()
      let organization = 0
      await expect(
        opened.ports.transact(async (stores) => {
          await stores.users.insert(user)
          organization = await stores.organizations.insert(anOrganization())
          await stores.members.insert({ organization, user: user.id, role: 'owner' })
          await stores.events.append(anEvent({ organization }))
          throw new Error('at the end')
        }),
      ).rejects.toThrow('at the end')
      const { users, organizations, members } = opened.ports
      expect(await users.find(user.id)).toBeUndefined()
      expect(await organizations.findActive(organization)).toBeUndefined()
      expect(await members.roleOf(organization, user.id)).toBeUndefined()
      expect(await eventsOf(opened.ports, organization)).toEqual([])
    })

    test('of twenty units at once, those that fail take no other with them', async () => {
      const ids = new Map<number, number>()
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          opened.ports.transact(async ({ organizations }) => {
            const id = await organizations.insert(anOrganization({ name: `unit ${index}` }))
            ids.set(index, id)
            if (index % 3 === 0) throw new Error(`unit ${index} fails`)
            await organizations.update(id, { number_employees: index })
            return id
          }),
        ),
      )
      for (const [index, result] of results.entries()) {
        const found = await opened.ports.organizations.findActive(ids.get(index) ?? 0)
        if (index % 3 === 0) {
          expect(result).toMatchObject({ status: 'rejected', reason: { message: `unit ${index} fails` } })
          expect(found?.name === `unit ${index}`).toBe(false)
        } else {
          expect(result.status).toBe('fulfilled')
          expect(found).toMatchObject({ name: `unit ${index}`, number_employees: index })
        }
      }
    })

    test('a unit that fails does not lose what units after it wrote', async () => {
      const id = await storeOrganization(opened.ports, { name: 'start' })
      const failing = opened.ports.transact(async ({ organizations }: Stores) => {
        await organizations.update(id, { name: 'failed' })
        throw new Error('late')
      })
      const next = opened.ports.transact(({ organizations }) => organizations.update(id, { number_employees: 77 }))
      await expect(failing).rejects.toThrow('late')
      await next
      expect(await opened.ports.organizations.findActive(id)).toMatchObject({ name: 'start', number_employees: 77 })
    })

    test('reads go on while a unit is under way', async () => {
      const id = await storeOrganization(opened.ports, { name: 'before' })
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      const unit = opened.ports.transact(async ({ organizations }) => {
        await organizations.update(id, { name: 'after' })
        await held
      })
      const reads = await tenAtOnce(() => name(id))
      expect(fulfilled(reads)).toEqual(Array.from({ length: 10 }, () => 'before'))
      release()
      await unit
      expect(await name(id)).toBe('after')
    })

    test('events are emitted after the commit, in order, as they were stored', async () => {
      const organization = await storeOrganization(opened.ports)
      const events = ['1', '2', '3'].map((record) => anEvent({ organization, record, changes: { a: [1, 2] } }))
      const seen = await emittedDuring(opened.ports, async (sofar) => {
        await opened.ports.transact(async (stores) => {
          for (const event of events) await stores.events.append(event)
          expect(sofar).toEqual([])
        })
      })
      expect(seen).toEqual(events)
      expect(await eventsOf(opened.ports, organization)).toEqual(events)
    })

    test('an event that arrives tells of what can be read already', async () => {
      const { id: user } = await storeUser(opened.ports)
      const reads: Promise<string | undefined>[] = []
      const listener = (event: DomainEvent) => void reads.push(name(event.organization ?? 0))
      opened.ports.bus.on('event', listener)
      await createOrganization(opened.ports, { user }, { name: 'Told of' })
      opened.ports.bus.off('event', listener)
      expect(await Promise.all(reads)).toEqual(['Told of'])
    })

    test('nothing is emitted of a unit that fails', async () => {
      const organization = await storeOrganization(opened.ports)
      const seen = await emittedDuring(opened.ports, async () => {
        const results = await tenAtOnce((index) =>
          opened.ports.transact(async (stores) => {
            await stores.events.append(anEvent({ organization, record: String(index) }))
            if (index !== 4) throw new Error('no')
          }),
        )
        expect(fulfilled(results)).toHaveLength(1)
      })
      expect(seen.map(({ record }) => record)).toEqual(['4'])
      expect((await eventsOf(opened.ports, organization)).map(({ record }) => record)).toEqual(['4'])
    })
  })
}
