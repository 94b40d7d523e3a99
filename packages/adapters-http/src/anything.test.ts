import { addMember, issueToken } from '@security-management/domain'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Route } from './route.ts'
import { routes } from './routes/index.ts'
import { goodBody } from './testing/examples.ts'
import { openLine } from './testing/raw.ts'
import { formOf, type Sent } from './testing/requests.ts'
import { call, startService } from './testing/service.ts'
import { somewhere } from './testing/somewhere.ts'
import { aPerson, aSite, invitationCode } from './testing/world.ts'

// Whatever is sent, the answer is an envelope of the right form, which `call` checks, and no fault of ours.
const RUNS = { numRuns: 60 }

async function aService() {
  const service = await startService()
  const owner = await aPerson(service.ports, 'owner@example.com')
  const site = await aSite(service.ports, owner, 'Alpha')
  const path = { organization: site.organization, user: '0' }
  await addMember(service.ports, { user: owner.user.id }, path, { email: 'invited@example.com' })
  const code = await invitationCode(service.ports, 'invited@example.com')
  const { id: spare } = await issueToken(service.ports, { user: owner.user.id })
  const send = async (route: Route, path: string, sent: Sent) => {
    const token = route.authentication === 'invitation' ? code : owner.token
    const { status } = await call(service, route.method.toUpperCase(), path, { token, ...sent })
    expect(status).toBeLessThan(500)
    expect([...service.log.filter(({ level }) => level !== 'info')]).toEqual([])
    return status
  }
  return { service, site: { ...site, spare }, owner, send }
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    ...[
      null,
      '',
      ' ',
      -1,
      0,
      1.5,
      1e21,
      2 ** 53,
      '\u0000',
      '\ud800',
      '😀',
      'a'.repeat(300),
      'a'.repeat(20_000),
      [],
      {},
    ],
    ...[[[]], { length: 1 }, 'javascript:alert(1)', 'https://', '..', '1e400', '2025-02-30', '* * * * *', true],
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
)

/** The value with one place in it, at any depth, exchanged for another value. */
function exchanged(value: unknown, place: number, other: unknown): unknown {
  let left = place
  const visit = (here: unknown): unknown => {
    left -= 1
    if (left < 0 && left >= -1) return other
    if (Array.isArray(here)) return here.map(visit)
    if (typeof here !== 'object' || here === null) return here
    return Object.fromEntries(Object.entries(here).map(([key, inner]) => [key, visit(inner)]))
  }
  return visit(value)
}

const withBody = routes.filter(({ body }) => body !== undefined)

describe.each(withBody.map((route) => [route.id, route] as const))('the body of %s', (_, route) => {
  test('may be any JSON', async () => {
    const { site, owner, send } = await aService()
    const path = somewhere(route, site, owner.user.id)
    await fc.assert(
      fc.asyncProperty(odd, async (json) => {
        await send(route, path, { json })
      }),
      RUNS,
    )
  })

  test('may be wrong in any place', async () => {
    const { site, owner, send } = await aService()
    const path = somewhere(route, site, owner.user.id)
    const good = goodBody(route, site)
    await fc.assert(
      fc.asyncProperty(fc.nat(30), odd, async (place, other) => {
        await send(route, path, { json: exchanged(good, place, other) })
      }),
      RUNS,
    )
  })

  test('may be any bytes of any type', async () => {
    const { site, owner, send } = await aService()
    const path = somewhere(route, site, owner.user.id)
    const type = fc.constantFrom(
      'application/json',
      'multipart/form-data; boundary=a-boundary',
      'multipart/form-data',
      'x',
    )
    const encoding = fc.constantFrom('identity', 'gzip', 'deflate', 'br', 'x')
    await fc.assert(
      fc.asyncProperty(type, encoding, fc.uint8Array(), async (contentType, contentEncoding, body) => {
        const headers = { 'Content-Type': contentType, 'Content-Encoding': contentEncoding }
        await send(route, path, { headers, body })
      }),
      RUNS,
    )
  })
})

const withForm = routes.filter(({ formats }) => formats === 'json+multipart')

