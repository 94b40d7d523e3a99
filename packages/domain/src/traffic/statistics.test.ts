import { describe, expect, test } from 'vitest'
import { anUpload, aThreat, NO_ID } from '../contracts/builders.ts'
import { asksFor, aWorld, refusedPaths, type World } from '../testing/world.ts'
import { createThreatBlocker } from '../threat-blockers/create-threat-blocker.ts'
import { removeThreatBlocker } from '../threat-blockers/remove-threat-blocker.ts'
import { listThreats } from './list-threats.ts'
import { readAllStatistics, readStatistics } from './read-statistics.ts'

const HOUR = 3600
/** The clock of the world says 2026-03-01T12:00:00Z. */
const NOON = Date.UTC(2026, 2, 1, 12) / 1000

async function create({ ports, as, organization }: World): Promise<number> {
  const fields = { organization, device_id: 'dev-1', email: 'soc@acme.example', type: 'series', services: [] }
  return createThreatBlocker(ports, as.owner, fields)
}

/** A blocker with requests in these slots, each `[start, total, malicious]`. */
async function withTraffic(world: World, ...slots: [start: number, total: number, malicious: number][]) {
  const id = await create(world)
  await world.ports.transact(async ({ traffic }) => {
    await traffic.insertUpload(anUpload({ threat_blocker: id }))
    await traffic.addSlots(
      id,
      slots.map(([start, total, malicious]) => ({ start, total, malicious, found_later: 0 })),
    )
  })
  return id
}

describe('statistics of a blocker', () => {
  asksFor(
    'traffic.read',
    create,
    ({ ports }, caller, id) => readStatistics(ports, caller, id),
    () => NO_ID,
  )

  test('cover the last 24 hours by the hour, unless said otherwise', async () => {
    const world = await aWorld()
    const id = await withTraffic(world, [NOON, 1, 1], [NOON - 24 * HOUR, 2, 0], [NOON - 25 * HOUR, 99, 99])
    const statistics = await readStatistics(world.ports, world.as.viewer, id)
    expect(statistics).toMatchObject({
      from: '2026-02-28T12:00:00.000Z',
      to: '2026-03-01T13:00:00.000Z',
      bucket: HOUR,
      total_requests: 3,
      malicious_requests: 1,
    })
    expect(statistics.buckets).toHaveLength(25)
    expect(statistics.buckets.at(-1)).toEqual({
      bucket_start: NOON,
      bucket_end: NOON + HOUR,
      total_requests: 1,
      malicious_requests: 1,
      found_later: 0,
    })
  })

  test('widen the period to whole buckets, and say so', async () => {
    const world = await aWorld()
    const id = await withTraffic(world, [NOON, 1, 0], [NOON + 300, 2, 0], [NOON + 600, 4, 0], [NOON + 900, 8, 0])
    const period = { from: '2026-03-01T12:07:00Z', to: '2026-03-01T12:10:00Z', bucket: 300 }
    expect(await readStatistics(world.ports, world.as.viewer, id, period)).toMatchObject({
      from: '2026-03-01T12:05:00.000Z',
      to: '2026-03-01T12:15:00.000Z',
      total_requests: 6,
      buckets: [{ total_requests: 2 }, { total_requests: 4 }],
    })
    const day = { from: '2026-03-01', to: '2026-03-01', bucket: 86_400 }
    expect(await readStatistics(world.ports, world.as.viewer, id, day)).toMatchObject({
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-03-02T00:00:00.000Z',
      buckets: [{ total_requests: 15 }],
    })
  })

  test('take no other bucket, no period that ends before it begins, and none of very many buckets', async () => {
    const world = await aWorld()
    const id = await create(world)
    const paths = (input: object) => refusedPaths(readStatistics(world.ports, world.as.viewer, id, input))
    expect(await paths({ bucket: 60 })).toEqual(['bucket'])
    expect(await paths({ from: 'yesterday' })).toEqual(['from'])
    expect(await paths({ from: '2026-03-02', to: '2026-03-01' })).toEqual(['from'])
    expect(await paths({ from: '2020-01-01', bucket: 300 })).toEqual(['bucket'])
    expect(await paths({ from: '9999-12-31', to: '9999-12-31T23:00:00Z' })).toEqual(['to'])
    expect(await paths({ to: '0000-01-01T01:00:00Z' })).toEqual(['to'])
  })
})

describe('statistics of all blockers', () => {
  test('add up those of the organizations that the caller belongs to, without removed blockers', async () => {
    const world = await aWorld()
    const { ports, as, organization, stranger } = world
    await withTraffic(world, [NOON, 1, 0])
    await withTraffic(world, [NOON, 2, 1])
    await removeThreatBlocker(ports, as.owner, await withTraffic(world, [NOON, 99, 99]))
    const total = async (caller: typeof stranger, input = {}) =>
      (await readAllStatistics(ports, caller, input)).total_requests
    expect(await total(as.viewer)).toBe(3)
    expect(await total(as.viewer, { organization })).toBe(3)
    expect(await total(as.viewer, { organization: NO_ID })).toBe(0)
    expect(await total(stranger)).toBe(0)
  })
})

describe('the threats of a blocker', () => {
  asksFor(
    'traffic.read',
    create,
    ({ ports }, caller, id) => listThreats(ports, caller, id),
    () => NO_ID,
  )

  test('are listed with their reasons, the one seen last first', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await create(world)
    const late = aThreat({ value: 'late', last_seen: '2026-03-01T11:59:00.000Z' })
    await ports.transact(({ traffic }) => traffic.addThreats(id, [aThreat(), late]))
    const { total, data } = await listThreats(ports, as.viewer, id)
    expect([total, data.map(({ id: _, ...threat }) => threat)]).toEqual([2, [late, aThreat()]])
    expect((await listThreats(ports, as.viewer, id, { kind: 'host' })).total).toBe(0)
    expect((await listThreats(ports, as.viewer, id, { from: '2026-03-01T11:30:00Z' })).total).toBe(1)
    expect(await refusedPaths(listThreats(ports, as.viewer, id, { kind: 'x', order: 'verdict' }))).toEqual([
      'order',
      'kind',
    ])
  })
})
