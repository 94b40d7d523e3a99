import { describe, expect, test } from 'vitest'
import type { DomainEvent } from '../events.ts'
import { anEvent, aToken, NO_ID, ODD_JSON, ODD_TEXT, storeOrganization, storeUser } from './builders.ts'
import { type Open, openOnce } from './opened.ts'
import { expectRolledBack } from './paging.ts'

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
      const { id: user_id } = await storeUser(opened.ports)
      const token = await opened.ports.transact(({ tokens }) => tokens.insert(aToken({ user_id })))
      const event = anEvent({
        type: 'security_framework.edited',
        organization,
        record: ODD_TEXT,
        user_id,
        token,
        datetime: '2025-12-31T23:59:59.999Z',
        changes: { title: ['old', ODD_TEXT], [ODD_TEXT]: [ODD_JSON, [1, null, []]] },
        details: { [ODD_TEXT]: ODD_TEXT, count: Number.MAX_SAFE_INTEGER, zero: 0 },
      })
      await append(event)
      expect(await opened.ports.events.listOf(organization)).toEqual([event])
    })

    test('an event without author, token or changes comes back so', async () => {
      const organization = await storeOrganization(opened.ports)
      const event = anEvent({ organization })
      await append(event)
      expect(await opened.ports.events.listOf(organization)).toEqual([event])
    })

    test('a value that was not there before, or is not there after, comes back as null', async () => {
      const organization = await storeOrganization(opened.ports)
      await append(anEvent({ organization, changes: { role: [undefined, 'viewer'], title: ['x', undefined] } }))
      const [event] = await opened.ports.events.listOf(organization)
      expect(event?.changes).toStrictEqual({ role: [null, 'viewer'], title: ['x', null] })
    })

    test('events come oldest first, those of one organization alone', async () => {
      const [organization, other] = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const records = ['3', '1', '2']
      await append(
        anEvent({ organization: other }),
        ...records.map((record) => anEvent({ organization, record })),
        anEvent({ organization: null, type: 'user.registered' }),
      )
      expect((await opened.ports.events.listOf(organization)).map(({ record }) => record)).toEqual(records)
      expect(await opened.ports.events.listOf(NO_ID)).toEqual([])
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const organization = await storeOrganization(opened.ports)
      const sent = anEvent({ organization, details: { a: 1 } })
      await append(sent)
      sent.details.a = 2
      const [found] = await opened.ports.events.listOf(organization)
      if (found) found.details.a = 3
      expect((await opened.ports.events.listOf(organization))[0]?.details).toEqual({ a: 1 })
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const organization = await storeOrganization(opened.ports)
      await append(anEvent({ organization }))
      await expectRolledBack(
        opened.ports,
        ({ events }) => events.append(anEvent({ organization })),
        () => opened.ports.events.listOf(organization),
      )
    })
  })
}
