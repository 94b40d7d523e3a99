import { createOrganization } from '@security-management/domain'
import { describe, expect, test } from 'vitest'
import { call, startService } from './testing/service.ts'
import { aPerson, aSite, CONTROL, stream } from './testing/world.ts'

async function aService() {
  const service = await startService()
  const owner = await aPerson(service.ports, 'owner@example.com')
  const site = await aSite(service.ports, owner, 'Alpha')
  const { token } = owner
  const get = (path: string) => call(service, 'GET', `/api/v1${path}`, { token })
  const refusal = async (path: string) => {
    const { status, json } = await get(path)
    return [status, json.details?.map((problem: { path: string }) => problem.path)]
  }
  return { service, owner, site, token, get, refusal }
}

describe('query parameters', () => {
  test('page, order and filter a list', async () => {
    const { service, owner, get } = await aService()
    const caller = { user: owner.user.id }
    await createOrganization(service.ports, caller, { name: 'Beta', sectors: ['Energy'], number_employees: 7 })
    await createOrganization(service.ports, caller, { name: 'Gamma', sectors: ['Media'] })
    const names = async (query: string) =>
      (await get(`/organizations?${query}`)).json.data.map(({ name }: { name: string }) => name)
    expect(await names('order=name&limit=1&offset=1')).toEqual(['Beta'])
    expect(await names('ordering=-name')).toEqual(['Gamma', 'Beta', 'Alpha'])
    expect(await names('sectors[]=Energy')).toEqual(['Beta'])
    expect(await names('sectors%5B%5D=Energy&sectors[]=Media&order=id')).toEqual(['Beta', 'Gamma'])
    expect(await names('sectors=Energy&sectors=Media&order=id')).toEqual(['Beta', 'Gamma'])
    expect(await names('industries=Dairy')).toEqual([])
    expect(await names('owned=false')).toEqual([])
    expect(await names('name=LPH&editable=true')).toEqual(['Alpha'])
    expect((await get('/organizations?limit=0')).json).toMatchObject({ total: 3, data: [] })
  })

  test('are matched as they are written; an unknown one is ignored', async () => {
    const { get } = await aService()
    for (const query of [
      'Limit=x',
      'LIMIT=',
      'limit%20=x',
      'limit[]=x',
      'other=%zz',
      '%zz=1',
      '&&',
      '=',
      'SECTORS=x',
    ]) {
      expect((await get(`/organizations?${query}`)).status).toBe(200)
    }
  })

  test.each([
    ['limit=', 'limit'],
    ['limit', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=1e2', 'limit'],
    ['limit=01', 'limit'],
    ['limit=%2B1', 'limit'],
    ['limit=+1', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=Infinity', 'limit'],
    ['offset=9007199254740993', 'offset'],
    ['offset=-0', 'offset'],
    ['limit=1&limit=1', 'limit'],
    ['limit=%zz', 'limit'],
    ['order=', 'order'],
    ['order=color', 'order'],
    ['ordering=color', 'ordering'],
    ['order=id&ordering=id', 'ordering'],
    ['ordering=id&order=id', 'order'],
    ['owned=1', 'owned'],
    ['owned=TRUE', 'owned'],
    ['sectors=', 'sectors'],
    ['sectors=Energy&sectors=Magic', 'sectors.1'],
    ['sectors=Energy&sectors[]=Media', 'sectors[]'],
    ['industries[]=Banking/Mortgage&industries=Banking/Mortgage', 'industries'],
    ['sectors[]=', 'sectors[]'],
    ['sectors[]=Energy&sectors[]=Magic', 'sectors[].1'],
    ['name=%00', 'name'],
    ['name=%ff', 'name'],
  ])('%s is refused, by the name that was sent', async (query, path) => {
    const { refusal } = await aService()
    expect(await refusal(`/organizations?${query}`)).toEqual([400, [path]])
  })

  test('an organization may be named by either of two names, and not by both', async () => {
    const { site, get, refusal } = await aService()
    for (const list of ['/atb', '/cloud-defender', '/vpn', '/assessments', '/notifications']) {
      const { total } = (await get(`${list}?organization=${site.organization}`)).json
      expect(total).toBeGreaterThan(0)
      expect((await get(`${list}?organization_id=${site.organization}`)).json.total).toBe(total)
      expect((await get(`${list}?organization_id=999`)).json).toMatchObject({ total: 0, data: [] })
      expect(await refusal(`${list}?organization_id=x`)).toEqual([400, ['organization_id']])
      expect(await refusal(`${list}?organization=1&organization_id=1`)).toEqual([400, ['organization_id']])
    }
    expect(await refusal('/atb?service=Coffee')).toEqual([400, ['service']])
    expect(await refusal('/cloud-defender?service=Coffee')).toEqual([400, ['service']])
  })

  test.each([
    ['/organizations?limit=1.0', 'limit: Must be a whole number'],
    ['/organizations?limit=1.5', 'limit: Must be a whole number'],
    ['/organizations?limit=1001', 'limit: Must be at most 1000, and is 1001'],
    ['/atb?organization=0', 'organization: Must be at least 1, and is 0'],
    ['/organizations?order=id&ordering=id', 'ordering: Use one of order, ordering'],
    ['/organizations?order=id&order=id', 'order: Given more than once'],
    ['/organizations?sectors[]=Energy&sectors=Energy', 'sectors: Use one of sectors[], sectors'],
    ['/organizations?order=size', 'order: "size" is none of "id", "-id", "name", "-name", "number_employees"'],
    ['/organizations?sectors=Magic', 'sectors.0: "Magic" is none of "Agriculture", "Arts & Entertainment"'],
    [
      '/assessments?created_from=2026-01-01T00:00:00+02:00',
      'created_from: Must be an ISO 8601 date or timestamp, in which + is written %2B',
    ],
    [
      '/assessments?created_to=2026-01-01+00:00+0200',
      'created_to: Must be an ISO 8601 date or timestamp, in which + is written %2B',
    ],
    ['/assessments?created_from=2026-02-31T00:00:00+02:00', 'created_from: Must be an ISO 8601 date or timestamp'],
  ])('%s is told: %s', async (path, told) => {
    const { get } = await aService()
    const { details } = (await get(path)).json
    expect(details).toHaveLength(1)
    const [problem] = details
    expect(`${problem.path}: ${problem.message}`.slice(0, told.length)).toBe(told)
    if (!told.includes('none of')) expect(`${problem.path}: ${problem.message}`).toBe(told)
  })

  test('a space in a text is a space, also before what could be a zone', async () => {
    const { get } = await aService()
    expect((await get('/assessments?search=2026-01-01T00:00:00+02:00')).status).toBe(200)
    expect((await get('/assessments?created_from=2026-01-01+00:00')).status).toBe(200)
    expect((await get('/assessments?created_from=2026-01-01T00:00:00%2B02:00')).status).toBe(200)
  })

  test('several wrong ones are told of together', async () => {
    const { refusal } = await aService()
    expect(await refusal('/atb?limit=&ordering=&limit=')).toEqual([400, ['limit', 'ordering', 'limit']])
    expect(await refusal('/atb?limit=x&ordering=x&service=x')).toEqual([400, ['limit', 'ordering', 'service']])
  })

  test('spaces may be written as plus or as %20', async () => {
    const { get } = await aService()
    expect((await get('/atb?service=Service+IPv4+Protection')).json.total).toBe(1)
    expect((await get('/atb?service=Service%20IPv4%20Protection')).json.total).toBe(1)
  })

  test('a date is a bound of a period', async () => {
    const { get, refusal } = await aService()
    const today = new Date().toISOString().slice(0, 10)
    expect((await get(`/assessments?created_from=${today}&created_to=${today}`)).json.total).toBe(1)
    expect((await get('/assessments?created_to=2020-01-01')).json.total).toBe(0)
    expect(await refusal('/assessments?created_from=yesterday')).toEqual([400, ['created_from']])
  })
})

describe('path parameters', () => {
  test.each([
    '0',
    '-1',
    '01',
    '+1',
    '1.0',
    '1e1',
    '0x1',
    ' 1',
    '%201',
    '1%20',
    'x',
    '9007199254740992',
    '%zz',
    '%',
    '%ff',
  ])('the id %s is no id: 404', async (id) => {
    const { service, token } = await aService()
    const path = `/api/v1/organizations/${id}`.replaceAll(' ', '%20')
    expect((await call(service, 'GET', path, { token })).status).toBe(404)
    expect((await call(service, 'DELETE', `/api/v1/atb/${id}`.replaceAll(' ', ''), { token: 'x' })).status).toBe(401)
  })

  test('the greatest id is one, and an encoded digit is a digit', async () => {
    const { site, get } = await aService()
    expect((await get('/organizations/9007199254740991')).status).toBe(404)
    const encoded = [...String(site.organization)].map((digit) => `%3${digit}`).join('')
    expect((await get(`/organizations/${encoded}`)).json.data.id).toBe(site.organization)
  })

  test('a key of a threat blocker is a UUID in any case', async () => {
    const { site, get } = await aService()
    expect((await get(`/atb/${site.key.toUpperCase()}`)).status).toBe(200)
    for (const key of [site.key.slice(1), `{${site.key}}`, site.key.replaceAll('-', '')]) {
      expect((await get(`/atb/${encodeURIComponent(key)}`)).status).toBe(404)
    }
  })

  test('a user is a UUID or 0', async () => {
    const { service, site, token } = await aService()
    for (const user of ['1', '00', 'owner@example.com', 'null']) {
      const path = `/api/v1/organizations/${site.organization}/users/${user}`
      expect((await call(service, 'PUT', path, { token, json: {} })).status).toBe(404)
    }
  })

  test('a control id may hold anything printable, and is decoded once', async () => {
    const { service, owner, site, token } = await aService()
    const ids = ['a/b', '..%2f..', '%2e%2e', 'a?b#c', '100% "é" 中', '../x', ' ', '+', 'a\\b', '...']
    const framework = `/api/v1/organizations/${site.organization}/security-frameworks/${site.framework}`
    const json = { security_frameworks: ids.map((id) => ({ id, title: 'a control' })) }
    expect((await call(service, 'PUT', framework, { token, json })).status).toBe(200)
    for (const id of ids) {
      const headers = { 'Content-Disposition': 'attachment; filename=a.txt' }
      const path = `${framework}/documents/${encodeURIComponent(id)}`
      const attached = await call(service, 'POST', path, { token, headers, body: stream(id) })
      expect(attached.status).toBe(201)
      const got = await call(service, 'GET', attached.json.data.file_path, { token })
      expect(got.bytes.toString()).toBe(id)
      const twice = `${framework}/documents/${encodeURIComponent(encodeURIComponent(id))}`
      if (id !== '+' && id !== '...') {
        expect((await call(service, 'POST', twice, { token, headers, body: 'x' })).status).toBe(404)
      }
    }
    expect(owner.user.email).toBe('owner@example.com')
  })

  test('an encoded way upwards leads nowhere', async () => {
    const { service, site, token } = await aService()
    const place = `organizations/${site.organization}/security-frameworks/${site.framework}/documents`
    const control = encodeURIComponent(CONTROL)
    const headers = { 'Content-Disposition': 'attachment; filename=a.txt' }
    for (const id of [
      '..',
      '%2e%2e',
      '.%2e',
      '.',
      '..%2f',
      '..%2f..%2f..%2fetc%2fpasswd',
      '%00',
      'a%0ab',
      '%',
      '%ff',
    ]) {
      const path = `/api/v1/${place.replace('organizations', 'organizations')}/${id}`
      expect((await call(service, 'POST', path, { token, headers, body: 'x' })).status).toBe(404)
      expect((await call(service, 'GET', `/api/v1/documents/${place}/${control}/${id}`, { token })).status).toBe(404)
    }
  })
})
