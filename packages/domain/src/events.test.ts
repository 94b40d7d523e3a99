import { describe, expect, test } from 'vitest'
import { OPERATOR } from './access/caller.ts'
import { anEvent } from './contracts/builders.ts'
import { changesBetween, createEventBus, type DomainEvent, record, subscribe } from './events.ts'
import { aWorld, NOON } from './testing/world.ts'

describe('changesBetween', () => {
  test('names the fields that differ, with both values', () => {
    const before = { id: 1, name: 'a', tags: ['x'], same: { deep: [1] } }
    const after = { id: 1, name: 'b', tags: ['x', 'y'], same: { deep: [1] } }
    expect(changesBetween(before, after)).toEqual({ name: ['a', 'b'], tags: [['x'], ['x', 'y']] })
    expect(changesBetween(before, before)).toEqual({})
  })

  test('a field that is in one state alone has no value in the other', () => {
    expect(changesBetween({ a: 1 }, { b: 2 })).toEqual({ b: [undefined, 2], a: [1, undefined] })
  })

  test('fields that are named like parts of every object are fields like others', () => {
    const after = JSON.parse('{"constructor":1,"__proto__":2,"toString":3}')
    const changes = changesBetween({}, after)
    expect(Object.entries(changes)).toEqual([
      ['constructor', [undefined, 1]],
      ['__proto__', [undefined, 2]],
      ['toString', [undefined, 3]],
    ])
  })
})

describe('record', () => {
  test('says who did it, with which token, and when', async () => {
    const { ports, as, organization } = await aWorld()
    const caller = { ...as.owner, token: 7 }
    await ports.transact((stores) =>
      record(ports, stores, caller, { type: 'organization.edited', organization, record: organization }),
    )
    expect(ports.published.at(-1)).toEqual(
      anEvent({ organization, record: String(organization), user_id: as.owner.user, token: 7, datetime: NOON }),
    )
  })

  test('has no author where the operator did it', async () => {
    const { ports } = await aWorld()
    await ports.transact((stores) => record(ports, stores, OPERATOR, { type: 'token.revoked', record: 3 }))
    expect(ports.published.at(-1)).toMatchObject({ user_id: null, token: null, organization: null, record: '3' })
  })
})

describe('subscribe', () => {
  const ignore = () => {}

  test('calls with events of these types, after the publisher went on, until it is ended', async () => {
    const bus = createEventBus()
    const seen: DomainEvent[] = []
    const end = subscribe(bus, ['member.added'], (event) => seen.push(event), ignore)
    const event = anEvent({ type: 'member.added' })
    bus.emit('event', event)
    bus.emit('event', anEvent({ type: 'member.removed' }))
    expect(seen).toEqual([])
    await Promise.resolve()
    expect(seen).toEqual([event])
    end()
    bus.emit('event', event)
    await Promise.resolve()
    expect(seen).toHaveLength(1)
  })

  test('what a handler throws reaches neither the publisher nor other handlers', async () => {
    const bus = createEventBus()
    const errors: unknown[] = []
    const seen: string[] = []
    const fail = () => {
      throw new Error('handler')
    }
    subscribe(bus, ['member.added'], fail, (error) => errors.push(error))
    subscribe(
      bus,
      ['member.added'],
      async () => fail(),
      (error) => errors.push(error),
    )
    subscribe(bus, ['member.added'], () => seen.push('called'), ignore)
    bus.emit('event', anEvent({ type: 'member.added' }))
    await new Promise((resolve) => setImmediate(resolve))
    expect(errors).toEqual([new Error('handler'), new Error('handler')])
    expect(seen).toEqual(['called'])
  })

  test('a listener that fails does not undo a unit of work that is committed', async () => {
    const { ports, as, organization } = await aWorld()
    subscribe(
      ports.bus,
      ['organization.edited'],
      () => {
        throw new Error('listener')
      },
      ignore,
    )
    const caller = as.owner
    await ports.transact((stores) =>
      record(ports, stores, caller, { type: 'organization.edited', organization, record: organization }),
    )
    expect(ports.published.at(-1)?.type).toBe('organization.edited')
  })
})
