import { type Route, routes } from '../packages/adapters-http/src/index.ts'
import { type Answer, answerOf, faultsOf } from '../packages/adapters-http/src/testing/answers.ts'
import { CALLERS, expectedStatus, hiddenFrom, seenBy } from '../packages/adapters-http/src/testing/callers.ts'
import { EXAMPLES, type Named } from '../packages/adapters-http/src/testing/examples.ts'
import { pathOf } from '../packages/adapters-http/src/testing/requests.ts'
import { aPerson, aWorld, NAMES, type Site, type World } from '../packages/adapters-http/src/testing/world.ts'
import {
  addMember,
  type EventType,
  issueToken,
  NO_INVITATION_CAPS,
  type Ports,
  type Role,
  registerUser,
} from '../packages/domain/src/index.ts'
import { type Inside, lookInside, type Tables } from './inside.ts'
import { UNLIMITED } from './load.ts'
import { startMailServer } from './mail-server.ts'
import { aMarkedPerson, aMarkedSite, unmarked } from './marked-site.ts'
import type { Context, Outcome, Scenario } from './scenario.ts'

export const rights: Scenario = {
  name: 'rights',
  title: 'every operation × every caller × both forms of the token: the right status, the right effect, and no leak',
  databases: ['sqlite', 'postgres'],
  run,
}

/** The word that every text of an organization holds, and of its members but for the owner of two. */
const markOf = (name: string) => `canary${name.toLowerCase()}`

/** These words by the key of the organization's site in the world. */
const MARKS = {
  site: markOf(NAMES.site),
  secondSite: markOf(NAMES.secondSite),
  otherSite: markOf(NAMES.otherSite),
  removedSite: markOf(NAMES.removedSite),
}

/** Marks the owner of two organizations, whom the members of both may see. */
const OWNER_MARK = markOf('owner')

/** The events that an operation leaves in the audit trail, all of its caller; one for each organization where it marks all. */
const EVENTS: { [id: string]: EventType[] } = {
  createThreatBlocker: ['threat_blocker.created'],
  editThreatBlocker: ['threat_blocker.edited'],
  removeThreatBlocker: ['threat_blocker.removed'],
  uploadTraffic: ['traffic.uploaded'],
  createOrganization: ['organization.created'],
  editOrganization: ['organization.edited'],
  removeOrganization: ['organization.removed'],
  addMember: ['user.registered', 'member.added'],
  editMember: ['member.role_changed'],
  removeMember: ['member.removed'],
  renewInvitation: ['invitation.renewed'],
  createVpnProfile: ['vpn_profile.created'],
  removeVpnProfile: ['vpn_profile.removed'],
  createSecurityFramework: ['security_framework.created'],
  editSecurityFramework: ['security_framework.edited'],
  removeSecurityFramework: ['security_framework.removed'],
  attachEvidence: ['evidence.attached'],
  markAllNotificationsRead: ['notification.all_read'],
  markNotificationRead: ['notification.read'],
  issueToken: ['token.issued'],
  rotateToken: ['token.rotated'],
  revokeToken: ['token.revoked'],
  acceptInvitation: ['token.issued', 'invitation.accepted'],
}

/** What changes by itself: the use of a token is noted, and mails that are owed are tried. */
const RESTLESS = new Set([
  ...['token.last_used_at', 'invitation.attempts', 'invitation.next_attempt_at', 'invitation.lease_until'],
  'invitation.last_error',
])

/** How a token is sent. */
const FORMS = ['header', 'query'] as const
type Form = (typeof FORMS)[number]

type Scene = { address: string; world: World; inside: Inside; notification: number; code: string }
type Asked = { answer: Answer; method: string; path: string }

