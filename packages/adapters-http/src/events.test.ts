import { hashSecret, issueToken } from '@security-management/domain'
import { describe, expect, test } from 'vitest'
import { call, startService, until } from './testing/service.ts'
import { aBlocker, aPerson, aSite, aWorld, invitationCode } from './testing/world.ts'

async function aService() {
  const service = await startService()
  const owner = await aPerson(service.ports, 'owner@example.com')
  const site = await aSite(service.ports, owner, 'Alpha')
  return { service, owner, site, token: owner.token, path: `/api/v1/organizations/${site.organization}/events` }
}

describe('the audit trail of an organization', () => {
  test('is listed newest first, with the request that each row came with', async () => {
    const { service, owner, site, token, path } = await aService()
    const headers = { 'X-Request-Id': 'my-request' }
    const edited = await call(service, 'PUT', `/api/v1/atb/${site.blocker}`, {
      token,
      headers,
      json: { device_id: 'new' },
    })
    expect(edited.headers['x-request-id']).toBe('my-request')
    const { json } = await call(service, 'GET', `${path}?limit=2`, { token })
    expect(json.total).toBeGreaterThan(5)
    expect(json.data).toHaveLength(2)
    expect(json.data[0]).toMatchObject({
      action: 'threat_blocker.edited',
      organization: site.organization,
      record: String(site.blocker),
      user: { id: owner.user.id, username: 'owner@example.com' },
      token: expect.any(Number),
      request_id: 'my-request',
      changes: { device_id: { before: 'device-1', after: 'new' } },
      details: {},
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(json.data[0].id).toBeGreaterThan(json.data[1].id)
  })

  test('takes its filters from the query, the actor under two names', async () => {
    const { service, owner, site, token, path } = await aService()
    const total = async (query: string) => (await call(service, 'GET', `${path}?${query}`, { token })).json.total
    const all = await total('limit=0')
    const mine = await total(`user=${owner.user.id}`)
    expect(mine).toBeGreaterThan(0)
    expect(await total(`actor=${owner.user.id}`)).toBe(mine)
    // Of the others is what the operator imported.
    expect(all - mine).toBe(2)
    expect(await total('action=vpn_profile.created')).toBe(1)
    expect(await total(`kind=vpn_profile&record=${site.profile}`)).toBe(1)
    expect(await total('from=2000-01-01&to=2000-01-02')).toBe(0)
    expect(await total('from=2000-01-01&order=datetime')).toBe(all)
    for (const wrong of ['action=created', 'kind=x', 'from=x', 'user=1', 'order=hash', 'limit=1001']) {
      expect((await call(service, 'GET', `${path}?${wrong}`, { token })).status).toBe(400)
    }
  })

  test('holds no secret, whatever happened', async () => {
    const service = await startService()
    const { ports } = service
    const world = await aWorld(ports)
    const { token } = world.owner
    const users = `/api/v1/organizations/${world.site.organization}/users/0`
    await call(service, 'POST', users, { token, json: { email: 'new@example.com' } })
    const code = await invitationCode(ports, 'new@example.com')
    const accepted = await call(service, 'POST', '/api/v1/invitations/accept', { token: code })
    await call(service, 'POST', '/api/v1/atb', { token, json: aBlocker(world.site.organization) })
    await call(service, 'DELETE', `/api/v1/organizations/${world.site.organization}`, { token })
    const issued = await issueToken(ports, { user: world.owner.user.id })
    const secrets = [token, code, accepted.json.data.token, issued.token, world.revokedToken]
    const rows = JSON.stringify(await ports.events.readChain(0, 1000))
    expect(rows).toContain('invitation.accepted')
    for (const secret of secrets) {
      expect(secret).toMatch(/^sm[si]_/)
      expect(rows).not.toContain(secret.slice(4, 12))
      expect(rows).not.toContain(hashSecret(ports, secret))
    }
    expect(rows).not.toMatch(/sm[si]_/)
  })
})

describe('a refused attempt', () => {
  test('is in the log with its request and caller, and not in the audit trail', async () => {
    const { service, path } = await aService()
    const stranger = await aPerson(service.ports, 'stranger@example.com')
    const rows = service.ports.published.length
    const refused = await call(service, 'GET', path, { token: stranger.token })
    const unknown = await call(service, 'GET', path)
    await call(service, 'GET', '/api/v1/me', { token: stranger.token })
    await until(() => service.log.length === 3)
    const [first, second, third] = service.log
    expect([refused.status, first]).toMatchObject([
      401,
      {
        level: 'info',
        fields: {
          refused: 'forbidden',
          request_id: refused.headers['x-request-id'],
          route: 'listEvents',
          caller: stranger.user.id,
        },
      },
    ])
    expect(second?.fields).toMatchObject({ refused: 'unauthenticated', request_id: unknown.headers['x-request-id'] })
    expect(third?.fields.refused).toBeUndefined()
    expect(service.ports.published).toHaveLength(rows)
  })
})
