import { readdirSync, rmSync } from 'node:fs'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { memoryPorts } from '@security-management/domain/memory'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { openLine } from './testing/raw.ts'
import { formOf, type Sent } from './testing/requests.ts'
import { call, startService, startServiceOn, until } from './testing/service.ts'
import { aBlocker, aPerson, aSite } from './testing/world.ts'

// Where a part that looks like a file would be written; looked up when the reader of forms is imported.
const temporary = await vi.hoisted(async () => {
  const { mkdtempSync } = await import('node:fs')
  const { tmpdir } = await import('node:os')
  process.env.TMPDIR = mkdtempSync(`${tmpdir()}/http-test-`)
  return process.env.TMPDIR
})

async function aService(options = {}) {
  const service = await startService(options)
  const owner = await aPerson(service.ports, 'owner@example.com')
  const { token } = owner
  const site = await aSite(service.ports, owner, 'Alpha')
  const events = service.ports.published.length
  /** Sends what would create an organization and returns the status, and the paths of what is wrong with it. */
  const create = async (sent: Sent) => {
    const { status, json } = await call(service, 'POST', '/api/v1/organizations', { token, ...sent })
    return [status, ...(json.details ?? []).map(({ path }: { path: string }) => path)]
  }
  const createVpn = async (sent: Sent) => {
    const { status, json } = await call(service, 'POST', '/api/v1/vpn', { token, ...sent })
    return [status, ...(json.details ?? []).map(({ path }: { path: string }) => path)]
  }
  const profile = JSON.stringify({ organization: site.organization, email: 'vpn@example.com' })
  const unchanged = () => service.ports.published.length === events
  return { service, site, token, create, createVpn, profile, unchanged }
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const GAMMA = '{"name":"Gamma"}'

/** The text in pieces of so many bytes. */
async function* chunked(text: string | Uint8Array, size = 1): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe('a JSON body', () => {
  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8";x=1',
    'application/json; charset=utf8',
    'application/merge-patch+json',
    'application/vnd.example+json; version=1',
  ])('may come as %s', async (type) => {
    const { create } = await aService()
    expect(await create({ headers: { 'Content-Type': type }, body: GAMMA })).toEqual([201])
  })

  test.each([
    '',
    'json',
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/+jsonx',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
  ])('as "%s" is refused, with word of what is taken', async (type) => {
    const { create, unchanged } = await aService()
    expect(await create({ headers: { 'Content-Type': type }, body: GAMMA })).toEqual([400, 'Content-Type'])
    expect(unchanged()).toBe(true)
  })

  test('without a type is refused', async () => {
    const { create } = await aService()
    expect(await create({ body: GAMMA })).toEqual([400, 'Content-Type'])
    expect(await create({})).toEqual([400, 'Content-Type'])
  })

  test.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['half of it', '{"name":"Gamma"'],
    ['two values', `${GAMMA}${GAMMA}`],
    ['a comment', '{"name":"Gamma"} // this'],
    ['NaN', '{"name":NaN}'],
    ['a string that ends with an escape', '"\\'],
    ['an array', '[{"name":"Gamma"}]'],
    ['null', 'null'],
    ['a number', '1'],
    ['a string', '"name"'],
  ])('that is %s is refused', async (_, body) => {
    const { create, unchanged } = await aService()
    expect(await create({ headers: JSON_TYPE, body })).toEqual([400, ''])
    expect(unchanged()).toBe(true)
  })

  test('that is not UTF-8 is refused, never guessed at', async () => {
    const { create, unchanged } = await aService()
    const latin1 = Buffer.from('{"name":"Müller"}', 'latin1')
    expect(await create({ headers: JSON_TYPE, body: latin1 })).toEqual([400, ''])
    expect(await create({ headers: JSON_TYPE, body: Buffer.from(GAMMA, 'utf16le') })).toEqual([400, ''])
    expect(await create({ headers: JSON_TYPE, body: '{"name":"\\ud800"}' })).toEqual([400, 'name'])
    expect(unchanged()).toBe(true)
  })

  test('may come byte by byte', async () => {
    const { create } = await aService()
    expect(await create({ headers: JSON_TYPE, body: chunked('{"name":"Müller 中 😀"}') })).toEqual([201])
  })

  test('may be nested 32 levels deep and no deeper; brackets in texts do not count', async () => {
    const { create } = await aService()
    const nested = (depth: number) => `{"name":"[{[{","other":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    expect(await create({ headers: JSON_TYPE, body: nested(32) })).toEqual([201])
    expect(await create({ headers: JSON_TYPE, body: nested(33) })).toEqual([400, ''])
    expect(await create({ headers: JSON_TYPE, body: '['.repeat(1_000_000) })).toEqual([400, ''])
    expect(await create({ headers: JSON_TYPE, body: `{"name":"\\"${'['.repeat(40)}"}` })).toEqual([201])
  })

  test('may hold 20,000 values and no more, of a framework 500,000; what a text holds does not count', async () => {
    const { service, site, token, create } = await aService()
    const frameworks = `/api/v1/organizations/${site.organization}/security-frameworks`
    const wide = (named: string, count: number) => `{"${named}":"[,]{,}","other":[${'0,'.repeat(count - 4)}0]}`
    expect(await create({ headers: JSON_TYPE, body: wide('name', 20_000) })).toEqual([201])
    expect(await create({ headers: JSON_TYPE, body: wide('name', 20_001) })).toEqual([400, ''])
    expect(await create({ headers: JSON_TYPE, body: `[${'{},'.repeat(10_000)}{}]` })).toEqual([400, ''])
    const send = async (body: string) =>
      (await call(service, 'POST', frameworks, { token, headers: JSON_TYPE, body })).status
    expect(await send(wide('title', 500_000))).toBe(201)
    expect(await send(wide('title', 500_001))).toBe(400)
  })

  test('of a framework may hold as many evidences as a framework may have, with all of their fields', async () => {
    const { service, site, token } = await aService()
    const frameworks = `/api/v1/organizations/${site.organization}/security-frameworks`
    const evidence = { files: ['/a'], details: 'x', completed: 1, residual_risk: 0.5 }
    const evidences = Array.from({ length: 10_000 }, () => evidence)
    const json = {
      title: 'T',
      security_frameworks: [1, 2, 3, 4, 5, 6, 7].map((id) => ({ id: `${id}`, title: 'T', evidences })),
    }
    expect(JSON.stringify(json).length).toBeGreaterThan(4_000_000)
    expect((await call(service, 'POST', frameworks, { token, json })).status).toBe(201)
  })

  test.each([{}, { 'Idempotency-Key': 'k' }])(
    'of a framework is looked at before its unit of work begins, and lets turns pass: %j',
    async (key) => {
      const ports = memoryPorts()
      let turns = 0
      const atUnits: number[] = []
      const service = await startServiceOn({
        ...ports,
        nextTurn() {
          turns += 1
          return ports.nextTurn()
        },
        transact(work: Parameters<typeof ports.transact>[0]) {
          atUnits.push(turns)
          return ports.transact(work)
        },
      } as typeof ports)
      const owner = await aPerson(ports, 'owner@example.com')
      const site = await aSite(ports, owner, 'Alpha')
      const evidences = Array.from({ length: 10_000 }, () => ({}))
      const json = { title: 'T', security_frameworks: [{ id: 'a', title: 'A', evidences }] }
      const frameworks = `/api/v1/organizations/${site.organization}/security-frameworks`
      const { status } = await call(service, 'POST', frameworks, { token: owner.token, json, headers: { ...key } })
      expect(status).toBe(201)
      expect(atUnits).toContain(10)
      expect(turns).toBeGreaterThan(20)
    },
  )

  test('may have a megabyte, and not a byte more, whether it says so or not', async () => {
    const { create, unchanged } = await aService()
    const body = (length: number) => `{"name":"Gamma","other":"${'a'.repeat(length - 27)}"}`
    const limit = 1024 * 1024
    expect(body(limit)).toHaveLength(limit)
    expect(await create({ headers: JSON_TYPE, body: body(limit + 1) })).toEqual([413])
    const { 'Content-Type': type } = JSON_TYPE
    const headers = { 'Content-Type': type, 'Transfer-Encoding': 'chunked' }
    expect(await create({ headers, body: body(limit + 1) })).toEqual([413])
    expect(unchanged()).toBe(true)
    expect(await create({ headers, body: body(limit) })).toEqual([201])
  })

  test('of a framework may have eight', async () => {
    const { service, site, token } = await aService()
    const frameworks = `/api/v1/organizations/${site.organization}/security-frameworks`
    const send = async (length: number) => {
      const body = `{"title":"Big","other":"${'a'.repeat(length - 26)}"}`
      expect(body).toHaveLength(length)
      return (await call(service, 'POST', frameworks, { token, headers: JSON_TYPE, body })).status
    }
    expect(await send(8 * 1024 * 1024)).toBe(201)
    expect(await send(8 * 1024 * 1024 + 1)).toBe(413)
  })

  test('whose client goes away in the middle changes nothing', async () => {
    const { service, token, unchanged } = await aService()
    const line = await openLine(service)
    const headers = ['Host: a', `X-Service-Token: ${token}`, 'Content-Type: application/json', 'Content-Length: 17']
    line.write(`POST /api/v1/organizations HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${GAMMA}`)
    line.socket.end()
    await until(() => service.log.length > 0)
    expect(unchanged()).toBe(true)
  })
})

