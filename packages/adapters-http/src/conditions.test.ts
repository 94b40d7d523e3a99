import { uploadTraffic } from '@security-management/domain'
import { describe, expect, test } from 'vitest'
import type { Route } from './route.ts'
import { routes } from './routes/index.ts'
import type { Sent } from './testing/requests.ts'
import { call, startService } from './testing/service.ts'
import { aPerson, aSite, stream } from './testing/world.ts'

async function aService() {
  const service = await startService()
  const owner = await aPerson(service.ports, 'owner@example.com')
  const site = await aSite(service.ports, owner, 'Alpha')
  const send = (method: string, path: string, ifMatch?: string, json?: object) =>
    call(service, method, path, {
      token: owner.token,
      ...(ifMatch !== undefined && { headers: { 'If-Match': ifMatch } }),
      ...(json && { json }),
    } satisfies Sent)
  const etag = async (path: string) => (await send('GET', path)).headers.etag ?? ''
  return { service, owner, site, send, etag }
}
type Scene = Awaited<ReturnType<typeof aService>>

/** The records that are read one by one, and an edit of those that can be edited. */
const RECORDS: [name: string, path: (scene: Scene) => string, edit?: object, removable?: true][] = [
  ['an organization', ({ site }) => `organizations/${site.organization}`, { description: 'edited' }, true],
  ['a threat blocker', ({ site }) => `atb/${site.blocker}`, { device_id: 'edited' }, true],
  ['a threat blocker by its key', ({ site }) => `atb/${site.key}`, { device_id: 'edited' }, true],
  [
    'a security framework',
    ({ site }) => `organizations/${site.organization}/security-frameworks/${site.framework}`,
    { title: 'edited' },
    true,
  ],
  ['a VPN profile', ({ site }) => `vpn/${site.profile}`, undefined, true],
  ['a cloud defense', ({ site }) => `cloud-defender/${site.defense}`],
  ['an assessment', ({ site }) => `assessments/${site.assessment}`],
  ['the caller', () => 'me'],
]

test.each(RECORDS)('%s is read with a strong ETag, which stays while it stays', async (_, path) => {
  const scene = await aService()
  const at = `/api/v1/${path(scene)}`
  const tag = await scene.etag(at)
  expect(tag).toMatch(/^"[0-9a-f]{64}"$/)
  expect(await scene.etag(at)).toBe(tag)
  const head = await scene.send('HEAD', at)
  expect(head.headers.etag).toBe(tag)
  // The answer is the envelope, whatever the client has (decisions.md §1).
  const headers = { 'If-None-Match': tag }
  expect((await call(scene.service, 'GET', at, { token: scene.owner.token, headers })).status).toBe(200)
})

const EDITABLE = RECORDS.flatMap(([name, path, edit]) => (edit ? [[name, path, edit] as const] : []))

describe.each(EDITABLE)('an edit of %s', (_, path, edit) => {
  test('with the ETag that was read goes through, and answers with the next one', async () => {
    const scene = await aService()
    const at = `/api/v1/${path(scene)}`
    const tag = await scene.etag(at)
    const edited = await scene.send('PUT', at, tag, edit)
    expect(edited.status).toBe(200)
    expect(edited.headers.etag).not.toBe(tag)
    expect(edited.headers.etag).toBe(await scene.etag(at))
    expect((await scene.send('PUT', at, edited.headers.etag, edit)).status).toBe(200)
  })

  test('with an ETag that no longer fits is 412 and changes nothing', async () => {
    const scene = await aService()
    const at = `/api/v1/${path(scene)}`
    const tag = await scene.etag(at)
    await scene.send('PUT', at, undefined, edit)
    const before = await scene.send('GET', at)
    const events = scene.service.ports.published.length
    for (const method of ['PUT', 'DELETE']) {
      const refused = await scene.send(method, at, tag, edit)
      expect(refused).toMatchObject({ status: 412, json: { error: 1, messages: [] } })
    }
    expect((await scene.send('GET', at)).json).toEqual(before.json)
    expect(scene.service.ports.published.length).toBe(events)
  })

  test('of ten at once with the same ETag exactly one goes through', async () => {
    const scene = await aService()
    const at = `/api/v1/${path(scene)}`
    const tag = await scene.etag(at)
    const answers = await Promise.all(Array.from({ length: 10 }, () => scene.send('PUT', at, tag, edit)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 412)])
  })
})

const REMOVABLE = RECORDS.flatMap(([name, path, , removable]) => (removable ? [[name, path] as const] : []))

test.each(REMOVABLE)('a removal of %s asks for the ETag as well', async (_, path) => {
  const scene = await aService()
  const at = `/api/v1/${path(scene)}`
  const tag = await scene.etag(at)
  expect((await scene.send('DELETE', at, '"another"')).status).toBe(412)
  expect((await scene.send('DELETE', at, tag)).status).toBe(200)
  expect((await scene.send('DELETE', at, tag)).status).toBe(404)
})

