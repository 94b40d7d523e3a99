import { deepStrictEqual } from 'node:assert'
import { addMember, issueToken } from '@security-management/domain'
import { describe, expect, test } from 'vitest'
import { methodsAt } from './paths.ts'
import { routes } from './routes/index.ts'
import { call, startService } from './testing/service.ts'
import { aBlocker, aFramework, aPerson, aSite, aWorld, CONTROL, invitationCode } from './testing/world.ts'

const LOG_FILE = { 'Content-Type': 'application/json', 'Content-Disposition': 'attachment; filename="log.json"' }

async function aService() {
  const service = await startService()
  const owner = await aPerson(service.ports, 'owner@example.com')
  const site = await aSite(service.ports, owner, 'Alpha')
  return { service, owner, site, token: owner.token }
}

describe('the list of routes', () => {
  test('names every operation once', () => {
    expect(new Set(routes.map(({ id }) => id)).size).toBe(routes.length)
    expect(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size).toBe(routes.length)
  })

  test('declares the form of every path parameter', () => {
    for (const { path, params = {} } of routes) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(Object.keys(params)).toEqual(names)
    }
  })

  test('holds the operations of the contract, and the added ones', () => {
    const all = routes.map(
      ({ method, path, extension }) => `${method} ${path.slice(7)}${extension === true ? ' *' : ''}`,
    )
    const framework = '/organizations/{organizationid}/security-frameworks'
    deepStrictEqual(
      all.sort(),
      [
        'post /atb',
        'get /atb',
        'get /atb/{id} *',
        'put /atb/{id} *',
        'delete /atb/{id}',
        'post /atb/{id}/traffic',
        'get /atb/{id}/traffic *',
        'get /atb/{id}/traffic/{upload} *',
        'get /atb/{id}/traffic/{upload}/raw *',
        'get /atb/{id}/threats *',
        'get /atb/{id}/statistics *',
        'get /statistics *',
        'get /threats/lookup *',
        'get /cloud-defender',
        'get /cloud-defender/{id} *',
        'post /organizations',
        'get /organizations *',
        'get /organizations/{id}',
        'put /organizations/{id} *',
        'delete /organizations/{id}',
        'get /organizations/{organizationid}/users',
        'post /organizations/{organizationid}/users/{userid}',
        'put /organizations/{organizationid}/users/{userid}',
        'delete /organizations/{organizationid}/users/{userid}',
        'get /organizations/{organizationid}/events *',
        'post /vpn',
        'get /vpn *',
        'get /vpn/{id} *',
        'delete /vpn/{id}',
        `get ${framework} *`,
        `post ${framework} *`,
        `get ${framework}/{frameworkid} *`,
        `put ${framework}/{frameworkid}`,
        `delete ${framework}/{frameworkid}`,
        `post ${framework}/{frameworkid}/documents/{controlid}`,
        `get /documents${framework}/{frameworkid}/documents/{controlid}/{name} *`,
        'get /assessments',
        'get /assessments/{id}',
        'get /notifications',
        'put /notifications *',
        'put /notifications/{id}',
        'get /me *',
        'get /tokens *',
        'post /tokens *',
        'post /tokens/{id}/rotate *',
        'delete /tokens/{id} *',
        'post /organizations/{organizationid}/users/{userid}/invitation *',
        'post /invitations/accept *',
      ].sort(),
    )
  })

  test('says of every path which methods it has, HEAD beside GET', () => {
    expect(methodsAt('/api/v1/atb')).toEqual(['GET', 'HEAD', 'POST'])
    expect(methodsAt('/api/v1/atb/1')).toEqual(['DELETE', 'GET', 'HEAD', 'PUT'])
    expect(methodsAt('/api/v1/none')).toEqual([])
  })
})