describe('a compressed body', () => {
  const encodings = { gzip: gzipSync, 'x-gzip': gzipSync, GZIP: gzipSync, deflate: deflateSync, br: brotliCompressSync }

  test.each(Object.entries(encodings))('may come as %s', async (encoding, compress) => {
    const { create, createVpn, profile } = await aService()
    const headers = { ...JSON_TYPE, 'Content-Encoding': encoding }
    expect(await create({ headers, body: compress(GAMMA) })).toEqual([201])
    const form = formOf([{ name: 'data', content: profile }])
    const formHeaders = { ...form.headers, 'Content-Encoding': encoding }
    expect(await createVpn({ headers: formHeaders, body: compress(form.body) })).toEqual([201])
  })

  test.each(Object.entries(encodings))('that is no %s, or half of it, is refused', async (encoding, compress) => {
    const { create, createVpn, unchanged } = await aService()
    const headers = { ...JSON_TYPE, 'Content-Encoding': encoding }
    const whole = compress(`{"name":"${'Gamma'.repeat(20)}","description":"${Math.random()}"}`)
    for (const body of [GAMMA, whole.subarray(0, -9), whole.subarray(0, 12), Buffer.alloc(0)]) {
      expect(await create({ headers, body })).toEqual([400, ''])
      const form = { ...formOf([]).headers, 'Content-Encoding': encoding }
      expect((await createVpn({ headers: form, body }))[0]).toBe(400)
    }
    expect(unchanged()).toBe(true)
  })

  test.each(['compress', 'zstd', 'gzip, gzip', 'none', 'constructor'])('as %s is refused', async (encoding) => {
    const { create } = await aService()
    const headers = { ...JSON_TYPE, 'Content-Encoding': encoding }
    expect(await create({ headers, body: GAMMA })).toEqual([400, 'Content-Encoding'])
  })

  test('counts inflated, so a bomb is refused and never in memory', async () => {
    const { create, createVpn, unchanged } = await aService()
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, 0x20))
    const before = process.memoryUsage().rss
    expect(await create({ headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, body: bomb })).toEqual([413])
    const headers = { ...formOf([]).headers, 'Content-Encoding': 'gzip' }
    const form = gzipSync(formOf([{ name: 'data', content: Buffer.alloc(20 * 1024 * 1024) }]).body)
    expect(await createVpn({ headers, body: form })).toEqual([413])
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024)
    expect(unchanged()).toBe(true)
  })
})