async function run(context: Context): Promise<Outcome> {
  const DATABASE_URL = await context.newDatabase()
  const inside = await lookInside(context, DATABASE_URL)
  const world = await aWorld(inside.ports, {
    aPerson: aPersonOfTheWorld,
    aSite: (ports, owner, name) => aMarkedSite(ports, owner, markOf(name)),
  })
  for (const [name, mark] of Object.entries(MARKS)) {
    const missing = unmarked(await inside.tables(), world[name as keyof typeof MARKS], mark)
    context.check(missing.length === 0, `not marked: ${missing.join(', ')}`)
  }
  const unknown = routes.filter(({ id, method }) => !EXAMPLES[id] || (method !== 'get' && !EVENTS[id]))
  context.check(unknown.length === 0, `no example, or no effect, is known of ${unknown.map(({ id }) => id)}`)

  // Invitations stay owed, so that their codes are there to be sent.
  const mailServer = await startMailServer('421')
  context.atEnd(mailServer.stop)
  const { address } = await context.serve({ DATABASE_URL, ...UNLIMITED, SMTP_URL: mailServer.url })
  const page = { limit: 1, offset: 0, order: 'id' } as const
  const [notification] = (await inside.ports.notifications.listOf(world.owner.user.id, {}, page)).data
  const code = await inside.codeFor(world.viewer.user.email)
  const scene: Scene = { address, world, inside, notification: notification?.id ?? 0, code }

  const counts = { requests: 0, refused: 0, permitted: 0 }
  // The short form takes every fourth operation; the tests of the interface go through all of them in memory.
  const first = context.random.between(0, 3)
  const chosen = context.size === 'full' ? routes : routes.filter((_, index) => index % 4 === first)
  for (const route of chosen) {
    await checkNothingChanges(context, scene, route, counts)
    if (route.method !== 'get') await checkEffects(context, scene, route, counts)
  }
  return {
    rounds: counts.requests,
    summary: `${chosen.length} operations × ${Object.keys(CALLERS).length} callers × ${FORMS.length} forms: ${counts.permitted} permitted, ${counts.refused} refused`,
  }
}

type Counts = { requests: number; refused: number; permitted: number }

/** People who belong to an organization of the world bear its mark; the others none. */
function aPersonOfTheWorld(ports: Ports, email: string) {
  const [name = ''] = email.split('@')
  if (name === 'owner') return aMarkedPerson(ports, name, OWNER_MARK)
  if (['officer', 'viewer'].includes(name)) return aMarkedPerson(ports, name, MARKS.site)
  if (name === 'other') return aMarkedPerson(ports, name, MARKS.otherSite)
  return aPerson(ports, email)
}

/** Marks that a caller may never see. */
function marksHiddenFrom(name: string): string[] {
  const hidden = hiddenFrom(name).map((site) => MARKS[site])
  return CALLERS[name]?.role ? hidden : [...hidden, OWNER_MARK]
}

/** Whatever is only read, and whatever is refused, about each organization, leaves every table as it was. */
async function checkNothingChanges(context: Context, scene: Scene, route: Route, counts: Counts): Promise<void> {
  const { world, inside, code } = scene
  const { site, otherSite, removedSite } = world
  const before = await inside.tables()

  async function expectStatus(
    name: string,
    site: Site,
    token: string | undefined,
    expected: (status: number) => boolean,
  ) {
    for (const form of FORMS) {
      const asked = await ask(scene, route, site, token, form)
      counts.requests += 1
      counts[asked.answer.status < 400 ? 'permitted' : 'refused'] += 1
      const who = `${route.id} by ${name}, token in the ${form}`
      context.check(expected(asked.answer.status), `${who}: ${asked.answer.status}`)
      checkAnswer(context, who, asked, marksHiddenFrom(name))
    }
  }

  for (const [name, { token: tokenOf, known = true }] of Object.entries(CALLERS)) {
    const token = tokenOf(world)
    const expected = expectedStatus(route, name)
    if (route.method === 'get' || expected >= 400)
      await expectStatus(name, site, token, (status) => status === expected)
    const ofOrganizations = route.right !== 'anyone' && route.right !== 'self'
    if (ofOrganizations) {
      await expectStatus(name, removedSite, token, (status) => status === (known ? 404 : 401))
      // A record of one organization under the path of another.
      for (const crossed of crossings(route, site, otherSite)) await expectStatus(name, crossed, token, isRefusal)
    }
    await checkLists(context, scene, route, name, token, counts)
  }
  if (route.authentication !== 'invitation')
    await expectStatus('an invited person', site, code, (status) => status === 401)

  const changed = differences(before, await inside.tables())
  context.check(changed.length === 0, `${route.id}, only read or refused, changed ${changed.join(', ')}`)
}

const isRefusal = (status: number) => status === 401 || status === 404

/** Sites whose parts do not belong together, where the path of the operation names two of them. */
function crossings({ params = {} }: Route, site: Site, other: Site): Site[] {
  // A person is the same in every organization.
  if (Object.hasOwn(params, 'userid')) return []
  if (Object.keys(params).length < 2) return []
  const { organization, blocker, key, ...rest } = site
  return [
    { ...other, organization, blocker, key },
    { ...rest, organization: other.organization, blocker: other.blocker, key: other.key },
  ]
}