test.each(withForm.map((route) => [route.id, route] as const))('the form of %s may be any form', async (_, route) => {
  const { site, owner, send } = await aService()
  const path = somewhere(route, site, owner.user.id)
  const good = JSON.stringify(goodBody(route, site))
  const header = fc.oneof(
    fc.constantFrom(
      'Content-Disposition: form-data; name="data"',
      'Content-Disposition: form-data; name=data; filename="x"',
      'Content-Disposition: form-data',
      'Content-Type: application/json',
      'Content-Transfer-Encoding: 7bit',
      'Content-Transfer-Encoding: base64',
      'Content-Transfer-Encoding: quoted-printable',
      ': x',
      'x',
    ),
    fc.string({ maxLength: 20 }),
  )
  const content = fc.oneof(fc.constant(good), fc.string(), fc.uint8Array())
  const part = fc.record({
    name: fc.constantFrom('data', 'other', '', '__proto__', 'constructor'),
    headers: fc.array(header, { maxLength: 3 }),
    content,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 4 }), fc.nat(100), async (parts, cut) => {
      const { headers, body } = formOf(parts)
      await send(route, path, { headers, body: cut > 60 ? body.subarray(0, -cut) : body })
    }),
    RUNS,
  )
})

const withQuery = routes.filter(({ query }) => query !== undefined)

test.each(withQuery.map((route) => [route.id, route] as const))('the query of %s may be anything', async (_, route) => {
  const { site, owner, send } = await aService()
  const path = somewhere(route, site, owner.user.id)
  const names = [
    ...Object.keys(route.query?.entries ?? {}),
    ...Object.keys(route.aliases ?? {}),
    'sectors[]',
    '__proto__',
  ]
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }).map((text) => encodeURIComponent(text)),
    fc.constantFrom(
      '',
      '0',
      '1',
      '-1',
      '1001',
      'true',
      'id',
      '-id',
      '%00',
      '%ff',
      '%',
      '+',
      '2025-01-01',
      '9'.repeat(30),
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4 }), async (pairs) => {
      await send(route, `${path}?${pairs.map((pair) => pair.join('=')).join('&')}`, {})
    }),
    RUNS,
  )
})

test('any path is an envelope', async () => {
  const { owner, send } = await aService()
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 10 }).map((text) => encodeURIComponent(text)),
    fc.constantFrom('%', '%2f', '..', '%2e%2e', '0', '1', '-1', '999', owner.user.id, '%00', '%ff', '%c0%ae', '{id}'),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routes),
      fc.array(piece, { minLength: 4, maxLength: 4 }),
      async (route, pieces) => {
        const left = [...pieces]
        await send(
          route,
          route.path.replace(/\{\w+\}/g, () => left.pop() || 'x'),
          {},
        )
      },
    ),
    { numRuns: 200 },
  )
})

test('any header that describes a file is an envelope', async () => {
  const { site, owner, send } = await aService()
  const uploads = routes.filter(({ upload }) => upload !== undefined)
  const text = fc.string({ maxLength: 30 })
  const disposition = fc.oneof(
    text,
    text.map((name) => `attachment; filename="${name}"`),
    text.map((name) => `attachment; filename*=UTF-8''${encodeURIComponent(name)}`),
    text.map((name) => `attachment; filename*=${name}`),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...uploads),
      disposition,
      text,
      fc.uint8Array(),
      async (route, name, type, body) => {
        const headers = { 'Content-Disposition': name, 'Content-Type': type }
        await send(route, somewhere(route, site, owner.user.id), { headers, body })
      },
    ),
    { numRuns: 200 },
  )
})

test('any bytes on a connection leave the service standing', async () => {
  const { service, send } = await aService()
  const start = fc.constantFrom('', 'GET ', 'GET /api/v1/me HTTP/1.1\r\n', 'POST /api/v1/atb HTTP/1.1\r\nHost: a\r\n')
  await fc.assert(
    fc.asyncProperty(start, fc.uint8Array(), async (text, bytes) => {
      const line = await openLine(service)
      line.write(Buffer.concat([Buffer.from(text), bytes]))
      line.socket.end()
      expect((await line.answer())?.status ?? 400).toBeLessThan(500)
      line.socket.destroy()
    }),
    RUNS,
  )
  const me = routes.find(({ id }) => id === 'readMe')
  expect(me && (await send(me, me.path, {}))).toBe(200)
})
