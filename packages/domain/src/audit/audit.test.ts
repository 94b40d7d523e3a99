import { describe, expect, test } from 'vitest'
import { anEvent } from '../contracts/builders.ts'
import { EVENT_TYPES } from '../events.ts'
import { asksForOnOrganization, aWorld, NOON, refusedPaths, type World } from '../testing/world.ts'
import { createVpnProfile } from '../vpn-profiles/create-vpn-profile.ts'
import { removeVpnProfile } from '../vpn-profiles/remove-vpn-profile.ts'
import { EVENT_KINDS } from './audit-event.ts'
import { exportEvents } from './export-events.ts'
import { listEvents } from './list-events.ts'
import { verifyEvents, verifyExport } from './verify-events.ts'

async function aHistory(): Promise<World & { profile: number }> {
  const world = await aWorld()
  const { ports, as, organization, clock } = world
  const caller = { ...as.security_officer, token: 7, request: 'first-request' }
  const profile = await createVpnProfile(ports, caller, { organization, email: 'road@acme.example' })
  clock.now = '2026-03-02T12:00:00.000Z'
  await removeVpnProfile(ports, { ...caller, request: 'second-request' }, profile)
  return { ...world, profile }
}

describe('reading the audit trail', () => {
  asksForOnOrganization('audit_trail.read', ({ ports }, caller, organization) =>
    listEvents(ports, caller, organization),
  )

  test('shows who did what to which record, when, in which request, with old and new values', async () => {
    const { ports, as, organization, profile } = await aHistory()
    const { user } = as.security_officer
    const { username = '' } = (await ports.users.find(user)) ?? {}
    const { total, data } = await listEvents(ports, as.owner, organization)
    const fields = { created_at: NOON, user_id: user, email: 'road@acme.example' }
    const every = (value: (text: string) => object) =>
      Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, value(text)]))
    const known = { organization, record: String(profile), user: { id: user, username }, token: 7 }
    expect(total).toBe(2)
    expect(data).toEqual([
      {
        ...known,
        id: data[0]?.id,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        datetime: '2026-03-02T12:00:00.000Z',
        action: 'vpn_profile.removed',
        request_id: 'second-request',
        changes: every((before) => ({ before, after: null })),
        details: { email: 'road@acme.example' },
      },
      {
        ...known,
        id: (data[0]?.id ?? 0) - 1,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        datetime: NOON,
        action: 'vpn_profile.created',
        request_id: 'first-request',
        changes: every((after) => ({ before: null, after })),
        details: { email: 'road@acme.example' },
      },
    ])
  })

  test('of the operator has no person, and of somebody who is not registered no name', async () => {
    const { ports, as, organization } = await aWorld()
    const id = '00000000-0000-4000-8000-000000000000'
    await ports.transact(async ({ events }) => {
      await events.append(anEvent({ organization }))
      await events.append(anEvent({ organization, user_id: id }))
    })
    const { data } = await listEvents(ports, as.owner, organization, { order: 'id' })
    expect(data.map(({ user }) => user)).toEqual([null, { id, username: null }])
  })

  test('takes filters by person, action, kind, record and period, and pages', async () => {
    const { ports, as, organization, profile } = await aHistory()
    const actions = async (query: object) =>
      (await listEvents(ports, as.owner, organization, query)).data.map(({ action }) => action)
    const [created, removed] = ['vpn_profile.created', 'vpn_profile.removed']
    expect(await actions({ user: as.security_officer.user.toUpperCase() })).toEqual([removed, created])
    expect(await actions({ user: as.owner.user })).toEqual([])
    expect(await actions({ action: created })).toEqual([created])
    expect(await actions({ kind: 'vpn_profile' })).toEqual([removed, created])
    expect(await actions({ kind: 'threat_blocker' })).toEqual([])
    expect(await actions({ kind: 'threat_blocker', action: created })).toEqual([])
    expect(await actions({ kind: 'vpn_profile', record: String(profile) })).toEqual([removed, created])
    expect(await actions({ record: 'none' })).toEqual([])
    expect(await actions({ from: '2026-03-02' })).toEqual([removed])
    expect(await actions({ to: '2026-03-01' })).toEqual([created])
    expect(await actions({ from: NOON, to: NOON })).toEqual([created])
    expect(await actions({ order: 'datetime' })).toEqual([created, removed])
    expect(await actions({ limit: 1, offset: 1 })).toEqual([created])
  })

  test('refuses values that cannot be', async () => {
    const { ports, as, organization } = await aWorld()
    const query = {
      user: 'me',
      action: 'removed',
      kind: 'thing',
      record: 1,
      from: 'x',
      to: '',
      order: 'hash',
      limit: -1,
    }
    const paths = await refusedPaths(listEvents(ports, as.owner, organization, query))
    expect(paths.toSorted()).toEqual(Object.keys(query).toSorted())
  })

  test('every type of event is of a kind', () => {
    expect(EVENT_KINDS).toContain('security_framework')
    for (const type of EVENT_TYPES) expect(EVENT_KINDS).toContain(type.split('.')[0])
  })
})

describe('an export of the audit trail', () => {
  async function exported(world: World, since?: string) {
    const lines: string[] = []
    for await (const part of exportEvents(world.ports, since)) {
      lines.push(...part.lines)
      expect(part.done).toBe(lines.length)
    }
    return lines
  }
  async function* each(lines: string[]) {
    yield* lines
  }

  test('has every row, and is whole without the database', async () => {
    const world = await aHistory()
    await world.ports.transact(async ({ events }) => {
      for (let count = 0; count < 1100; count += 1) await events.append(anEvent({ record: String(count) }))
    })
    const lines = await exported(world)
    expect(await verifyExport(world.ports, each(lines))).toEqual(await verifyEvents(world.ports))
    expect(lines).toHaveLength(world.ports.published.length)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      position: 1,
      action: 'vpn_profile.created',
      request_id: 'first-request',
      changes: { email: [null, 'road@acme.example'] },
    })
  })

  test('since a time begins with the first row of that time or later', async () => {
    const world = await aHistory()
    const later = await exported(world, '2026-03-02')
    expect(later.map((line) => JSON.parse(line).action)).toEqual(['vpn_profile.removed'])
    expect(await verifyExport(world.ports, each(later))).toMatchObject({
      rows: 1,
      head: await world.ports.events.head(),
    })
    expect(await exported(world, '2026-03-03')).toEqual([])
    expect(await refusedPaths(exported(world, 'yesterday'))).toEqual([''])
  })
})
