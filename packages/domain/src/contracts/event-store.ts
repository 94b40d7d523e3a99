import { describe, expect, test } from 'vitest'
import { verifyEvents } from '../audit/verify-events.ts'
import { type DomainEvent, EVENT_ORDER, type EventFilter } from '../events.ts'
import { anEvent, aToken, eventsOf, NO_ID, ODD_JSON, ODD_TEXT, storeOrganization, storeUser } from './builders.ts'
import { type Open, openFresh, openOnce } from './opened.ts'
import { all, expectOrderAndPages, expectPageSizeBound, expectRolledBack, fulfilled, tenAtOnce } from './paging.ts'

/** The suite that every adapter of `EventStore` must pass. `open` gives empty stores, new at every call. */
export function eventStoreContract(adapter: string, open: Open): void {
  describe(`EventStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function append(...events: DomainEvent[]): Promise<void> {
      await opened.ports.transact(async (stores) => {
        for (const event of events) await stores.events.append(event)
      })
    }

    test('every field comes back as it was stored', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user_id, username } = await storeUser(opened.ports)
      const token = await opened.ports.transact(({ tokens }) => tokens.insert(aToken({ user_id })))
      const event = anEvent({
        type: 'security_framework.edited',
        organization,
        record: ODD_TEXT,
        user_id,
        token,
        request_id: 'a-Request_1.2',
        datetime: '2025-12-31T23:59:59.999Z',
        changes: { title: ['old', ODD_TEXT], [ODD_TEXT]: [ODD_JSON, [1, null, []]] },
        details: { [ODD_TEXT]: ODD_TEXT, count: Number.MAX_SAFE_INTEGER, zero: 0 },
      })
      await append(event)
      const { data } = await opened.ports.events.listOf(organization, {}, all('id'))
      const head = await opened.ports.events.head()
      expect(data).toEqual([{ ...event, ...head, username }])
      const row = { ...event, ...head, changes: JSON.stringify(event.changes), details: JSON.stringify(event.details) }
      expect(await opened.ports.events.readChain((head?.position ?? 0) - 1, 5)).toEqual([row])
    })

    test('an event without author, token, request or changes comes back so', async () => {
      const organization = await storeOrganization(opened.ports)
      const event = anEvent({ organization })
      await append(event)
      expect(await eventsOf(opened.ports, organization)).toEqual([event])
    })

    test('an author who is not registered has no name', async () => {
      const organization = await storeOrganization(opened.ports)
      const user_id = '00000000-0000-4000-8000-000000000000'
      await append(anEvent({ organization, user_id }))
      const { data } = await opened.ports.events.listOf(organization, {}, all('id'))
      expect(data).toMatchObject([{ user_id, username: null }])
    })

    test('a value that was not there before, or is not there after, comes back as null', async () => {
      const organization = await storeOrganization(opened.ports)
      await append(anEvent({ organization, changes: { role: [undefined, 'viewer'], title: ['x', undefined] } }))
      const [event] = await eventsOf(opened.ports, organization)
      expect(event?.changes).toStrictEqual({ role: [null, 'viewer'], title: ['x', null] })
    })

    test('pages come in any order, those of one organization alone', async () => {
      const [organization, other] = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      // The clocks of several processes differ, so later rows may have earlier times.
      const days = ['03', '01', '02', '01', '05', '04']
      await append(
        anEvent({ organization: other }),
        ...days.map((day) => anEvent({ organization, datetime: `2026-01-${day}T00:00:00.000Z` })),
        anEvent({ organization: null, type: 'user.registered' }),
      )
      const { position: last = 0 } = (await opened.ports.events.head()) ?? {}
      await expectOrderAndPages(
        EVENT_ORDER,
        days.map((day, index) => ({ id: last - days.length + index, datetime: `2026-01-${day}T00:00:00.000Z` })),
        (page) => opened.ports.events.listOf(organization, {}, page),
        ({ position }) => position,
      )
      expect(await eventsOf(opened.ports, NO_ID)).toEqual([])
    })

    test('a page of events is bounded by their bytes', async () => {
      const organization = await storeOrganization(opened.ports)
      const parts = [{ changes: { title: ['old', ODD_TEXT] } }, { details: { a: 'é' } }, {}] as const
      const events = parts.map((part) => anEvent({ organization, ...(part as Partial<DomainEvent>) }))
      await append(...events)
      await expectPageSizeBound(
        (page) => opened.ports.events.listOf(organization, {}, page),
        'id',
        events.map(({ changes, details }) => [changes, details]),
      )
    })

    test('the chain is read in parts of so many bytes, and never in none', async () => {
      await openFresh(open, async (ports) => {
        const events = ['é', '', 'xyz'].map((a) => anEvent({ details: { a } }))
        await ports.transact(async (stores) => {
          for (const event of events) await stores.events.append(event)
        })
        const sizes = events.map(({ changes, details }) =>
          Buffer.byteLength(JSON.stringify(changes) + JSON.stringify(details)),
        )
        const [first = 0, second = 0, third = 0] = sizes
        const positions = async (...asked: [position: number, limit: number, bytes?: number]) =>
          (await ports.events.readChain(...asked)).map(({ position }) => position)
        expect(await positions(0, 10, first + second + third)).toEqual([1, 2, 3])
        expect(await positions(0, 10, first + second + third - 1)).toEqual([1, 2])
        expect(await positions(0, 10, first + second - 1)).toEqual([1])
        expect(await positions(1, 10, 0)).toEqual([2])
        expect(await positions(1, 1)).toEqual([2])
        expect(await positions(3, 10, 0)).toEqual([])
      })
    })

    test('each filter leaves what fits, and all together', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user_id } = await storeUser(opened.ports)
      const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`
      await append(
        anEvent({ organization, record: '1', datetime: at(1), user_id }),
        anEvent({ organization, record: '2', datetime: at(2), type: 'vpn_profile.created', user_id }),
        anEvent({ organization, record: '3', datetime: at(3), type: 'vpn_profile.removed' }),
        anEvent({ organization, record: '3', datetime: at(4), type: 'threat_blocker.removed' }),
      )
      const found = async (filter: EventFilter) => {
        const { total, data } = await opened.ports.events.listOf(organization, filter, all('id'))
        expect(total).toBe(data.length)
        return data.map(({ datetime }) => Number(datetime.slice(8, 10)))
      }
      expect(await found({})).toEqual([1, 2, 3, 4])
      expect(await found({ user: user_id })).toEqual([1, 2])
      expect(await found({ types: ['vpn_profile.created', 'vpn_profile.removed'] })).toEqual([2, 3])
      expect(await found({ types: [] })).toEqual([])
      expect(await found({ record: '3' })).toEqual([3, 4])
      expect(await found({ from: at(2) })).toEqual([2, 3, 4])
      expect(await found({ to: at(2) })).toEqual([1, 2])
      expect(await found({ record: '3', types: ['vpn_profile.removed'], from: at(3), to: at(3) })).toEqual([3])
      expect(await found({ user: user_id, record: '3' })).toEqual([])
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const organization = await storeOrganization(opened.ports)
      const sent = anEvent({ organization, details: { a: 1 } })
      await append(sent)
      sent.details.a = 2
      const [found] = await eventsOf(opened.ports, organization)
      if (found) found.details.a = 3
      expect((await eventsOf(opened.ports, organization))[0]?.details).toEqual({ a: 1 })
    })

    test('what is edited after it was appended is stored as it was', async () => {
      const organization = await storeOrganization(opened.ports)
      await opened.ports.transact(async ({ events }) => {
        const sent = anEvent({ organization, details: { a: 1 } })
        await events.append(sent)
        sent.details.a = 2
      })
      expect((await eventsOf(opened.ports, organization))[0]?.details).toEqual({ a: 1 })
    })

    test('a unit of work reads what it appended, and goes on appending', async () => {
      const organization = await storeOrganization(opened.ports)
      await opened.ports.transact(async (stores) => {
        await stores.events.append(anEvent({ organization, record: '1' }))
        expect((await eventsOf(stores, organization)).map(({ record }) => record)).toEqual(['1'])
        await stores.events.append(anEvent({ organization, record: '2' }))
        const head = await stores.events.head()
        expect(await stores.events.readChain((head?.position ?? 0) - 1, 5)).toMatchObject([{ record: '2', ...head }])
        await stores.events.append(anEvent({ organization, record: '3' }))
      })
      expect((await eventsOf(opened.ports, organization)).map(({ record }) => record)).toEqual(['1', '2', '3'])
      expect(await verifyEvents(opened.ports)).not.toHaveProperty('flaw')
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const organization = await storeOrganization(opened.ports)
      await append(anEvent({ organization }))
      await expectRolledBack(
        opened.ports,
        async ({ events }) => {
          await events.append(anEvent({ organization }))
          await eventsOf({ events }, organization)
        },
        async () => [await eventsOf(opened.ports, organization), await opened.ports.events.head()],
      )
    })

    test('a trail without rows is a whole one', async () => {
      await openFresh(open, async (ports) => {
        expect(await ports.events.readChain(0, 10)).toEqual([])
        expect(await ports.events.firstSince('0000')).toBeUndefined()
        expect(await verifyEvents(ports)).toEqual({ rows: 0, head: { position: 0, hash: '0'.repeat(64) } })
      })
    })

    test('of units at once, those that are kept stand in one chain without gaps', async () => {
      await openFresh(open, async (ports) => {
        const organization = await storeOrganization(ports)
        const results = await tenAtOnce((one) =>
          tenAtOnce((other) =>
            ports.transact(async ({ events, organizations }) => {
              await events.append(anEvent({ organization, record: `${one}-${other}-1` }))
              await organizations.update(organization, { number_employees: one })
              await events.append(anEvent({ organization, record: `${one}-${other}-2` }))
              if (other % 3 === 0) throw new Error('no')
            }),
          ),
        )
        expect(fulfilled(results).flatMap(fulfilled)).toHaveLength(60)
        const rows = await ports.events.readChain(0, 1000)
        expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1))
        for (let index = 0; index < rows.length; index += 2) {
          expect(rows[index + 1]?.record).toBe(rows[index]?.record.replace(/1$/, '2'))
        }
        const { position, hash } = rows[119] ?? {}
        expect(await verifyEvents(ports)).toEqual({ rows: 120, head: { position, hash } })
      })
    })

    test('more events of one unit than a statement takes keep their order', async () => {
      await openFresh(open, async (ports) => {
        await ports.transact(async ({ events }) => {
          for (let index = 1; index <= 1100; index += 1) await events.append(anEvent({ record: String(index) }))
        })
        const rows = await ports.events.readChain(0, 2000)
        expect(rows.map(({ record }) => Number(record))).toEqual(rows.map(({ position }) => position))
        expect(await verifyEvents(ports)).toMatchObject({ rows: 1100 })
        expect(await ports.events.readChain(1098, 1)).toMatchObject([{ position: 1099 }])
      })
    })

    test('events of any size stand in the chain in the order in which they were appended', async () => {
      await openFresh(open, async (ports) => {
        const large = { title: [null, ODD_TEXT.repeat(10_000)] as [unknown, unknown] }
        const records = ['1', '2', '3', '4', '5']
        await ports.transact(async (stores) => {
          for (const record of records) {
            await stores.events.append(anEvent({ record, changes: record === '2' || record === '5' ? large : {} }))
          }
        })
        const chain = await ports.events.readChain(0, 10)
        expect(chain.map(({ record }) => record)).toEqual(records)
        expect(JSON.parse(chain[1]?.changes ?? '')).toEqual(large)
        expect(await verifyEvents(ports)).toMatchObject({ rows: 5 })
        expect(await verifyEvents(ports)).not.toHaveProperty('flaw')
      })
    })

    test('the first row of a time is found, though times may go back', async () => {
      await openFresh(open, async (ports) => {
        const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`
        for (const day of [1, 3, 2, 4])
          await ports.transact(({ events }) => events.append(anEvent({ datetime: at(day) })))
        expect(await Promise.all([0, 1, 2, 3, 4, 5].map((day) => ports.events.firstSince(at(day))))).toEqual([
          1,
          1,
          2,
          2,
          4,
          undefined,
        ])
      })
    })

    test('the same history has the same hashes in every store', async () => {
      await openFresh(open, async (ports) => {
        await ports.transact(async ({ events }) => {
          await events.append(
            anEvent({ organization: 7, record: ODD_TEXT, changes: { [ODD_TEXT]: [undefined, ODD_JSON] } }),
          )
        })
        await ports.transact(async ({ events }) => {
          await events.append(
            anEvent({ token: 3, request_id: 'r', user_id: 'u', details: { lone: '\ud83d', nul: '\0' } }),
          )
        })
        // Taken with `sha256sum` from the texts that docs/audit.md describes.
        expect((await ports.events.readChain(0, 2)).map(({ hash }) => hash)).toEqual(KNOWN_HASHES)
      })
    })
  })
}

const KNOWN_HASHES = [
  'e9f99714f0d981a7bbd73f43c955a1d2d87616623e59a676c4be767cf13657c3',
  'ce2514aa07b2b93629049205c347bd80cabe2962fef89542e6c58cadbfd689d4',
]
