import { type MemoryPorts, memoryPorts } from '@security-management/domain/memory'
import { describe, expect, test } from 'vitest'
import type { Route } from './route.ts'
import { routes } from './routes/index.ts'
import { CALLERS, expectedStatus, hiddenFrom, seenBy } from './testing/callers.ts'
import { EXAMPLES } from './testing/examples.ts'
import { pathOf } from './testing/requests.ts'
import { call, type Service, startServiceOn } from './testing/service.ts'
import { aWorld, invitationCode, NAMES, type Site, type World } from './testing/world.ts'

type Scene = { ports: MemoryPorts; service: Service; world: World; notification: number; code: string }

const NEW_PAGE = { limit: 1000, offset: 0, order: 'id' } as const

async function aScene(): Promise<Scene> {
  const ports = memoryPorts()
  const world = await aWorld(ports)
  const { data } = await ports.notifications.listOf(world.owner.user.id, {}, NEW_PAGE)
  const code = await invitationCode(ports, 'viewer@example.com')
  const service = await startServiceOn(ports)
  return { ports, service, world, notification: data[0]?.id ?? 0, code }
}

/** All that a request could change, as one text. */
async function snapshot({ ports, world }: Scene): Promise<string> {
  const all = [world.site, world.secondSite, world.otherSite].map((site) => site.organization)
  const people = [world.owner, world.officer, world.viewer, world.removedMember, world.stranger, world.otherOwner]
  const tokens = await ports.tokens.list()
  return JSON.stringify([
    ports.published,
    await ports.users.list(),
    tokens.map(({ last_used_at: _, ...token }) => token),
    await Promise.all(people.map(({ user }) => ports.notifications.listOf(user.id, {}, NEW_PAGE))),
    await Promise.all(people.map(({ user }) => ports.members.membershipsOf(user.id))),
    await ports.organizations.listActive(all, {}, NEW_PAGE),
    await ports.threatBlockers.listActive(all, {}, NEW_PAGE),
    await ports.traffic.listUploads(world.site.blocker, NEW_PAGE),
    await ports.vpnProfiles.listActive(all, NEW_PAGE),
    await Promise.all(all.map((id) => ports.securityFrameworks.listActive(id, NEW_PAGE))),
    await ports.files.sweep('0000'),
  ])
}

async function act(scene: Scene, route: Route, site: Site, token: string | undefined) {
  const named = { viewer: scene.world.viewer.user.id, notification: scene.notification, spare: scene.world.spare }
  const { path, query = '', sent } = EXAMPLES[route.id]?.(site, named) ?? { path: [] }
  return call(scene.service, route.method.toUpperCase(), pathOf(route, ...path) + query, {
    ...sent,
    ...(token && { token }),
  })
}

test('every route has an example', () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(routes.map(({ id }) => id).sort())
})

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  const names = Object.keys(CALLERS)
  const refused = names.filter((name) => expectedStatus(route, name) >= 400)
  const permitted = names.filter((name) => expectedStatus(route, name) < 400)

  test('refuses everybody who may not, and changes nothing', async () => {
    const scene = await aScene()
    const before = await snapshot(scene)
    for (const name of refused) {
      const answer = await act(scene, route, scene.world.site, CALLERS[name]?.token(scene.world))
      expect([name, answer.status]).toEqual([name, expectedStatus(route, name)])
    }
    expect(await snapshot(scene)).toBe(before)
  })

  test.each(permitted)('does what it says for %s', async (name) => {
    const scene = await aScene()
    const before = await snapshot(scene)
    const answer = await act(scene, route, scene.world.site, CALLERS[name]?.token(scene.world))
    expect(answer.status).toBe(expectedStatus(route, name))
    const changed = (await snapshot(scene)) !== before
    // Somebody who has no notifications marks none.
    const hasAny = route.id !== 'markAllNotificationsRead' || answer.json.data.marked > 0
    expect(changed).toBe(route.method !== 'get' && hasAny)
    if (route.method !== 'get' || route.answer === 'document' || !('total' in route.answer)) return
    // Whoever has a token has one to list.
    expect(answer.json.total > 0).toBe(route.id === 'listTokens' || seenBy(name).length > 0)
    const text = answer.bytes.toString()
    expect(hiddenFrom(name).filter((site) => text.includes(NAMES[site]))).toEqual([])
  })
})

