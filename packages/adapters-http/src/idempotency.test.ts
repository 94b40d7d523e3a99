import { gzipSync } from 'node:zlib'
import { addMember, editMember, issueToken, type Ports, removeMember, uploadTraffic } from '@security-management/domain'
import { memoryPorts } from '@security-management/domain/memory'
import { describe, expect, test } from 'vitest'
import type { Route } from './route.ts'
import { routes } from './routes/index.ts'
import type { Answer } from './testing/answers.ts'
import { openLine } from './testing/raw.ts'
import { formOf, pathOf, type Sent } from './testing/requests.ts'
import { call, startServiceOn } from './testing/service.ts'
import { aBlocker, aFramework, aPerson, aSite, CONTROL, invitationCode, stream } from './testing/world.ts'

const KEY = { 'Idempotency-Key': 'a key of mine' }
const FILE = { 'Content-Disposition': 'attachment; filename="a.json"', 'Content-Type': 'application/json' }
const LINES = JSON.stringify([{ time: '2025-03-01T10:00:00Z', status: 200 }])

async function aService(options = {}) {
  let ahead = 0
  const ports = memoryPorts({ now: () => new Date(Date.now() + ahead) })
  const service = await startServiceOn(ports, options)
  const owner = await aPerson(ports, 'owner@example.com')
  const site = await aSite(ports, owner, 'Alpha')
  const invited = await addMember(
    ports,
    { user: owner.user.id },
    { organization: site.organization, user: '0' },
    { email: 'new@example.com' },
  )
  const code = await invitationCode(ports, 'new@example.com')
  const { id: spare } = await issueToken(ports, { user: owner.user.id, name: 'spare' })
  const organizations = (sent: Sent) => call(service, 'POST', '/api/v1/organizations', { token: owner.token, ...sent })
  const happened = (type: string) => ports.published.filter((event) => event.type === type).length
  const wait = (milliseconds: number) => {
    ahead += milliseconds
  }
  return { service, ports, owner, site, invited, code, spare, token: owner.token, organizations, happened, wait }
}
type Scene = Awaited<ReturnType<typeof aService>>

/** What a client sees of an answer, the bytes of its body included. */
const seen = ({ status, headers, bytes }: Answer) => [
  status,
  headers.location,
  headers['content-type'],
  bytes.toString(),
]

/** A request to each route that takes a POST, which succeeds, and another one to the same place. */
const POSTS: {
  [id: string]: (scene: Scene) => {
    path: (string | number)[]
    sent: Sent
    other: Sent & { path?: (string | number)[] }
    token?: string
  }
} = {
  createThreatBlocker: ({ site }) => ({
    path: [],
    sent: { json: aBlocker(site.organization) },
    other: { json: aBlocker(site.organization, { device_id: 'other' }) },
  }),
  uploadTraffic: ({ site }) => ({
    path: [site.key],
    sent: { headers: FILE, body: LINES },
    other: { headers: FILE, body: '[]' },
  }),
  createOrganization: () => ({ path: [], sent: { json: { name: 'Gamma' } }, other: { json: { name: 'Delta' } } }),
  addMember: ({ site }) => ({
    path: [site.organization, 0],
    sent: { json: { email: 'grace@example.com' } },
    other: { json: { email: 'grace@example.com', role: 'owner' } },
  }),
  createVpnProfile: ({ site }) => ({
    path: [],
    sent: { json: { organization: site.organization, email: 'vpn@example.com' } },
    other: { json: { organization: site.organization, email: 'other@example.com' } },
  }),
  createSecurityFramework: ({ site }) => ({
    path: [site.organization],
    sent: { json: aFramework() },
    other: { json: aFramework({ title: 'Other' }) },
  }),
  attachEvidence: ({ site }) => ({
    path: [site.organization, site.framework, CONTROL],
    sent: { headers: FILE, body: 'proof' },
    other: { headers: FILE, body: 'other' },
  }),
  issueToken: () => ({ path: [], sent: { json: { name: 'laptop' } }, other: { json: { name: 'phone' } } }),
  rotateToken: ({ spare }) => ({ path: [spare], sent: { json: {} }, other: { json: { overlap_days: 1 } } }),
  renewInvitation: ({ site, invited, owner }) => ({
    path: [site.organization, invited.user],
    sent: {},
    other: { path: [site.organization, owner.user.id] },
  }),
  acceptInvitation: ({ code }) => ({
    path: [],
    sent: { json: { first_name: 'Grace' } },
    other: { json: { first_name: 'Ada' } },
    token: code,
  }),
}

const posts = routes.filter(({ method }) => method === 'post')