describe('threat blockers', () => {
  test('are created, read by id and by key, listed, edited and removed', async () => {
    const { service, site, token } = await aService()
    const created = await call(service, 'POST', '/api/v1/atb', { token, json: aBlocker(site.organization) })
    expect(created).toMatchObject({ status: 201, json: { error: 0, messages: [], ticket: expect.any(Number) } })
    const path = `/api/v1/atb/${created.json.ticket}`
    const read = await call(service, 'GET', path, { token })
    expect(read.json.data).toMatchObject({ id: created.json.ticket, organization: { name: 'Alpha' } })
    const byKey = await call(service, 'GET', `/api/v1/atb/${read.json.data.atb_key.toUpperCase()}`, { token })
    expect(byKey.json).toEqual(read.json)
    const edited = await call(service, 'PUT', path, { token, json: { endpoint: '10.0.0.1' } })
    expect(edited.json.data).toMatchObject({ endpoint: '10.0.0.1', device_id: 'device-1' })
    const listed = await call(service, 'GET', '/api/v1/atb', { token })
    expect(listed.json).toMatchObject({ total: 2, data: [{ id: created.json.ticket }, { id: site.blocker }] })
    expect(Object.keys(listed.json)).toEqual(['error', 'messages', 'total', 'data'])
    const removed = await call(service, 'DELETE', path, { token })
    expect(removed.json.data.id).toBe(created.json.ticket)
    expect((await call(service, 'GET', path, { token })).status).toBe(404)
    expect((await call(service, 'DELETE', path, { token })).status).toBe(404)
  })

  test('take traffic, whose answer names the stored upload', async () => {
    const { service, site, token } = await aService()
    const lines = [{ time: '2025-03-01T10:00:00Z', status: 403, verdict: 'blocked' }]
    const sent = { token, headers: LOG_FILE, body: JSON.stringify(lines) }
    const uploaded = await call(service, 'POST', `/api/v1/atb/${site.blocker}/traffic`, sent)
    expect(uploaded).toMatchObject({ status: 200, json: { error: 0, messages: [] } })
    const { location = '' } = uploaded.headers
    expect(location).toMatch(new RegExp(`^/api/v1/atb/${site.blocker}/traffic/[0-9]+$`))
    const upload = await call(service, 'GET', location, { token })
    expect(upload.json.data).toMatchObject({ file_name: 'log.json', lines: 1, accepted: 1, malicious: 1 })
    const byKey = await call(service, 'GET', `/api/v1/atb/${site.key}/traffic`, { token })
    expect(byKey.json).toMatchObject({ total: 2, data: [{ id: upload.json.data.id }, { id: site.upload }] })
    const again = await call(service, 'POST', `/api/v1/atb/${site.key}/traffic`, sent)
    expect(again.headers.location).toBe(location)
    const raw = await call(service, 'GET', `${location}/raw`, { token })
    expect([raw.status, raw.bytes.toString()]).toEqual([200, JSON.stringify(lines)])
  })

  test('count what they saw over any period, and say why it was malicious', async () => {
    const { service, site, token } = await aService()
    const lines = [
      { time: '2025-03-01T10:00:00Z', client_ip: '198.51.100.7', verdict: 'blocked' },
      { time: '2025-03-01T10:59:59Z', client_ip: '198.51.100.7' },
      { time: '2025-03-01T11:00:00Z' },
    ]
    const sent = { token, headers: LOG_FILE, body: JSON.stringify(lines) }
    await call(service, 'POST', `/api/v1/atb/${site.blocker}/traffic`, sent)
    const period = 'from=2025-03-01T10:00:00Z&to=2025-03-01T10:59:59Z&bucket=3600'
    const start = Date.UTC(2025, 2, 1, 10) / 1000
    for (const path of [`/api/v1/atb/${site.key}/statistics?${period}`, `/api/v1/statistics?${period}`]) {
      expect((await call(service, 'GET', path, { token })).json.data).toEqual({
        from: '2025-03-01T10:00:00.000Z',
        to: '2025-03-01T11:00:00.000Z',
        bucket: 3600,
        total_requests: 2,
        malicious_requests: 1,
        found_later: 0,
        buckets: [
          {
            bucket_start: start,
            bucket_end: start + 3600,
            total_requests: 2,
            malicious_requests: 1,
            found_later: 0,
          },
        ],
      })
    }
    const wrong = await call(service, 'GET', '/api/v1/statistics?bucket=60', { token })
    expect(wrong).toMatchObject({ status: 400, json: { details: [{ path: 'bucket' }] } })
    const threats = await call(
      service,
      'GET',
      `/api/v1/atb/${site.blocker}/threats?kind=verdict&from=2025-02-01&to=2025-12-31`,
      { token },
    )
    expect(threats.json.data).toMatchObject([
      { value: '198.51.100.7', verdict: 'blocked', requests: 1, first_seen: '2025-03-01T10:00:00.000Z', feed: '' },
    ])
  })
})

