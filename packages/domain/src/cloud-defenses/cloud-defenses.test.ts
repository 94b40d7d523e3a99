import { describe, expect, test } from 'vitest'
import { aCloudDefense, NO_ID } from '../contracts/builders.ts'
import { asksFor, aWorld, expectRefused, happened, refusedPaths, type World } from '../testing/world.ts'
import { importCloudDefenses } from './import-cloud-defenses.ts'
import { listCloudDefenses } from './list-cloud-defenses.ts'
import { readCloudDefense } from './read-cloud-defense.ts'

async function store({ ports, organization }: World, part: object = {}): Promise<number> {
  return ports.transact(({ cloudDefenses }) => cloudDefenses.insert(aCloudDefense({ organization, ...part })))
}

describe('importing cloud defenses', () => {
  test('takes in every record; what is left out is unknown or empty', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const progress: [number, number][] = []
    const least = { organization, email: 'web@acme.example', fqdn: 'a.acme.example' }
    const web_stat = [{ datetime: '2026-02-01', waf_protection: 12.5, total_managed_requests: 8 }]
    const check = { stat: { fqdn: 1, datetime: '2026-02-01T00:00:00Z' }, status: 1, web_stat }
    const whole = { ...least, fqdn: 'b.acme.example', endpoint: '192.0.2.1', services: ['WAF Protection'], check }
    const count = await importCloudDefenses(ports, [least, whole], (done, total) => progress.push([done, total]))
    expect(count).toBe(2)
    expect(progress).toEqual([
      [1, 2],
      [2, 2],
    ])
    const { data } = await listCloudDefenses(ports, as.viewer, { order: 'id' })
    const summary = { id: organization, name: 'Acme', logo: 'https://acme.example/logo.png' }
    expect(data).toEqual([
      {
        ...least,
        id: expect.any(Number),
        organization: summary,
        endpoint: '',
        services: [],
        check: {
          stat: { fqdn: 0, proxy: 0, endpoint: 0, datetime: '2026-03-01T12:00:00.000Z' },
          status: 0,
          web_stat: [],
        },
      },
      {
        ...whole,
        id: expect.any(Number),
        organization: summary,
        check: {
          stat: { fqdn: 1, proxy: 0, endpoint: 0, datetime: '2026-02-01T00:00:00.000Z' },
          status: 1,
          web_stat: [{ ...web_stat[0], datetime: '2026-02-01T00:00:00.000Z' }],
        },
      },
    ])
    expect(happened(world).map(({ type, user_id }) => [type, user_id])).toEqual([
      ['cloud_defense.imported', null],
      ['cloud_defense.imported', null],
    ])
  })

  test('takes in all or nothing, and names each wrong record by its index', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const right = { organization, email: 'web@acme.example', fqdn: 'a.acme.example' }
    const wrong = [
      right,
      { ...right, email: 'x', check: { stat: { fqdn: 2 }, status: -1 } },
      'text',
      { ...right, services: ['WAF Protection', 'x'] },
      [right],
    ]
    expect(await refusedPaths(importCloudDefenses(ports, wrong))).toEqual([
      '1.email',
      '1.check.stat.fqdn',
      '1.check.status',
      '2',
      '3.services.1',
      '4',
    ])
    expect(await refusedPaths(importCloudDefenses(ports, [right, { ...right, organization: NO_ID }]))).toEqual([
      '1.organization',
    ])
    for (const input of [{}, null, 'x', { data: [right] }]) {
      expect(await refusedPaths(importCloudDefenses(ports, input))).toEqual([''])
    }
    expect((await listCloudDefenses(ports, as.viewer)).total).toBe(0)
    expect(happened(world)).toEqual([])
    expect(await importCloudDefenses(ports, [])).toBe(0)
  })
})

describe('reading a cloud defense', () => {
  asksFor(
    'cloud_defense.read',
    store,
    ({ ports }, caller, id) => readCloudDefense(ports, caller, id),
    () => NO_ID,
  )
})

describe('listing cloud defenses', () => {
  test('shows those of the caller’s organizations, newest first', async () => {
    const world = await aWorld()
    const ids = [await store(world), await store(world)]
    const { ports, as, stranger } = world
    const { total, data } = await listCloudDefenses(ports, as.viewer)
    expect([total, ...data.map(({ id }) => id)]).toEqual([2, ...ids.toReversed()])
    expect(await listCloudDefenses(ports, stranger)).toEqual({ total: 0, data: [] })
  })

  test('can be narrowed to an organization and a service', async () => {
    const world = await aWorld()
    const { ports, as, organization, stranger } = world
    await store(world, { services: ['Service IPv4 Protection'] })
    await store(world, { services: ['WAF Protection'] })
    expect((await listCloudDefenses(ports, as.viewer, { service: 'WAF Protection', organization })).total).toBe(1)
    expect((await listCloudDefenses(ports, as.viewer, { organization: NO_ID })).total).toBe(0)
    expect((await listCloudDefenses(ports, stranger, { organization })).total).toBe(0)
    await expectRefused(world, 'invalid', () => listCloudDefenses(ports, as.viewer, { service: 'Protection' }))
  })
})