describe('If-Match', () => {
  async function anEdit() {
    const scene = await aService()
    const at = `/api/v1/organizations/${scene.site.organization}`
    const tag = await scene.etag(at)
    const edit = async (ifMatch: string) => (await scene.send('PUT', at, ifMatch, { description: 'edited' })).status
    return { ...scene, at, tag, edit }
  }

  test.each([['*'], [' * '], ['TAG'], ['"x", TAG'], ['TAG,"x"'], ['"a,b" ,, TAG'], [', TAG'], ['W/"x", TAG']])(
    '%s fits',
    async (list) => {
      const { tag, edit } = await anEdit()
      expect(await edit(list.replace('TAG', tag))).toBe(200)
    },
  )

  test.each([[''], ['"x"'], ['W/TAG'], ['"*"'], ['W/"x", "y"']])('%s does not', async (list) => {
    const { tag, edit } = await anEdit()
    expect(await edit(list.replace('TAG', tag))).toBe(412)
  })

  test.each([['BARE'], ['"BARE'], ['x, TAG'], ['TAG, x'], ['"x", *'], ['*, TAG'], ['w/TAG']])(
    '%s is malformed, as a 400 says',
    async (list) => {
      const { at, tag, send } = await anEdit()
      const sent = list.replace('BARE', tag.slice(1, -1)).replaceAll('TAG', tag)
      const before = await send('GET', at, sent)
      expect(before.status).toBe(200)
      const details = [{ path: 'If-Match', message: 'Must be quoted, as the ETag was sent' }]
      const refused = await send('PUT', at, sent, { description: 'edited' })
      expect(refused).toMatchObject({ status: 400, json: { messages: ['Invalid data provided'], details } })
      expect((await send('DELETE', at, sent)).json.details).toEqual(details)
      expect((await send('GET', at)).json).toEqual(before.json)
    },
  )

  test('comes after the record and the rights, and means nothing to a GET', async () => {
    const { service, send, at } = await anEdit()
    expect((await send('PUT', '/api/v1/organizations/999', '"x"', {})).status).toBe(404)
    expect((await send('DELETE', '/api/v1/atb/999', '*')).status).toBe(404)
    const stranger = await aPerson(service.ports, 'stranger@example.com')
    const headers = { 'If-Match': '"x"' }
    expect((await call(service, 'DELETE', at, { token: stranger.token, headers })).status).toBe(401)
    expect((await send('GET', at, '"x"')).status).toBe(200)
  })

  test('that lists a tag fits nothing that has none', async () => {
    const { service, send, site } = await anEdit()
    const { data } = (await send('GET', '/api/v1/notifications')).json
    const other = await aPerson(service.ports, 'other@example.com')
    const user = `/api/v1/organizations/${site.organization}/users/${other.user.id}`
    expect((await send('POST', user, undefined, {})).status).toBe(200)
    const changes: [string, string, object?][] = [
      ['PUT', `/api/v1/notifications/${data[0].id}`],
      ['PUT', user, { role: 'owner' }],
      ['DELETE', user],
    ]
    for (const [method, path, json] of changes) {
      expect((await send(method, path, '"x"', json)).status).toBe(412)
      expect((await send(method, path, '*', json)).status).toBe(200)
    }
  })
})

test('traffic changes how a threat blocker does, and not its ETag', async () => {
  const { service, owner, site, send, etag } = await aService()
  const at = `/api/v1/atb/${site.blocker}`
  const [tag, before] = [await etag(at), await send('GET', at)]
  const file = { file_name: 'b.json', content: stream('[{"time":"2025-03-02T10:00:00Z"}]') }
  await uploadTraffic(service.ports, { user: owner.user.id }, site.blocker, file)
  expect((await send('GET', at)).json.data.check).not.toEqual(before.json.data.check)
  expect(await etag(at)).toBe(tag)
})

test('another name of an organization gives its VPN profiles another ETag, and its threat blockers none', async () => {
  const { site, send, etag } = await aService()
  const [profile, blocker] = [`/api/v1/vpn/${site.profile}`, `/api/v1/atb/${site.blocker}`]
  const before = [await etag(profile), await etag(blocker)]
  await send('PUT', `/api/v1/organizations/${site.organization}`, undefined, { name: 'Beta' })
  expect(await etag(profile)).not.toBe(before[0])
  expect(await etag(blocker)).toBe(before[1])
  expect((await send('DELETE', profile, before[0])).status).toBe(412)
})

test('a document attached to a framework gives it another ETag', async () => {
  const { service, owner, site, etag } = await aService()
  const at = `/api/v1/organizations/${site.organization}/security-frameworks/${site.framework}`
  const tag = await etag(at)
  const headers = { 'Content-Disposition': 'attachment; filename=a.txt' }
  await call(service, 'POST', `${at}/documents/A.5%2F1`, { token: owner.token, headers, body: 'x' })
  expect(await etag(at)).not.toBe(tag)
})

/** Whether a route reads or changes one record: its path names the record last. */
const isSingle = ({ path }: Route) => path.endsWith('}')

test('every route that reads one record has an ETag', () => {
  // The download of a document has its own.
  const without = routes.filter((route) => route.method === 'get' && isSingle(route) && !route.etagOf)
  expect(without.map(({ id }) => id).sort()).toEqual(['readDocument'])
})
