import { describe, expect, test } from 'vitest'
import { NO_ID, ODD_JSON, ODD_TEXT } from '../contracts/builders.ts'
import {
  asksFor,
  asksForOnOrganization,
  aWorld,
  expectRefused,
  happened,
  refusedPaths,
  type World,
} from '../testing/world.ts'
import { createVpnProfile } from '../vpn-profiles/create-vpn-profile.ts'
import { removeVpnProfile } from '../vpn-profiles/remove-vpn-profile.ts'
import { createThreatBlocker } from './create-threat-blocker.ts'
import { editThreatBlocker } from './edit-threat-blocker.ts'
import { listThreatBlockers } from './list-threat-blockers.ts'
import { readThreatBlocker } from './read-threat-blocker.ts'
import { removeThreatBlocker } from './remove-threat-blocker.ts'

function input(organization: number, part: object = {}) {
  return {
    organization,
    device_id: 'dev-1',
    email: 'soc@acme.example',
    type: 'series',
    services: ['Service IPv4 Protection'],
    ...part,
  }
}

async function create({ ports, as, organization }: World, part: object = {}): Promise<number> {
  return createThreatBlocker(ports, as.owner, input(organization, part))
}

const none = () => NO_ID

describe('creating a threat blocker', () => {
  asksForOnOrganization('threat_blocker.create', ({ ports }, caller, organization) =>
    createThreatBlocker(ports, caller, input(organization)),
  )

  test('gives it a key, and nothing that is not known yet', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const id = await createThreatBlocker(ports, as.security_officer, {
      ...input(organization, { device_id: ` ${ODD_TEXT} `, services: [] }),
      atb_key: 'mine',
      plugin: { name: 'mine' },
    })
    expect(await readThreatBlocker(ports, as.viewer, id)).toEqual({
      id,
      organization: { id: organization, name: 'Acme', logo: 'https://acme.example/logo.png' },
      atb_key: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      device_id: ODD_TEXT.trim(),
      email: 'soc@acme.example',
      type: 'series',
      services: [],
      plugin: { name: 'none', config: {} },
      endpoint: '',
      privateIP: '',
      check: {
        stat: { vpn: 0, dnsbl: 0, iplist: 0, datetime: '2026-03-01T12:00:00.000Z' },
        status: 0,
        web_stat: [],
        chart_stat: [],
      },
    })
    expect(happened(world)).toMatchObject([
      { type: 'threat_blocker.created', organization, record: String(id), details: { device_id: ODD_TEXT.trim() } },
    ])
  })

  test('the same device may be set up twice', async () => {
    const world = await aWorld()
    expect(await create(world)).not.toBe(await create(world))
  })

  test('all five fields are required', async () => {
    const { ports, as } = await aWorld()
    expect(await refusedPaths(createThreatBlocker(ports, as.owner, {}))).toEqual([
      'organization',
      'device_id',
      'email',
      'type',
      'services',
    ])
  })

  test('names every field that does not fit', async () => {
    const { ports, as } = await aWorld()
    const wrong = {
      organization: '1',
      device_id: ' ',
      email: 'x',
      type: 'star',
      services: ['Service IPv4 Protection', 'x'],
    }
    expect(await refusedPaths(createThreatBlocker(ports, as.owner, wrong))).toEqual([
      'organization',
      'device_id',
      'email',
      'type',
      'services.1',
    ])
    expect(await refusedPaths(createThreatBlocker(ports, as.owner, [input(1)]))).toEqual([''])
  })
})

describe('reading a threat blocker', () => {
  asksFor('threat_blocker.read', create, ({ ports }, caller, id) => readThreatBlocker(ports, caller, id), none)

  test('works by its key as well', async () => {
    const world = await aWorld()
    const { ports, as, stranger } = world
    const blocker = await readThreatBlocker(ports, as.viewer, await create(world))
    expect(await readThreatBlocker(ports, as.viewer, blocker.atb_key)).toEqual(blocker)
    await expectRefused(world, 'forbidden', () => readThreatBlocker(ports, stranger, blocker.atb_key))
    await expectRefused(world, 'not_found', () => readThreatBlocker(ports, as.viewer, 'no key'))
  })

  test('tells which services are on, and whether there is a VPN', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const id = await create(world, { services: ['Service Domain Protection'] })
    const stat = async () => (await readThreatBlocker(ports, as.viewer, id)).check.stat
    expect(await stat()).toMatchObject({ vpn: 0, dnsbl: 1, iplist: 0 })
    const vpn = await createVpnProfile(ports, as.owner, { organization, email: 'road@acme.example' })
    await editThreatBlocker(ports, as.owner, id, { services: ['Service IPv4 Protection'] })
    expect(await stat()).toMatchObject({ vpn: 1, dnsbl: 0, iplist: 1 })
    await removeVpnProfile(ports, as.owner, vpn)
    expect(await stat()).toMatchObject({ vpn: 0 })
  })
})