/** Everything that a request changes, as numbers that grow with each change. */
async function changes({ ports }: Scene): Promise<unknown> {
  return [ports.published.length, (await ports.tokens.list()).length, await ports.files.sweep('9999')]
}

async function requestTo(route: Route) {
  const scene = await aService()
  const example = POSTS[route.id]
  if (!example) throw new Error(`${route.id} has no example`)
  const { path, sent, other, token = scene.token } = example(scene)
  const send = ({ path: place = path, ...what }: typeof other, key: object = KEY) =>
    call(scene.service, 'POST', pathOf(route, ...place), { token, ...what, headers: { ...what.headers, ...key } })
  return { scene, sent, other, send }
}

describe.each(posts.map((route) => [route.id, route] as const))('%s with an Idempotency-Key', (_, route: Route) => {
  const aRequest = () => requestTo(route)

  test('sent again gets the first answer, byte for byte, and changes nothing', async () => {
    const { scene, sent, send } = await aRequest()
    const first = await send(sent)
    expect(first.status).toBe(route.status)
    const after = await changes(scene)
    expect(seen(await send(sent))).toEqual(seen(first))
    expect(seen(await send(sent))).toEqual(seen(first))
    expect(await changes(scene)).toEqual(after)
  })

  test('ten copies at once make one change, and all get its answer', async () => {
    const { scene, sent, send } = await aRequest()
    const before = scene.ports.published.length
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(sent)))
    const [first] = answers
    expect(first?.status).toBe(route.status)
    for (const answer of answers) expect(seen(answer)).toEqual(first && seen(first))
    const types = scene.ports.published.slice(before).map(({ type }) => type)
    expect(new Set(types).size).toBe(types.length)
    expect(await scene.ports.files.sweep('9999')).toBe(0)
  })

  test('with something else is refused, which changes nothing', async () => {
    const { scene, sent, other, send } = await aRequest()
    await send(sent)
    const after = await changes(scene)
    const refused = await send(other)
    expect(refused).toMatchObject({ status: 400, json: { details: [{ path: 'Idempotency-Key' }] } })
    expect(await changes(scene)).toEqual(after)
  })
})

const onOrganizations = posts.filter(({ right }) => right !== 'anyone' && right !== 'self')

describe.each(onOrganizations.map((route) => [route.id, route] as const))('%s sent again', (_, route: Route) => {
  async function aMember() {
    const { scene, sent, send } = await requestTo(route)
    const { ports, owner, site } = scene
    const by = { user: (await aPerson(ports, 'second@example.com')).user.id }
    await addMember(
      ports,
      { user: owner.user.id },
      { organization: site.organization, user: by.user },
      { role: 'owner' },
    )
    const member = { organization: site.organization, user: owner.user.id }
    expect((await send(sent)).status).toBe(route.status)
    return { scene, sent, send, by, member }
  }

  test('by somebody who may do it no more is refused', async () => {
    const { scene, sent, send, by, member } = await aMember()
    await editMember(scene.ports, by, member, { role: 'viewer' })
    expect((await send(sent)).status).toBe(401)
    await removeMember(scene.ports, by, member)
    expect((await send(sent)).status).toBe(401)
  })

  test('by somebody who may do it no more once it has come is refused', async () => {
    const { scene, sent, send, by, member } = await aMember()
    const { ports } = scene
    const { transact } = ports
    let removals = 0
    ports.transact = (work) =>
      transact((stores) => {
        const claim: typeof stores.answers.claim = async (...call) => {
          removals += 1
          await removeMember({ ...ports, transact: (inner) => inner(stores) }, by, member)
          return stores.answers.claim(...call)
        }
        return work({ ...stores, answers: { ...stores.answers, claim } })
      })
    expect((await send(sent)).status).toBe(401)
    expect(removals).toBe(1)
  })
})