describe('organizations', () => {
  test('are created, listed, read, edited and removed', async () => {
    const { service, token } = await aService()
    const created = await call(service, 'POST', '/api/v1/organizations', { token, json: { name: 'Gamma' } })
    expect(created.json).toEqual({ error: 0, messages: [], organization: expect.any(Number) })
    const path = `/api/v1/organizations/${created.json.organization}`
    const edited = await call(service, 'PUT', path, { token, json: { sectors: ['Energy'] } })
    const read = await call(service, 'GET', path, { token })
    expect(read.json).toEqual(edited.json)
    expect(read.json.data).toMatchObject({ name: 'Gamma', sectors: ['Energy'], contacts: [] })
    const listed = await call(service, 'GET', '/api/v1/organizations?order=name', { token })
    expect(listed.json.data.map(({ name }: { name: string }) => name)).toEqual(['Alpha', 'Gamma'])
    const removed = await call(service, 'DELETE', path, { token })
    expect(removed.json).toEqual(read.json)
    expect((await call(service, 'GET', path, { token })).status).toBe(404)
  })
})

describe('members', () => {
  test('are added by e-mail address, listed, edited and removed', async () => {
    const { service, site, token } = await aService()
    const users = `/api/v1/organizations/${site.organization}/users`
    const json = { email: 'new@example.com', role: 'security_officer' }
    const added = await call(service, 'POST', `${users}/0`, { token, json })
    expect(added).toMatchObject({ status: 200, json: { data: { organization: site.organization } } })
    const { user } = added.json.data
    const listed = await call(service, 'GET', `${users}?search=NEW`, { token })
    expect(listed.json).toMatchObject({ total: 1, data: [{ id: user, role: 'security_officer' }] })
    const edited = await call(service, 'PUT', `${users}/${user.toUpperCase()}`, { token, json: { role: 'viewer' } })
    expect(edited.json).toEqual(added.json)
    expect((await call(service, 'GET', `${users}?role=viewer`, { token })).json.total).toBe(1)
    const again = await call(service, 'POST', `${users}/${user}`, { token, json: {} })
    expect(again).toMatchObject({ status: 400, json: { details: [{ path: 'email' }] } })
    expect((await call(service, 'DELETE', `${users}/${user}`, { token })).json).toEqual(added.json)
    expect((await call(service, 'DELETE', `${users}/${user}`, { token })).status).toBe(404)
    expect((await call(service, 'DELETE', `${users}/0`, { token })).status).toBe(404)
  })

  test('accept their invitation, once, with its code in the place of a token', async () => {
    const { service, site, owner } = await aService()
    const path = { organization: site.organization, user: '0' }
    await addMember(service.ports, { user: owner.user.id }, path, { email: 'new@example.com' })
    const code = await invitationCode(service.ports, 'new@example.com')
    const json = { first_name: 'Ada', locale: 'it', token_name: 'laptop' }
    const accepted = await call(service, 'POST', '/api/v1/invitations/accept', { token: code, json })
    expect(accepted).toMatchObject({ status: 201, json: { data: { token: expect.stringMatching(/^sms_/) } } })
    const me = await call(service, 'GET', '/api/v1/me', { token: accepted.json.data.token })
    expect(me.json.data).toMatchObject({
      id: accepted.json.data.user,
      first_name: 'Ada',
      locale: 'it',
      organizations: [{ id: site.organization, name: 'Alpha', role: 'viewer' }],
    })
    const tokens = await call(service, 'GET', '/api/v1/tokens', { token: accepted.json.data.token })
    expect(tokens.json).toMatchObject({ total: 1, data: [{ name: 'laptop', expires_at: null }] })
    expect((await call(service, 'POST', '/api/v1/invitations/accept', { token: code, json })).status).toBe(401)
    expect((await call(service, 'GET', '/api/v1/me', { token: code })).status).toBe(401)
  })

  test('may accept an invitation without any body, and with its code in the query', async () => {
    const { service, site, owner } = await aService()
    const path = { organization: site.organization, user: '0' }
    await addMember(service.ports, { user: owner.user.id }, path, { email: 'new@example.com' })
    const code = await invitationCode(service.ports, 'new@example.com')
    const accepted = await call(service, 'POST', `/api/v1/invitations/accept?X-Service-Token=${code}`)
    expect(accepted.status).toBe(201)
  })

  test('are sent their invitation again, whose code replaces the one of before', async () => {
    const { service, site, token } = await aService()
    const users = `/api/v1/organizations/${site.organization}/users`
    const added = await call(service, 'POST', `${users}/0`, { token, json: { email: 'new@example.com' } })
    const first = await invitationCode(service.ports, 'new@example.com')
    const path = `${users}/${added.json.data.user}/invitation`
    const again = await call(service, 'POST', path, { token })
    expect(again).toMatchObject({ status: 200, json: added.json })
    const second = await invitationCode(service.ports, 'new@example.com')
    const accept = async (code: string) =>
      (await call(service, 'POST', '/api/v1/invitations/accept', { token: code })).status
    expect([await accept(first), await accept(second), await accept(second)]).toEqual([401, 201, 401])
    const accepted = await call(service, 'POST', path, { token })
    expect(accepted).toMatchObject({ status: 400, json: { messages: ['Invalid data provided'] } })
    expect((await call(service, 'POST', `${users}/0/invitation`, { token })).status).toBe(404)
  })

  test('are invited up to a cap, past which it says when to try again', async () => {
    const { service, site, token } = await aService()
    const users = `/api/v1/organizations/${site.organization}/users`
    const { json } = await call(service, 'POST', `${users}/0`, { token, json: { email: 'new@example.com' } })
    const path = `${users}/${json.data.user}/invitation`
    for (let count = 1; count < 20; count += 1) {
      expect((await call(service, 'POST', path, { token })).status).toBe(200)
    }
    const refused = await call(service, 'POST', path, { token })
    expect(refused).toMatchObject({ status: 429, json: { error: 1, messages: ['Too many requests'] } })
    const wait = Number(refused.headers['retry-after'])
    expect(wait).toBeGreaterThan(86_000)
    expect(wait).toBeLessThanOrEqual(86_400)
    expect((await call(service, 'POST', `${users}/0`, { token, json: { email: 'b@example.com' } })).status).toBe(200)
  })

  test('a token does not accept an invitation', async () => {
    const { service, token } = await aService()
    expect((await call(service, 'POST', '/api/v1/invitations/accept', { token, json: {} })).status).toBe(401)
  })
})