describe('editing a threat blocker', () => {
  asksFor(
    'threat_blocker.edit',
    create,
    ({ ports }, caller, id) => editThreatBlocker(ports, caller, id, { device_id: 'dev-2' }),
    none,
  )

  test('replaces what is named; the key, the organization and the check are no part of it', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const before = await readThreatBlocker(ports, as.viewer, await create(world))
    const plugin = { name: 'nginx', config: ODD_JSON }
    const after = await editThreatBlocker(ports, as.security_officer, before.atb_key, {
      plugin,
      endpoint: '192.0.2.1',
      privateIP: '::1',
      organization: 99,
      atb_key: 'mine',
      check: { status: 1 },
      id: 99,
    })
    expect(after).toEqual({ ...before, plugin, endpoint: '192.0.2.1', privateIP: '::1' })
    expect(await readThreatBlocker(ports, as.viewer, before.id)).toEqual(after)
    expect(happened(world, 'threat_blocker.edited')).toMatchObject([
      { record: String(before.id), changes: { endpoint: ['', '192.0.2.1'], privateIP: ['', '::1'] } },
    ])
    expect(Object.keys(happened(world).at(-1)?.changes ?? {}).toSorted()).toEqual(['endpoint', 'plugin', 'privateIP'])
  })

  test('names every field that does not fit, and changes nothing', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await create(world)
    const before = await readThreatBlocker(ports, as.viewer, id)
    const wrong = { email: 'x', plugin: { config: [] }, endpoint: 'host', privateIP: null, services: 'all' }
    expect((await refusedPaths(editThreatBlocker(ports, as.owner, id, wrong))).toSorted()).toEqual([
      'email',
      'endpoint',
      'plugin.config',
      'plugin.name',
      'privateIP',
      'services',
    ])
    expect(await readThreatBlocker(ports, as.viewer, id)).toEqual(before)
  })

  test('an address can be taken back', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await create(world)
    await editThreatBlocker(ports, as.owner, id, { endpoint: '192.0.2.1' })
    expect((await editThreatBlocker(ports, as.owner, id, { endpoint: '' })).endpoint).toBe('')
  })
})

describe('removing a threat blocker', () => {
  asksFor('threat_blocker.remove', create, ({ ports }, caller, id) => removeThreatBlocker(ports, caller, id), none)

  test('returns it, and hides it from then on', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const blocker = await readThreatBlocker(ports, as.owner, await create(world))
    expect(await removeThreatBlocker(ports, as.owner, blocker.atb_key)).toEqual(blocker)
    await expectRefused(world, 'not_found', () => removeThreatBlocker(ports, as.owner, blocker.id))
    await expectRefused(world, 'not_found', () => readThreatBlocker(ports, as.owner, blocker.atb_key))
    expect((await listThreatBlockers(ports, as.owner)).total).toBe(0)
    expect(happened(world, 'threat_blocker.removed')).toHaveLength(1)
  })
})

describe('listing threat blockers', () => {
  test('shows those of every organization that the caller belongs to, newest first', async () => {
    const world = await aWorld()
    const { ports, as, stranger, formerOwner } = world
    const ids = [await create(world), await create(world)]
    const { total, data } = await listThreatBlockers(ports, as.viewer)
    expect([total, ...data.map(({ id }) => id)]).toEqual([2, ...ids.toReversed()])
    expect(data[0]?.check.stat).toMatchObject({ iplist: 1 })
    for (const caller of [stranger, formerOwner]) {
      expect(await listThreatBlockers(ports, caller)).toEqual({ total: 0, data: [] })
    }
  })

  test('can be narrowed to an organization and a service; one of others is empty', async () => {
    const world = await aWorld()
    const { ports, as, organization, stranger } = world
    await create(world, { services: ['Service Domain Protection'] })
    await create(world)
    const totalOf = async (query: object, caller = as.viewer) => (await listThreatBlockers(ports, caller, query)).total
    expect(await totalOf({ organization })).toBe(2)
    expect(await totalOf({ organization, service: 'Service Domain Protection' })).toBe(1)
    expect(await totalOf({ organization: NO_ID })).toBe(0)
    expect(await totalOf({ organization }, stranger)).toBe(0)
    expect(await refusedPaths(listThreatBlockers(ports, as.viewer, { service: 'x', organization: 0 }))).toEqual([
      'organization',
      'service',
    ])
  })
})