describe('an Idempotency-Key', () => {
  test.each(['', 'a'.repeat(256), 'é', 'a\tb'])('%j is none', async (key) => {
    const { service, token } = await aService()
    const line = await openLine(service)
    const body = '{"name":"Gamma"}'
    const head = [
      'Host: a',
      `X-Service-Token: ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    line.write(`POST /api/v1/organizations HTTP/1.1\r\n${head.join('\r\n')}\r\nIdempotency-Key: ${key}\r\n\r\n${body}`)
    const answer = await line.answer()
    expect(answer).toMatchObject({ status: 400, json: { details: [{ path: 'Idempotency-Key' }] } })
    line.socket.destroy()
  })

  test('given twice is refused', async () => {
    const { organizations } = await aService()
    const answer = await organizations({ json: { name: 'G' }, headers: { 'Idempotency-Key': ['a', 'b'] } })
    expect(answer).toMatchObject({ status: 400, json: { details: [{ path: 'Idempotency-Key' }] } })
  })

  test.each(['a', 'a'.repeat(255), ' inner space ~!"', '8e03978e-40d5-43e8-bc93-6894a57f9324'])(
    '%j is one',
    async (key) => {
      const { organizations, happened } = await aService()
      const sent = { json: { name: 'Gamma' }, headers: { 'Idempotency-Key': key } }
      expect(seen(await organizations(sent))).toEqual(seen(await organizations(sent)))
      expect(happened('organization.created')).toBe(2)
    },
  )

  test('counts for its sender alone, and for one operation', async () => {
    const { service, organizations, ports, site } = await aService()
    const first = await organizations({ json: { name: 'Gamma' }, headers: KEY })
    const other = await aPerson(ports, 'other@example.com')
    const theirs = await organizations({ json: { name: 'Gamma' }, headers: KEY, token: other.token })
    expect(theirs.json.organization).not.toBe(first.json.organization)
    const json = { organization: site.organization, email: 'vpn@example.com' }
    const elsewhere = await organizations({ json, headers: KEY })
    expect(elsewhere.status).toBe(400)
    const vpn = await call(service, 'POST', '/api/v1/vpn', {
      token: other.token,
      json: { name: 'Gamma' },
      headers: KEY,
    })
    expect(vpn.status).toBe(400)
  })

  test('is forgotten after 24 hours', async () => {
    const { organizations, wait } = await aService()
    const sent = { json: { name: 'Gamma' }, headers: KEY }
    const first = await organizations(sent)
    wait(24 * 60 * 60 * 1000 - 60_000)
    expect(seen(await organizations(sent))).toEqual(seen(first))
    wait(2 * 60_000)
    expect((await organizations(sent)).json.organization).not.toBe(first.json.organization)
  })

  test('of a request that was refused may be used again', async () => {
    const { organizations } = await aService()
    expect((await organizations({ json: {}, headers: KEY })).status).toBe(400)
    expect((await organizations({ json: { name: 'Gamma' }, headers: KEY })).status).toBe(201)
  })

  test('means nothing on a GET or a PUT', async () => {
    const { service, site, token } = await aService()
    const path = `/api/v1/organizations/${site.organization}`
    const put = (name: string) => call(service, 'PUT', path, { token, json: { name }, headers: KEY })
    expect([(await put('One')).status, (await put('Two')).json.data.name]).toEqual([200, 'Two'])
    expect((await call(service, 'GET', path, { token, headers: { 'Idempotency-Key': 'a'.repeat(300) } })).status).toBe(
      200,
    )
  })

  test('knows the same body in another wrapping', async () => {
    const { service, token, site } = await aService()
    const text = JSON.stringify(aBlocker(site.organization))
    const post = (sent: Sent) =>
      call(service, 'POST', '/api/v1/atb', { token, ...sent, headers: { ...sent.headers, ...KEY } })
    const first = await post({ headers: { 'Content-Type': 'application/json' }, body: text })
    const form = formOf([{ name: 'data', content: text }])
    const type = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }
    for (const sent of [form, { headers: type, body: gzipSync(text) }])
      expect(seen(await post(sent))).toEqual(seen(first))
  })

  test('does not open what its sender may no longer do', async () => {
    const { service, ports, site, owner } = await aService()
    const officer = await aPerson(ports, 'officer@example.com')
    const by = { user: owner.user.id }
    const member = { organization: site.organization, user: officer.user.id }
    await addMember(ports, by, member, { role: 'security_officer' })
    const path = `/api/v1/organizations/${site.organization}/security-frameworks`
    const send = () => call(service, 'POST', path, { token: officer.token, json: aFramework(), headers: KEY })
    expect((await send()).status).toBe(201)
    await removeMember(ports, by, member)
    expect((await send()).status).toBe(401)
  })

  test('lets a token that rotated itself repeat that while its old secret works, and no longer', async () => {
    const { service, ports, owner, wait } = await aService()
    const { id, token } = await issueToken(ports, { user: owner.user.id })
    const path = `/api/v1/tokens/${id}/rotate`
    const rotate = (secret: string, json: object, headers = KEY) =>
      call(service, 'POST', path, { token: secret, json, headers })
    const first = await rotate(token, { overlap_days: 0.01 })
    expect(first.status).toBe(201)
    expect(seen(await rotate(token, { overlap_days: 0.01 }))).toEqual(seen(first))
    wait(0.01 * 24 * 60 * 60 * 1000)
    expect((await rotate(token, { overlap_days: 0.01 })).status).toBe(401)
    const next = first.json.data.token
    expect((await rotate(next, {})).status).toBe(201)
    expect((await rotate(next, {})).status).toBe(401)
  })

  test('does not let somebody in whose code is used up without it', async () => {
    const { service, code } = await aService()
    const accept = (headers: object) =>
      call(service, 'POST', '/api/v1/invitations/accept', { token: code, headers: { ...headers } })
    const first = await accept(KEY)
    expect(first.status).toBe(201)
    expect((await accept({})).status).toBe(401)
    expect((await accept({ 'Idempotency-Key': 'another' })).status).toBe(401)
    expect(seen(await accept(KEY))).toEqual(seen(first))
  })
})

describe('an upload with an Idempotency-Key', () => {
  test('that was kept is only compared, and stores no byte again', async () => {
    const { service, token, site, ports } = await aService()
    const path = `/api/v1/organizations/${site.organization}/security-frameworks/${site.framework}/documents/${encodeURIComponent(CONTROL)}`
    const send = (headers: object, body: string) =>
      call(service, 'POST', path, { token, headers: { ...FILE, ...KEY, ...headers }, body })
    const first = await send({}, 'proof')
    let staged = 0
    const { stage } = ports.files
    ports.files.stage = (...call) => {
      staged += 1
      return stage(...call)
    }
    expect(seen(await send({}, 'proof'))).toEqual(seen(first))
    for (const headers of [
      { 'Content-Disposition': 'attachment; filename="b.json"' },
      { 'Content-Type': 'text/plain' },
    ]) {
      expect((await send(headers, 'proof')).status).toBe(400)
    }
    expect((await send({}, 'proofs')).status).toBe(400)
    expect(staged).toBe(0)
  })

  test('is bounded when it comes again', async () => {
    const { service, token, site } = await aService({ limits: { traffic: 100 } })
    const path = `/api/v1/atb/${site.blocker}/traffic`
    const send = (body: string | AsyncIterable<Uint8Array>) =>
      call(service, 'POST', path, { token, headers: { ...FILE, ...KEY }, body })
    expect((await send(LINES)).status).toBe(200)
    expect((await send(stream('x'.repeat(60), 'x'.repeat(60)))).status).toBe(413)
  })

  test('whose bytes were here before, without a key, gets a place that it keeps', async () => {
    const { service, token, site, ports, owner } = await aService()
    const file = { file_name: 'a.json', content: stream(LINES) }
    const { upload } = await uploadTraffic(ports, { user: owner.user.id }, site.blocker, file)
    const sent = { token, headers: { ...FILE, ...KEY }, body: LINES }
    for (let times = 0; times < 2; times += 1) {
      const answer = await call(service, 'POST', `/api/v1/atb/${site.blocker}/traffic`, sent)
      expect(answer.headers.location).toBe(`/api/v1/atb/${site.blocker}/traffic/${upload}`)
    }
  })
})

describe('when the store fails at the end of a change', () => {
  async function aBroken(fails: () => boolean) {
    const ports = memoryPorts()
    const owner = await aPerson(ports, 'owner@example.com')
    const site = await aSite(ports, owner, 'Alpha')
    const broken: Ports = {
      ...ports,
      transact: (work) =>
        ports.transact(async (stores) => {
          const result = await work(stores)
          if (fails()) throw new Error('the disk is full')
          return result
        }),
    }
    return { service: await startServiceOn(broken), ports, owner, site }
  }

  test('neither it nor its answer is kept, and the next try makes both', async () => {
    let fails = true
    const { service, ports, owner } = await aBroken(() => fails)
    const send = () =>
      call(service, 'POST', '/api/v1/organizations', { token: owner.token, json: { name: 'G' }, headers: KEY })
    expect((await send()).status).toBe(500)
    fails = false
    const answer = await send()
    expect(answer.status).toBe(201)
    expect(seen(await send())).toEqual(seen(answer))
    expect(ports.published.filter(({ type }) => type === 'organization.created')).toHaveLength(2)
  })

  test('an upload that failed says nothing of a place', async () => {
    let units = 0
    const { service, owner, site } = await aBroken(() => {
      units += 1
      return units === 2
    })
    const sent = { token: owner.token, headers: { ...FILE, ...KEY }, body: LINES }
    const send = () => call(service, 'POST', `/api/v1/atb/${site.blocker}/traffic`, sent)
    units = 0
    const failed = await send()
    expect([failed.status, failed.headers.location]).toEqual([500, undefined])
    expect((await send()).headers.location).toMatch(/\/traffic\/\d+$/)
  })
})