describe('tokens', () => {
  test('are issued once shown, listed, rotated and revoked', async () => {
    const { service, site, token } = await aService()
    const me = async (secret: string) => (await call(service, 'GET', '/api/v1/me', { token: secret })).status
    const wanted = { name: 'ci', expires_at: '2100-01-01', access: 'read', organizations: [site.organization] }
    const issued = await call(service, 'POST', '/api/v1/tokens', { token, json: wanted })
    expect(issued.status).toBe(201)
    const { token: secret, ...shown } = issued.json.data
    expect(secret).toMatch(/^sms_[0-9A-Za-z]{49}$/)
    expect(shown).toEqual({
      ...wanted,
      id: expect.any(Number),
      prefix: secret.slice(0, 10),
      created_at: expect.any(String),
      expires_at: '2100-01-01T00:00:00.000Z',
      last_used_at: null,
    })
    expect(await me(secret)).toBe(200)

    const listed = await call(service, 'GET', '/api/v1/tokens?ordering=-created_at&limit=1', { token })
    expect(Object.keys(listed.json)).toEqual(['error', 'messages', 'total', 'data'])
    expect(listed.json).toMatchObject({ total: 2, data: [{ id: shown.id, name: 'ci' }] })
    expect(listed.bytes.toString()).not.toContain(secret)

    const path = `/api/v1/tokens/${shown.id}`
    const rotated = await call(service, 'POST', `${path}/rotate`, { token, json: { overlap_days: 30 } })
    expect(rotated).toMatchObject({
      status: 201,
      json: { data: { id: shown.id, ...wanted, expires_at: shown.expires_at } },
    })
    const second = rotated.json.data.token
    expect([await me(secret), await me(second)]).toEqual([200, 200])
    const third = (await call(service, 'POST', `${path}/rotate`, { token })).json.data.token
    expect([await me(secret), await me(second), await me(third)]).toEqual([401, 401, 200])
    const wrong = await call(service, 'POST', `${path}/rotate`, { token, json: { overlap_days: 31 } })
    expect(wrong).toMatchObject({ status: 400, json: { details: [{ path: 'overlap_days' }] } })

    const revoked = await call(service, 'DELETE', path, { token })
    expect(revoked).toMatchObject({ status: 200, json: { data: { id: shown.id, prefix: third.slice(0, 10) } } })
    expect(await me(third)).toBe(401)
    expect((await call(service, 'DELETE', path, { token })).status).toBe(404)
    expect((await call(service, 'GET', '/api/v1/tokens', { token })).json.total).toBe(1)
  })

  test('name organizations of their person alone, in time to come', async () => {
    const { service, token } = await aService()
    const json = { name: 'ci', organizations: [999], expires_at: '2020-01-01' }
    const past = await call(service, 'POST', '/api/v1/tokens', { token, json })
    expect(past).toMatchObject({ status: 400, json: { details: [{ path: 'expires_at' }] } })
    const stranger = await call(service, 'POST', '/api/v1/tokens', { token, json: { ...json, expires_at: null } })
    expect(stranger).toMatchObject({ status: 400, json: { details: [{ path: 'organizations.0' }] } })
  })
})