/** Filters and searches for what is not theirs find nothing, and say nothing. */
async function checkLists(
  context: Context,
  scene: Scene,
  { id, method, path, query }: Route,
  name: string,
  token: string | undefined,
  counts: Counts,
): Promise<void> {
  if (method !== 'get' || path.includes('{') || !query) return
  const searches = Object.entries(MARKS).flatMap(([site, mark]) => [
    `organization=${scene.world[site as keyof typeof MARKS].organization}`,
    `search=${mark}`,
    `name=${mark}`,
  ])
  for (const search of searches.filter((text) => Object.hasOwn(query.entries, text.split('=')[0] ?? ''))) {
    const answer = await send(scene.address, 'GET', `${path}?${search}`, token)
    counts.requests += 1
    const who = `${id} with ${search} by ${name}`
    checkAnswer(context, who, { answer, method: 'GET', path }, marksHiddenFrom(name))
    if (answer.status !== 200 || !('total' in answer.json)) continue
    const mine = seenBy(name).flatMap((site) => [MARKS[site], scene.world[site].organization])
    const isMine = mine.some((value) => search.endsWith(`=${value}`))
    context.check(isMine || answer.json.total === 0, `${who} finds ${answer.json.total}`)
  }
}

/** Whoever may do it does it, once a form, and it has its effect and no other. */
async function checkEffects(context: Context, scene: Scene, route: Route, counts: Counts): Promise<void> {
  const { world, inside } = scene
  const names = Object.keys(CALLERS).filter((name) => expectedStatus(route, name) < 400)
  const callers =
    route.authentication === 'invitation'
      ? [{ name: 'an invited person', user: world.viewer.user.id }]
      : names.map((name) => ({ name, user: userOf(world, name) }))
  // In the short form each caller takes one of the forms, in turn.
  const forms = (index: number) => (context.size === 'full' ? FORMS : FORMS.slice(index % 2, (index % 2) + 1))
  for (const [index, { name, user }] of callers.entries()) {
    for (const form of forms(index)) {
      if (route.authentication === 'invitation' && form === 'query') continue
      const { site, token, named } = await aTarget(scene, route, name, user)
      const unreadOf = { read: false, organizations: reachOf(world, name) }
      const [before, unread] = [await eventsOf(scene), await inside.ports.notifications.listOf(user, unreadOf, ALL)]
      const asked = await ask(scene, route, site, token, form, named)
      counts.requests += 1
      counts.permitted += 1
      const who = `${route.id} by ${name}, token in the ${form}`
      context.check(asked.answer.status === route.status, `${who}: ${asked.answer.status}`)
      checkAnswer(context, who, asked, marksHiddenFrom(name === 'an invited person' ? 'a viewer' : name))
      const events = (await eventsOf(scene)).slice(before.length)
      const types = events.map(({ type }) => type)
      const isAboutAll = route.id === 'markAllNotificationsRead'
      const organizations = isAboutAll ? new Set(unread.data.map(({ organization }) => organization.id)).size : 1
      const expected = Array.from({ length: organizations }, () => EVENTS[route.id]).flat()
      context.check(String(types) === String(expected), `${who} left the events ${types}`)
      context.check(
        events.every(({ user_id }) => user_id === user),
        `${who} left events of somebody else`,
      )
      if (!route.id.startsWith('mark')) continue
      const { total } = await inside.ports.notifications.listOf(user, unreadOf, ALL)
      context.check(total === (isAboutAll ? 0 : unread.total - 1), `${who} left ${total} of ${unread.total} unread`)
    }
  }
}

const ALL = { limit: 1000, offset: 0, order: 'id' } as const

/** What the operation is done to, and by which token: what it would use up is made for it. */
async function aTarget(scene: Scene, route: Route, name: string, user: string) {
  const { world, inside, code } = scene
  const { ports } = inside
  const named = namedIn(scene)
  const token = route.authentication === 'invitation' ? code : CALLERS[name]?.token(world)
  const target = { site: world.site, token, named }
  if (route.path.includes('/tokens/')) {
    const { id: spare } = await issueToken(ports, { user })
    return { ...target, named: { ...named, spare } }
  }
  if (route.path.includes('/notifications')) {
    const [site] = seenBy(name)
    const notification = site ? await aNotification(scene, user, world[site].organization) : named.notification
    return { ...target, named: { ...named, notification } }
  }
  const add = (organization: number, user: string, role: Role) =>
    addMember(ports, { user: world.owner.user.id }, { organization, user }, { role }, NO_INVITATION_CAPS)
  if (route.id === 'renewInvitation') {
    const invited = await registerUser(ports, { email: `invited-${++requests}@${MARKS.site}.example` })
    await add(world.site.organization, invited.id, 'viewer')
    return { ...target, named: { ...named, viewer: invited.id } }
  }
  if (route.method !== 'delete' && route.id !== 'editMember') return target
  const site = await aMarkedSite(ports, world.owner, MARKS.site)
  await add(site.organization, world.officer.user.id, 'security_officer')
  await add(site.organization, world.viewer.user.id, 'viewer')
  if (CALLERS[name]?.narrowed !== 'here') return { ...target, site }
  return { ...target, site, token: (await issueToken(ports, { user, organizations: [site.organization] })).token }
}