describe('a multipart body', () => {
  afterAll(() => {
    expect(readdirSync(temporary)).toEqual([])
    rmSync(temporary, { recursive: true })
  })

  test('carries its JSON in the part data', async () => {
    const { createVpn, profile } = await aService()
    expect(await createVpn(formOf([{ name: 'data', content: profile }]))).toEqual([201])
  })

  test.each([
    ['a type', ['Content-Type: application/json']],
    ['a type with a charset', ['Content-Type: application/json; charset=utf-8']],
    ['another type', ['Content-Type: application/octet-stream']],
    ['a transfer encoding of 7bit', ['Content-Transfer-Encoding: 7bit']],
    ['a transfer encoding of 8bit', ['content-transfer-encoding: 8BIT', 'Content-Type: text/plain']],
    ['a transfer encoding of binary', ['Content-Transfer-Encoding: binary']],
    ['headers that nobody knows', ['X-Other: 1']],
  ])('whose part has %s of its own is taken, and nothing is written to a file', async (_, headers) => {
    const { service, createVpn, profile } = await aService()
    expect(await createVpn(formOf([{ name: 'data', headers, content: profile }]))).toEqual([201])
    expect((await call(service, 'GET', '/api/v1/me')).status).toBe(401)
  })

  test('whose part has a file name is taken', async () => {
    const { createVpn, profile } = await aService()
    const disposition = 'Content-Disposition: form-data; name="data"; filename="../../x.json"'
    const headers = [disposition, 'Content-Type: application/json']
    expect(await createVpn(formOf([{ headers, content: profile }]))).toEqual([201])
  })

  test('serves every operation of two body formats', async () => {
    const { service, site, token } = await aService()
    const form = (json: object) => ({ token, ...formOf([{ name: 'data', content: JSON.stringify(json) }]) })
    const organization = `/api/v1/organizations/${site.organization}`
    const framework = `${organization}/security-frameworks/${site.framework}`
    const statuses = [
      (await call(service, 'POST', '/api/v1/atb', form(aBlocker(site.organization)))).status,
      (await call(service, 'POST', `${organization}/users/0`, form({ email: 'new@example.com' }))).status,
      (await call(service, 'PUT', `${organization}/users/0`, form({ email: 'new@example.com' }))).status,
      (await call(service, 'PUT', framework, form({ title: 'New' }))).status,
    ]
    expect(statuses).toEqual([201, 200, 200, 200])
  })

  test('keeps every character', async () => {
    const { service, site, token } = await aService()
    const framework = `/api/v1/organizations/${site.organization}/security-frameworks/${site.framework}`
    const title = 'Müller 中 😀 "--a-boundary" \\'
    const { body, headers } = formOf([{ name: 'data', content: JSON.stringify({ title }) }])
    const answer = await call(service, 'PUT', framework, { token, headers, body: chunked(body) })
    expect(answer.json.security_framework.title).toBe(title)
  })

  test('is refused with another part beside it, without one, or with two', async () => {
    const { createVpn, profile: content, unchanged } = await aService()
    const data = { name: 'data', content }
    expect(await createVpn(formOf([]))).toEqual([400, 'data'])
    expect(await createVpn(formOf([data, data]))).toEqual([400, 'data'])
    expect(await createVpn(formOf([data, { name: 'other', content: '' }]))).toEqual([400, 'other'])
    const file = { headers: ['Content-Disposition: form-data; name="f"; filename="f"', 'Content-Type: a/b'], content }
    expect(await createVpn(formOf([data, file]))).toEqual([400, 'f'])
    expect((await createVpn(formOf([data, { name: '__proto__', content: 'x' }])))[0]).toBe(400)
    expect((await createVpn(formOf([{ name: '__proto__', content }])))[0]).toBe(400)
    expect(await createVpn(formOf([{ name: 'Data', content }]))).toEqual([400, 'Data'])
    expect((await createVpn(formOf([{ content }])))[0]).toBe(400)
    expect((await createVpn(formOf(Array(2000).fill({ name: 'a', content: '' }))))[0]).toBe(400)
    expect(unchanged()).toBe(true)
  })

  test('is refused when its JSON is none', async () => {
    const { createVpn, unchanged } = await aService()
    for (const content of ['', '{', 'null', '[]', '"a"', Buffer.from('{"email":"é@a.b"}', 'latin1')]) {
      expect((await createVpn(formOf([{ name: 'data', content }])))[0]).toBe(400)
    }
    const deep = `${'['.repeat(33)}${']'.repeat(33)}`
    expect(await createVpn(formOf([{ name: 'data', content: deep }]))).toEqual([400, ''])
    expect(unchanged()).toBe(true)
  })

  test('is refused when it is no multipart', async () => {
    const { createVpn, profile, unchanged } = await aService()
    const { headers, body } = formOf([{ name: 'data', content: profile }])
    const type = (boundary: string) => ({ 'Content-Type': `multipart/form-data${boundary}` })
    const cases: Sent[] = [
      { headers: type(''), body },
      { headers: type('; boundary='), body },
      { headers: type('; boundary=another'), body },
      { headers },
      { headers, body: '' },
      { headers, body: profile },
      { headers, body: body.subarray(0, -20) },
      { headers, body: body.subarray(0, 40) },
      { headers, body: `--a-boundary\r\nContent-Disposition form-data\r\n\r\nx\r\n--a-boundary--\r\n` },
      formOf([{ name: 'data', headers: ['Content-Transfer-Encoding: quoted-printable'], content: profile }]),
      formOf([{ name: 'data', headers: ['Content-Transfer-Encoding: x'], content: profile }]),
    ]
    for (const sent of cases) {
      expect((await createVpn(sent))[0]).toBe(400)
      const { headers: sentHeaders, body: sentBody = '' } = sent
      if (typeof sentBody === 'string' || sentBody instanceof Uint8Array) {
        expect((await createVpn({ headers: sentHeaders ?? {}, body: chunked(sentBody) }))[0]).toBe(400)
      }
    }
    expect(unchanged()).toBe(true)
  })

  test('counts all of its bytes, those of its headers too', async () => {
    const { createVpn, unchanged } = await aService({ limits: { json: 10_000 } })
    const big = 'a'.repeat(20_000)
    for (const form of [
      formOf([{ name: 'data', content: big }]),
      formOf([{ name: 'data', headers: [`X-Long: ${big}`], content: '{}' }]),
      formOf(Array(500).fill({ name: 'a', content: 'aaaaaaaaaaaa' })),
    ]) {
      expect(await createVpn(form)).toEqual([413])
      expect(await createVpn({ headers: form.headers, body: chunked(form.body, 500) })).toEqual([413])
    }
    expect(unchanged()).toBe(true)
  })

  test('whose client goes away in the middle changes nothing', async () => {
    const { service, token, profile, unchanged } = await aService()
    const { body } = formOf([{ name: 'data', content: profile }])
    const line = await openLine(service)
    const type = 'Content-Type: multipart/form-data; boundary=a-boundary'
    const headers = ['Host: a', `X-Service-Token: ${token}`, type, `Content-Length: ${body.length + 1}`]
    line.write(`POST /api/v1/vpn HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
    line.write(body)
    await new Promise((resolve) => setTimeout(resolve, 20))
    line.socket.destroy()
    await until(() => service.log.length > 0)
    expect(service.log).toMatchObject([{ level: 'info', fields: { status: 499 } }])
    expect(unchanged()).toBe(true)
  })
})