describe('VPN profiles', () => {
  test('are created, listed, read, and removed by whoever created them', async () => {
    const { service, ports, world } = await aWholeWorld()
    const { token } = world.officer
    const json = { organization: world.site.organization, email: 'vpn@example.com' }
    const created = await call(service, 'POST', '/api/v1/vpn', { token, json })
    expect(created).toMatchObject({ status: 201, json: { error: 0, messages: [], vpn: expect.any(Number) } })
    const path = `/api/v1/vpn/${created.json.vpn}`
    const read = await call(service, 'GET', path, { token: world.viewer.token })
    expect(read.json.data).toMatchObject({ ...json, organization: { id: json.organization } })
    expect((await call(service, 'GET', '/api/v1/vpn', { token })).json.total).toBe(2)
    expect((await call(service, 'DELETE', path, { token: world.owner.token })).status).toBe(401)
    expect((await ports.vpnProfiles.findActive(created.json.vpn))?.id).toBe(created.json.vpn)
    expect((await call(service, 'DELETE', path, { token })).json).toEqual(read.json)
  })

  async function aWholeWorld() {
    const service = await startService()
    return { service, ports: service.ports, world: await aWorld(service.ports) }
  }
})

describe('security frameworks', () => {
  test('are created, listed, read, edited and removed', async () => {
    const { service, site, token } = await aService()
    const frameworks = `/api/v1/organizations/${site.organization}/security-frameworks`
    const created = await call(service, 'POST', frameworks, { token, json: aFramework({ title: 'NIST' }) })
    expect(created).toMatchObject({ status: 201, json: { security_framework: { title: 'NIST' } } })
    const { id } = created.json.security_framework
    const read = await call(service, 'GET', `${frameworks}/${id}`, { token })
    expect(read.json.data).toEqual(created.json.security_framework)
    const json = { security_frameworks: [{ id: 'B', title: 'Backups', evidences: [{ completed: 1 }] }] }
    const edited = await call(service, 'PUT', `${frameworks}/${id}`, { token, json })
    expect(edited).toMatchObject({ status: 200, json: { security_framework: { title: 'NIST' } } })
    const listed = await call(service, 'GET', `${frameworks}?ordering=title&limit=1`, { token })
    expect(listed.json).toMatchObject({ total: 2, data: [{ title: 'ISO 27001' }] })
    const removed = await call(service, 'DELETE', `${frameworks}/${id}`, { token })
    expect(removed.json).toEqual(edited.json)
    expect((await call(service, 'GET', `${frameworks}/${id}`, { token })).status).toBe(404)
  })

  test('take documents, which come back byte for byte', async () => {
    const { service, site, token } = await aService()
    const framework = `/api/v1/organizations/${site.organization}/security-frameworks/${site.framework}`
    const bytes = Buffer.from([0, 255, 13, 10, 128, 200])
    const attached = await call(service, 'POST', `${framework}/documents/${encodeURIComponent(CONTROL)}`, {
      token,
      headers: { 'Content-Disposition': 'attachment; filename="scan.pdf"', 'Content-Type': 'application/pdf' },
      body: bytes,
    })
    expect(attached).toMatchObject({ status: 201, json: { data: { file_name: 'scan.pdf' } } })
    const got = await call(service, 'GET', attached.json.data.file_path, { token })
    expect(got.bytes).toEqual(bytes)
    const read = await call(service, 'GET', framework, { token })
    expect(read.json.data.security_frameworks[0].evidences[1].files).toEqual([attached.json.data.file_path])
  })
})

