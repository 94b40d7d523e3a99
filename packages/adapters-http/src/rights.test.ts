import { issueToken, mayPerform, type Role } from '@security-management/domain'
import { type MemoryPorts, memoryPorts } from '@security-management/domain/memory'
import { describe, expect, test } from 'vitest'
import type { Route } from './route.ts'
import { routes } from './routes/index.ts'
import { call, pathOf, type Sent, type Service, startServiceOn } from './testing/service.ts'
import { aBlocker, aWorld, CONTROL, invitationCode, type Site, type World } from './testing/world.ts'

/** Everybody who may come, and their role in the organization Alpha. */
const CALLERS: { [name: string]: { role?: Role; token: (world: World) => string | undefined; known?: false } } = {
  'nobody, without a token': { token: () => undefined, known: false },
  'somebody with a wrong token': { token: ({ owner }) => `${owner.token.slice(0, -1)}!`, known: false },
  'the owner with a revoked token': { token: ({ revokedToken }) => revokedToken, known: false },
  'the owner with an expired token': { token: ({ expiredToken }: ExpiredWorld) => expiredToken, known: false },
  'a stranger': { token: ({ stranger }) => stranger.token },
  'a removed member': { token: ({ removedMember }) => removedMember.token },
  'the owner of another organization': { token: ({ otherOwner }) => otherOwner.token },
  'the owner of a removed organization': { token: ({ removedOwner }) => removedOwner.token },
  'a viewer': { role: 'viewer', token: ({ viewer }) => viewer.token },
  'a security officer': { role: 'security_officer', token: ({ officer }) => officer.token },
  'the owner': { role: 'owner', token: ({ owner }) => owner.token },
}
type ExpiredWorld = World & { expiredToken?: string }
type Scene = { ports: MemoryPorts; service: Service; world: Required<ExpiredWorld>; notification: number; code: string }

/** Values of the path, and the rest of a request that would succeed for somebody who may. */
type Example = (site: Site, scene: Scene) => { path: (string | number)[]; query?: string; sent?: Sent }

const FILE: Sent = {
  headers: { 'Content-Disposition': 'attachment; filename=a.json', 'Content-Type': 'application/json' },
  body: '[{"time":"2025-03-01T10:00:00Z"}]',
}
const blocker: Example = ({ blocker }) => ({ path: [blocker] })
const organization: Example = ({ organization }) => ({ path: [organization] })
const framework: Example = ({ organization, framework }) => ({ path: [organization, framework] })
const viewer: Example = ({ organization }, { world }) => ({ path: [organization, world.viewer.user.id] })
const nothing: Example = () => ({ path: [] })