const OF_ORGANIZATIONS = routes.filter(({ right }) => right !== 'anyone' && right !== 'self')

test.each(OF_ORGANIZATIONS.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s finds nothing of a removed organization, whoever asks',
  async (_, route) => {
    const scene = await aScene()
    const before = await snapshot(scene)
    for (const [name, { token, known = true }] of Object.entries(CALLERS)) {
      const answer = await act(scene, route, scene.world.removedSite, token(scene.world))
      expect([name, answer.status]).toEqual([name, known ? 404 : 401])
    }
    expect(await snapshot(scene)).toBe(before)
  },
)

test('an invitation authorizes its acceptance and nothing else', async () => {
  const scene = await aScene()
  for (const route of routes) {
    const answer = await act(scene, route, scene.world.site, scene.code)
    expect([route.id, answer.status]).toEqual([route.id, route.id === 'acceptInvitation' ? 201 : 401])
  }
})

test.each(['reading', 'here', 'elsewhere'] as const)(
  'a token narrowed to %s may rotate and revoke itself',
  async (name) => {
    const { service, world } = await aScene()
    const token = world.narrowed[name]
    const { json } = await call(service, 'GET', '/api/v1/tokens?order=id&limit=1000', { token: world.owner.token })
    const { id } = json.data.find(({ prefix }: { prefix: string }) => token.startsWith(prefix))
    const rotated = await call(service, 'POST', `/api/v1/tokens/${id}/rotate`, { token })
    expect(rotated.status).toBe(201)
    expect((await call(service, 'GET', '/api/v1/me', { token })).status).toBe(401)
    const fresh = { token: rotated.json.data.token }
    expect((await call(service, 'POST', '/api/v1/tokens', { ...fresh, json: { name: 'wide' } })).status).toBe(401)
    expect((await call(service, 'DELETE', `/api/v1/tokens/${id}`, fresh)).status).toBe(200)
    expect((await call(service, 'GET', '/api/v1/me', fresh)).status).toBe(401)
  },
)

test('a narrowed token is refused before its body is read', async () => {
  const { service, world } = await aScene()
  for (const token of Object.values(world.narrowed)) {
    for (const path of ['/api/v1/tokens', '/api/v1/organizations', `/api/v1/tokens/${world.spare}/rotate`]) {
      expect((await call(service, 'POST', path, { token, body: 'no JSON' })).status).toBe(401)
    }
  }
})

const CHANGING = routes.filter(({ method }) => method !== 'get')

test.each(CHANGING.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s leaves a row in the audit trail: who, where, and in which request',
  async (_, route) => {
    const scene = await aScene()
    const { owner, viewer, site } = scene.world
    const isAcceptance = route.authentication === 'invitation'
    const before = scene.ports.published.length
    const answer = await act(scene, route, site, isAcceptance ? scene.code : owner.token)
    expect(answer.status).toBe(route.status)
    const user_id = (isAcceptance ? viewer : owner).user.id
    const inOrganization = route.id === 'createOrganization' ? answer.json.organization : site.organization
    // A token belongs to a person, and to no organization.
    const organization = route.path.startsWith('/api/v1/tokens') ? null : inOrganization
    const events = scene.ports.published.slice(before)
    expect(events).toContainEqual(expect.objectContaining({ user_id, organization }))
    for (const { request_id, token, changes } of events) {
      expect(request_id).toBe(answer.headers['x-request-id'])
      if (!isAcceptance) expect(token).toEqual(expect.any(Number))
      // Old and new values: what a row tells of did change.
      for (const [before, after] of Object.values(changes)) expect(before).not.toEqual(after)
    }
    expect(events.some(({ changes }) => Object.keys(changes).length > 0)).toBe(true)
    const listed = await call(scene.service, 'GET', `/api/v1/organizations/${organization}/events`, {
      token: owner.token,
    })
    // Nobody reads over the wire the trail of a removed organization, or what is past all.
    if (route.id === 'removeOrganization' || organization === null) return expect(listed.status).toBe(404)
    const [newest] = listed.json.data
    expect(newest).toMatchObject({ user: { id: user_id }, request_id: answer.headers['x-request-id'] })
    return undefined
  },
)