describe('what is read-only', () => {
  test('cloud defenses are listed and read', async () => {
    const { service, site, token } = await aService()
    const listed = await call(service, 'GET', `/api/v1/cloud-defender?organization_id=${site.organization}`, { token })
    expect(listed.json.total).toBe(1)
    const read = await call(service, 'GET', `/api/v1/cloud-defender/${site.defense}`, { token })
    expect(read.json.data).toEqual(listed.json.data[0])
  })

  test('assessments are listed and read', async () => {
    const { service, site, token } = await aService()
    const listed = await call(service, 'GET', '/api/v1/assessments?search=ALPHA', { token })
    expect(listed.json).toMatchObject({ total: 1, data: [{ score: 80, name: { en: 'Audit', it: 'Verifica' } }] })
    const read = await call(service, 'GET', `/api/v1/assessments/${site.assessment}`, { token })
    expect(read.json.data).toEqual(listed.json.data[0])
  })
})

describe('notifications', () => {
  test('are listed, and marked one by one or all at once', async () => {
    const { service, token } = await aService()
    const listed = await call(service, 'GET', '/api/v1/notifications?read=false', { token })
    const { total, data } = listed.json
    expect(total).toBeGreaterThan(1)
    const marked = await call(service, 'PUT', `/api/v1/notifications/${data[0].id}`, { token })
    expect(marked.json.data).toEqual({ ...data[0], read: true })
    const all = await call(service, 'PUT', '/api/v1/notifications', { token })
    expect(all.json).toEqual({ error: 0, messages: [], data: { marked: total - 1 } })
    expect((await call(service, 'GET', '/api/v1/notifications?read=false', { token })).json.total).toBe(0)
  })

  test("another person's is not found", async () => {
    const { service, token } = await aService()
    const { data } = (await call(service, 'GET', '/api/v1/notifications', { token })).json
    const other = await aPerson(service.ports, 'other@example.com')
    const path = `/api/v1/notifications/${data[0].id}`
    expect((await call(service, 'PUT', path, { token: other.token })).status).toBe(404)
    const { token: second } = await issueToken(service.ports, { user: 'owner@example.com' })
    expect((await call(service, 'GET', '/api/v1/notifications?read=true', { token: second })).json.total).toBe(0)
  })
})