const EXAMPLES: { [id: string]: Example } = {
  createThreatBlocker: ({ organization }) => ({ path: [], sent: { json: aBlocker(organization) } }),
  listThreatBlockers: nothing,
  readThreatBlocker: blocker,
  editThreatBlocker: ({ key }) => ({ path: [key], sent: { json: { device_id: 'edited' } } }),
  removeThreatBlocker: blocker,
  uploadTraffic: ({ blocker }) => ({ path: [blocker], sent: FILE }),
  listTrafficUploads: blocker,
  readTrafficUpload: ({ blocker, upload }) => ({ path: [blocker, upload] }),
  readRawTraffic: ({ blocker, upload }) => ({ path: [blocker, upload] }),
  listThreats: blocker,
  readStatistics: blocker,
  readAllStatistics: nothing,
  lookUpThreat: () => ({ path: [], query: '?value=203.0.113.9' }),
  listCloudDefenses: nothing,
  readCloudDefense: ({ defense }) => ({ path: [defense] }),
  createOrganization: () => ({ path: [], sent: { json: { name: 'New' } } }),
  listOrganizations: nothing,
  readOrganization: organization,
  editOrganization: ({ organization }) => ({ path: [organization], sent: { json: { name: 'Edited' } } }),
  removeOrganization: organization,
  listMembers: organization,
  addMember: ({ organization }) => ({ path: [organization, 0], sent: { json: { email: 'new@example.com' } } }),
  editMember: (site, scene) => ({ ...viewer(site, scene), sent: { json: { role: 'owner' } } }),
  removeMember: viewer,
  createVpnProfile: ({ organization }) => ({ path: [], sent: { json: { organization, email: 'a@example.com' } } }),
  listVpnProfiles: nothing,
  readVpnProfile: ({ profile }) => ({ path: [profile] }),
  removeVpnProfile: ({ profile }) => ({ path: [profile] }),
  listSecurityFrameworks: organization,
  createSecurityFramework: ({ organization }) => ({ path: [organization], sent: { json: { title: 'New' } } }),
  readSecurityFramework: framework,
  editSecurityFramework: (site, scene) => ({ ...framework(site, scene), sent: { json: { title: 'Edited' } } }),
  removeSecurityFramework: framework,
  attachEvidence: ({ organization, framework }) => ({ path: [organization, framework, CONTROL], sent: FILE }),
  readDocument: ({ organization, framework, document }) => ({ path: [organization, framework, CONTROL, document] }),
  listAssessments: nothing,
  readAssessment: ({ assessment }) => ({ path: [assessment] }),
  listNotifications: nothing,
  markAllNotificationsRead: nothing,
  markNotificationRead: (_, { notification }) => ({ path: [notification] }),
  readMe: nothing,
  acceptInvitation: () => ({ path: [], sent: { json: { first_name: 'Ada' } } }),
}

const NEW_PAGE = { limit: 1000, offset: 0, order: 'id' } as const
const HOUR = 60 * 60 * 1000

async function aScene(): Promise<Scene> {
  let ahead = 0
  const ports = memoryPorts({ now: () => new Date(Date.now() + ahead) })
  const world = await aWorld(ports)
  const expires_at = new Date(Date.now() + HOUR / 2).toISOString()
  const { token: expiredToken } = await issueToken(ports, { user: world.owner.user.id, expires_at })
  ahead = HOUR
  const { data } = await ports.notifications.listOf(world.owner.user.id, {}, NEW_PAGE)
  const code = await invitationCode(ports, 'viewer@example.com')
  const service = await startServiceOn(ports)
  return { ports, service, world: { ...world, expiredToken }, notification: data[0]?.id ?? 0, code }
}

/** All that a request could change, as one text. */
async function snapshot({ ports, world }: Scene): Promise<string> {
  const all = [world.site, world.otherSite].map((site) => site.organization)
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

/** What the table of rights says of this caller, about what belongs to Alpha. */
function expectedStatus(route: Route, name: string): number {
  const { role, known = true } = CALLERS[name] ?? {}
  if (!known || route.authentication === 'invitation') return 401
  if (route.right === 'anyone' || (route.right === 'self' && !route.params)) return route.status
  // The record of one person: the owner's notification, the owner's VPN profile.
  if (route.right === 'self') return role === 'owner' ? route.status : 404
  if (route.id === 'removeVpnProfile') return role === 'owner' ? route.status : 401
  return role && mayPerform(role, route.right) ? route.status : 401
}

async function act(scene: Scene, route: Route, site: Site, token: string | undefined) {
  const { path, query = '', sent } = EXAMPLES[route.id]?.(site, scene) ?? { path: [] }
  return call(scene.service, route.method.toUpperCase(), pathOf(route, ...path) + query, {
    ...sent,
    ...(token && { token }),
  })
}

test('every route has an example here', () => {
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
    const hasSome = route.id !== 'markAllNotificationsRead' || answer.json.data.marked > 0
    expect(changed).toBe(route.method !== 'get' && hasSome)
    if (route.method !== 'get' || route.answer === 'document' || !('total' in route.answer)) return
    const theirs = CALLERS[name]?.role !== undefined || name === 'the owner of another organization'
    expect(answer.json.total > 0).toBe(theirs)
    const others = name === 'the owner of another organization' ? 'Alpha' : 'Beta'
    expect(answer.bytes.toString()).not.toMatch(new RegExp(`${others}|Former`))
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