/** The id of a notification that this person has not read yet. */
async function aNotification({ inside: { ports } }: Scene, user: string, organization: number): Promise<number> {
  const datetime = ports.now().toISOString()
  const texts = {
    title: 'News',
    message: 'Something happened',
    icon: 'fa-solid fa-bell',
    extra: { href: '/api/v1/me' },
  }
  const news = { type: 'info', action: 'link', organization, datetime, ...texts } as const
  await ports.transact((stores) => stores.notifications.insert([user], news))
  const [newest] = (await ports.notifications.listOf(user, {}, { limit: 1, offset: 0, order: '-id' })).data
  return newest?.id ?? 0
}

/** The organizations that the token of this caller is held to, if it is. */
function reachOf(world: World, name: string): number[] | null {
  const { narrowed } = CALLERS[name] ?? {}
  const held = { reading: null, here: [world.site.organization], elsewhere: [world.secondSite.organization] }
  return narrowed ? held[narrowed] : null
}

function userOf(world: World, name: string): string {
  if (CALLERS[name]?.narrowed) return world.owner.user.id
  const token = CALLERS[name]?.token(world)
  const people = Object.values(world).filter((value) => typeof value === 'object' && 'user' in value)
  return people.find((person) => person.token === token)?.user.id ?? ''
}

function namedIn({ world, notification }: Scene): Named {
  return { viewer: world.viewer.user.id, notification, spare: world.spare }
}

async function eventsOf({ inside }: Scene): Promise<{ type: string; user_id: string | null }[]> {
  const { event = [] } = await inside.tables(['event'])
  const rows = event as { position: number; type: string; user_id: string | null }[]
  return rows.sort((a, b) => a.position - b.position)
}

async function ask(
  scene: Scene,
  route: Route,
  site: Site,
  token: string | undefined,
  form: Form,
  named: Named = namedIn(scene),
): Promise<Asked> {
  const { path: values, query = '', sent = {} } = EXAMPLES[route.id]?.(site, named) ?? { path: [] }
  const method = route.method.toUpperCase()
  const path = pathOf(route, ...values)
  const inQuery = form === 'query' && token !== undefined
  const separator = query ? '&' : '?'
  const url = `${path}${query}${inQuery ? `${separator}X-Service-Token=${encodeURIComponent(token)}` : ''}`
  requests += 1
  // Nobody has this address yet, and no file like this was uploaded.
  const text = sent.json === undefined ? (sent.body as string | undefined) : JSON.stringify(sent.json)
  const body = text
    ?.replace('new@example.com', `new-${requests}@example.com`)
    .replace('T10:00:00Z', `T10:00:00Z","n":"${requests}`)
  const answer = await send(scene.address, method, url, inQuery ? undefined : token, {
    headers: {
      ...(sent.json !== undefined && { 'Content-Type': 'application/json' }),
      ...(sent.headers as { [name: string]: string } | undefined),
    },
    body,
  })
  return { answer, method, path }
}

let requests = 0

type Request = { headers?: { [name: string]: string }; body?: string | undefined }

async function send(
  address: string,
  method: string,
  path: string,
  token?: string,
  { headers, body }: Request = {},
): Promise<Answer> {
  const response = await fetch(`${address}${path}`, {
    method,
    headers: { ...headers, ...(token !== undefined && { 'X-Service-Token': token }) },
    ...(body !== undefined && { body }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return answerOf(response.status, Object.fromEntries(response.headers), bytes)
}

/** The answer is of the declared form, and neither its head nor its body holds a mark that its caller may not see. */
function checkAnswer(context: Context, who: string, { answer, method, path }: Asked, hidden: readonly string[]): void {
  const faults = faultsOf(method, path, answer)
  context.check(faults.length === 0, `${who}: ${faults.join('; ')}`)
  const text = `${JSON.stringify(answer.headers)} ${answer.bytes}`.toLowerCase()
  const seen = hidden.filter((mark) => text.includes(mark))
  context.check(seen.length === 0, `${who} is told of ${seen}: ${text.slice(0, 500)}`)
}

/** The tables in which rows came, went or changed. */
function differences(before: Tables, after: Tables): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => picture(name, before[name]) !== picture(name, after[name]))
}

function picture(table: string, rows: Tables[string] = []): string {
  const texts = rows.map((row) =>
    JSON.stringify(Object.entries(row).filter(([column]) => !RESTLESS.has(`${table}.${column}`))),
  )
  return texts.sort().join('\n')
}
