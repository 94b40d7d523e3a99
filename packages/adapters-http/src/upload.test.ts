import { randomBytes } from 'node:crypto'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { DomainError, type Ports } from '@security-management/domain'
import { memoryPorts } from '@security-management/domain/memory'
import { describe, expect, test } from 'vitest'
import { openLine } from './testing/raw.ts'
import type { Sent } from './testing/requests.ts'
import { call, startService, startServiceOn, until } from './testing/service.ts'
import { aPerson, aSite, CONTROL } from './testing/world.ts'

const MIB = 1024 * 1024
const ATTACHED = { 'Content-Disposition': 'attachment; filename="log.json"' }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const LINES = JSON.stringify([{ time: '2025-03-01T10:00:00Z', status: 200 }])

async function aService(options = {}) {
  const service = await startService(options)
  const owner = await aPerson(service.ports, 'owner@example.com')
  const site = await aSite(service.ports, owner, 'Alpha')
  const { token } = owner
  const before = service.ports.published.length
  const traffic = `/api/v1/atb/${site.blocker}/traffic`
  const framework = `/api/v1/organizations/${site.organization}/security-frameworks/${site.framework}`
  const documents = `${framework}/documents/${encodeURIComponent(CONTROL)}`
  return {
    service,
    token,
    site,
    owner,
    traffic,
    documents,
    upload: (sent: Sent) => call(service, 'POST', traffic, { token, ...sent }),
    attach: (sent: Sent) => call(service, 'POST', documents, { token, ...sent }),
    unchanged: () => service.ports.published.length === before,
    /** Whether no byte of a document that nobody names was left behind. */
    nothingStaged: async () => (await service.ports.files.sweep('9999')) === 0,
  }
}

async function* repeated(bytes: Uint8Array, count: number): AsyncGenerator<Uint8Array> {
  for (let times = 0; times < count; times += 1) yield bytes
}

describe('the header that names the file', () => {
  test.each([
    ['attachment; filename="proof.pdf"', 'proof.pdf'],
    ['attachment; filename=proof.pdf', 'proof.pdf'],
    ['ATTACHMENT; FileName="proof.pdf"', 'proof.pdf'],
    [`attachment; filename="a.pdf"; filename*=UTF-8''%e4%b8%ad.pdf`, '中.pdf'],
    [`attachment; filename*=UTF-8''%e4%b8%ad.pdf; filename="a.pdf"`, '中.pdf'],
    [`attachment; filename*=iso-8859-1''%fc.pdf`, 'ü.pdf'],
    [`attachment; filename*=UTF-8''%zz.pdf; filename="a.pdf"`, 'a.pdf'],
    ['attachment; filename="a\\"b.pdf"', 'a_b.pdf'],
    ['attachment; filename="../../etc/passwd"', 'passwd'],
    ['attachment; filename="C:\\\\windows\\\\a.exe"', 'a.exe'],
    [`attachment; filename*=UTF-8''..%2f..%2fetc%2fpasswd`, 'passwd'],
    [`attachment; filename*=UTF-8''a%00b%0d%0aSet-Cookie:%20x.txt`, 'a_b_Set-Cookie_ x.txt'],
    [`attachment; filename*=UTF-8''%e2%80%aegpj.exe`, 'gpj.exe'],
    [`attachment; filename="${'a'.repeat(300)}.pdf"`, `${'a'.repeat(196)}.pdf`],
    ['attachment; filename=".."', 'file'],
  ])('%j gives %s', async (header, name) => {
    const { service, token, attach } = await aService()
    const answer = await attach({ headers: { 'Content-Disposition': header }, body: 'x' })
    expect(answer.json.data.file_name).toBe(name)
    const got = await call(service, 'GET', answer.json.data.file_path, { token })
    expect(got).toMatchObject({
      status: 200,
      headers: { 'content-disposition': expect.stringMatching(/^attachment; /) },
    })
    expect(got.headers).not.toHaveProperty('set-cookie')
  })

  test.each(['utf8', 'latin1'] as const)('may hold bytes of %s as they are', async (encoding) => {
    const { service, token, documents } = await aService()
    const line = await openLine(service)
    const headers = ['Host: a', `X-Service-Token: ${token}`, 'Content-Length: 1', 'Content-Disposition: attachment; ']
    line.write(`POST ${documents} HTTP/1.1\r\n${headers.join('\r\n')}`)
    line.write(Buffer.from('filename="ü.pdf"\r\n\r\nx', encoding))
    expect((await line.answer())?.json.data.file_name).toBe('ü.pdf')
    line.socket.destroy()
  })

  test.each([
    undefined,
    '',
    'attachment',
    'attachment; filename',
    'attachment; filename=',
    'attachment; filename=""',
    'inline; filename="a.pdf"',
    'form-data; name="data"; filename="a.pdf"',
    'filename="a.pdf"',
    `attachment; filename*=UTF-8''%zz`,
    `attachment; filename*=x''a.pdf`,
    'attachment; name="a.pdf"',
  ])('%j is refused', async (header) => {
    const { upload, attach, unchanged } = await aService()
    const headers = header === undefined ? {} : { 'Content-Disposition': header }
    const document = await attach({ headers, body: 'x' })
    expect(document).toMatchObject({ status: 400, json: { details: [{ path: 'Content-Disposition' }] } })
    const file = await upload({ headers: { ...headers, 'Content-Type': 'application/json' }, body: LINES })
    expect(file).toMatchObject({ status: 400, json: { messages: ['Malformed data structure'] } })
    expect(unchanged()).toBe(true)
  })
})

describe('a traffic file', () => {
  test.each([
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/vnd.x+json',
    'application/x-ndjson',
    'application/jsonl',
  ])('may come as %s', async (type) => {
    const { upload } = await aService()
    expect((await upload({ headers: { ...ATTACHED, 'Content-Type': type }, body: LINES })).status).toBe(200)
  })

  test.each([
    undefined,
    'text/plain',
    'application/octet-stream',
    'application/json; charset=latin1',
    'application/gzip',
  ])('as %s is refused', async (type) => {
    const { upload, unchanged } = await aService()
    const answer = await upload({ headers: { ...ATTACHED, ...(type && { 'Content-Type': type }) }, body: LINES })
    expect(answer).toMatchObject({ status: 400, json: { details: [{ path: 'Content-Type' }] } })
    expect(unchanged()).toBe(true)
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('may come as %s; a broken one is refused', async (encoding, compress) => {
    const { service, token, upload } = await aService()
    const headers = { ...ATTACHED, 'Content-Type': 'application/json', 'Content-Encoding': encoding }
    const whole = compress(LINES)
    for (const body of [LINES, whole.subarray(0, -5), '']) {
      expect((await upload({ headers, body })).status).toBe(400)
    }
    const { status, headers: answered } = await upload({ headers, body: whole })
    expect(status).toBe(200)
    const stored = await call(service, 'GET', answered.location ?? '', { token })
    expect(stored.json.data).toMatchObject({ size: LINES.length, lines: 1, accepted: 1 })
  })

  test('that is none of the shapes is refused and changes nothing', async () => {
    const { upload, unchanged } = await aService()
    const headers = { ...ATTACHED, 'Content-Type': 'application/json' }
    for (const body of ['', 'null', '"a"', '1', '[1,', `${LINES}x`]) {
      expect((await upload({ headers, body })).status).toBe(400)
    }
    expect(unchanged()).toBe(true)
  })

  test('has a limit, which counts inflated', async () => {
    const { upload, unchanged } = await aService({ limits: { traffic: MIB } })
    const type = { ...ATTACHED, 'Content-Type': 'application/json' }
    const big = `[${' '.repeat(MIB - 2)}]`
    expect((await upload({ headers: type, body: `${big} ` })).status).toBe(413)
    expect((await upload({ headers: type, body: repeated(Buffer.from(' '.repeat(65536)), 64) })).status).toBe(413)
    const bomb = gzipSync(Buffer.alloc(100 * MIB, 0x20))
    expect((await upload({ headers: { ...type, 'Content-Encoding': 'gzip' }, body: bomb })).status).toBe(413)
    expect(unchanged()).toBe(true)
    expect((await upload({ headers: type, body: big })).status).toBe(200)
  })

  test('whose client goes away changes nothing, even where what came would do', async () => {
    const { service, token, traffic, unchanged } = await aService()
    const lines = ['Host: a', `X-Service-Token: ${token}`, 'Content-Type: application/x-ndjson']
    const header = 'Content-Disposition: attachment; filename=a'
    const rows = '{"time":"2025-03-01T10:00:00Z"}\n'.repeat(10)
    for (const [length, body] of [
      ['Content-Length: 1000', rows],
      ['Transfer-Encoding: chunked', `${rows.length.toString(16)}\r\n${rows}\r\n`],
    ]) {
      const line = await openLine(service)
      line.write(`POST ${traffic} HTTP/1.1\r\n${[...lines, header, length].join('\r\n')}\r\n\r\n${body}`)
      await new Promise((resolve) => setTimeout(resolve, 30))
      line.socket.destroy()
    }
    await until(() => service.log.length === 2)
    expect(service.log.map(({ level, fields }) => [level, fields.status])).toEqual([
      ['info', 499],
      ['info', 499],
    ])
    expect(unchanged()).toBe(true)
  })
})

describe('a document', () => {
  test('may have any type, and none', async () => {
    const { service, token, attach } = await aService()
    for (const [type, kept] of [
      ['application/pdf', 'application/pdf'],
      ['text/html; charset=utf-8', 'text/html; charset=utf-8'],
      ['multipart/form-data; boundary=x', 'multipart/form-data; boundary=x'],
      ['application/json', 'application/json'],
      ['no type', 'application/octet-stream'],
      [undefined, 'application/octet-stream'],
    ]) {
      const headers = { ...ATTACHED, ...(type && { 'Content-Type': type }) }
      const { file_path } = (await attach({ headers, body: 'x' })).json.data
      expect((await call(service, 'GET', file_path, { token })).headers['content-type']).toBe(kept)
    }
  })

  test('is kept byte for byte, so it may not come compressed', async () => {
    const { attach, unchanged } = await aService()
    for (const encoding of ['gzip', 'br', 'x']) {
      const answer = await attach({ headers: { ...ATTACHED, 'Content-Encoding': encoding }, body: gzipSync('x') })
      expect(answer).toMatchObject({ status: 400, json: { details: [{ path: 'Content-Encoding' }] } })
    }
    expect(unchanged()).toBe(true)
    expect((await attach({ headers: { ...ATTACHED, 'Content-Encoding': 'identity' }, body: 'x' })).status).toBe(201)
  })

  test('may be empty', async () => {
    const { service, token, attach } = await aService()
    const { file_path } = (await attach({ headers: ATTACHED })).json.data
    const got = await call(service, 'GET', file_path, { token })
    expect(got).toMatchObject({ status: 200, headers: { 'content-length': '0' } })
  })

  test('has a limit, also where it does not say its length', async () => {
    const { attach, unchanged, nothingStaged } = await aService({ limits: { document: MIB } })
    expect((await attach({ headers: ATTACHED, body: Buffer.alloc(MIB + 1) })).status).toBe(413)
    expect((await attach({ headers: ATTACHED, body: repeated(Buffer.alloc(65536), 64) })).status).toBe(413)
    expect(unchanged()).toBe(true)
    expect(await nothingStaged()).toBe(true)
    expect((await attach({ headers: ATTACHED, body: Buffer.alloc(MIB) })).status).toBe(201)
  })

  test('whose client goes away leaves no byte behind', async () => {
    const { service, token, documents, unchanged, nothingStaged } = await aService()
    const line = await openLine(service)
    const headers = ['Host: a', `X-Service-Token: ${token}`, 'Content-Disposition: attachment; filename=a']
    line.write(`POST ${documents} HTTP/1.1\r\n${headers.join('\r\n')}\r\nContent-Length: 1000\r\n\r\nhalf of it`)
    await new Promise((resolve) => setTimeout(resolve, 30))
    line.socket.destroy()
    await until(() => service.log.length > 0)
    expect(service.log).toMatchObject([{ level: 'info', fields: { status: 499 } }])
    expect(unchanged()).toBe(true)
    expect(await nothingStaged()).toBe(true)
  })

  test('whose client goes away is no fault of ours, also where the store takes it for its own', async () => {
    const ports = memoryPorts()
    const owner = await aPerson(ports, 'owner@example.com')
    const site = await aSite(ports, owner, 'Alpha')
    const stage: Ports['files']['stage'] = async (content, limit) => {
      try {
        return await ports.files.stage(content, limit)
      } catch (cause) {
        throw new DomainError('unavailable', [], { cause })
      }
    }
    const service = await startServiceOn({ ...ports, files: { ...ports.files, stage } })
    const line = await openLine(service)
    const path = `/api/v1/organizations/${site.organization}/security-frameworks/${site.framework}/documents`
    const headers = ['Host: a', `X-Service-Token: ${owner.token}`, 'Content-Disposition: attachment; filename=a']
    const first = `POST ${path}/${encodeURIComponent(CONTROL)} HTTP/1.1`
    line.write(`${[first, ...headers, 'Content-Length: 100'].join('\r\n')}\r\n\r\nx`)
    await new Promise((resolve) => setTimeout(resolve, 30))
    line.socket.destroy()
    await until(() => service.log.length > 0)
    expect(service.log).toMatchObject([{ level: 'info', fields: { status: 499 } }])
  })

  test('of somebody who may not attach it is refused before a byte of it is read', async () => {
    const { service, documents } = await aService()
    const { token } = await aPerson(service.ports, 'stranger@example.com')
    let sent = 0
    async function* endless() {
      for (;;) {
        sent += 65536
        yield Buffer.alloc(65536)
        if (sent > 64 * MIB) return
      }
    }
    const answer = await call(service, 'POST', documents, { token, headers: ATTACHED, body: endless() })
    expect(answer.status).toBe(401)
  })

  test('streams: what has come is taken before the rest is there', async () => {
    const ports = memoryPorts()
    const owner = await aPerson(ports, 'owner@example.com')
    const site = await aSite(ports, owner, 'Alpha')
    const chunks: number[] = []
    let arrived = () => {}
    const firstCame = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const service = await startServiceOn({
      ...ports,
      files: {
        ...ports.files,
        stage(content, limit) {
          async function* watched() {
            for await (const bytes of content) {
              chunks.push(bytes.length)
              arrived()
              yield bytes
            }
          }
          return ports.files.stage(watched(), limit)
        },
      },
    })
    async function* halves() {
      yield Buffer.from('one')
      await firstCame
      yield Buffer.from('two')
    }
    const path = `/api/v1/organizations/${site.organization}/security-frameworks/${site.framework}/documents`
    const sent = { token: owner.token, headers: ATTACHED, body: halves() }
    const answer = await call(service, 'POST', `${path}/${encodeURIComponent(CONTROL)}`, sent)
    expect(answer.status).toBe(201)
    expect(chunks).toEqual([3, 3])
  })

  test('has its pieces given back as soon as they are used, and not before', async () => {
    const ports = memoryPorts()
    const owner = await aPerson(ports, 'owner@example.com')
    const site = await aSite(ports, owner, 'Alpha')
    const taken: Uint8Array[] = []
    let held = 0
    const service = await startServiceOn({
      ...ports,
      files: {
        ...ports.files,
        stage(content, limit) {
          async function* watched() {
            for await (const bytes of content) {
              held = Math.max(held, ...taken.map(({ buffer }) => buffer.byteLength))
              taken.push(bytes)
              yield bytes
            }
          }
          return ports.files.stage(watched(), limit)
        },
      },
    })
    const bytes = Buffer.from(Array.from({ length: MIB }, (_, index) => (index * 31 + (index >> 8)) % 256))
    const path = `/api/v1/organizations/${site.organization}/security-frameworks/${site.framework}/documents`
    const sent = { token: owner.token, headers: ATTACHED, body: bytes }
    const answer = await call(service, 'POST', `${path}/${encodeURIComponent(CONTROL)}`, sent)
    expect(answer.status).toBe(201)
    expect(taken.length).toBeGreaterThan(1)
    expect(held).toBe(0)
    const got = await call(service, 'GET', answer.json.data.file_path, { token: owner.token })
    expect(got.bytes.equals(bytes)).toBe(true)
  })
})

describe('the storage of an organization', () => {
  const sizeOf = async ({ ports }: Awaited<ReturnType<typeof aService>>['service'], organization: number) =>
    (await ports.documents.sizeOf(organization)) + (await ports.traffic.rawSizeOf(organization))

  test('takes what fits, to the byte, and refuses what does not, of which nothing is left', async () => {
    const { service, site } = await aService()
    const used = await sizeOf(service, site.organization)
    const storageQuota = used + 1000
    const scene = await aService({ storageQuota })
    const send = (length: number) => scene.attach({ headers: ATTACHED, body: 'x'.repeat(length) })
    const refused = await send(1001)
    expect(refused).toMatchObject({ status: 400, json: { details: [{ path: '' }] } })
    expect(refused.json.details[0].message).toContain(String(storageQuota))
    expect([scene.unchanged(), await scene.nothingStaged()]).toEqual([true, true])
    expect((await send(1000)).status).toBe(201)
    expect((await send(1)).status).toBe(400)
    expect((await scene.upload({ headers: { ...ATTACHED, ...JSON_TYPE }, body: LINES })).status).toBe(400)
    expect(await scene.nothingStaged()).toBe(true)
    expect(await sizeOf(scene.service, scene.site.organization)).toBe(storageQuota)
  })

  test('counts traffic as it is kept, compressed, and the same file once', async () => {
    const { service, site } = await aService()
    const scene = await aService({ storageQuota: (await sizeOf(service, site.organization)) + 2000 })
    const body = JSON.stringify(Array.from({ length: 2000 }, () => ({ time: '2025-03-01T10:00:00Z', status: 200 })))
    expect(body.length).toBeGreaterThan(50_000)
    const send = () => scene.upload({ headers: { ...ATTACHED, ...JSON_TYPE }, body })
    expect([(await send()).status, (await send()).status]).toEqual([200, 200])
    const random = randomBytes(3000).toString('hex')
    const big = await scene.upload({ headers: { ...ATTACHED, ...JSON_TYPE }, body: JSON.stringify([{ random }]) })
    expect(big.status).toBe(400)
    expect(await scene.nothingStaged()).toBe(true)
  })

  test('that is full refuses an upload before its bytes are read', async () => {
    const { service, token, documents } = await aService({ storageQuota: 1 })
    const line = await openLine(service)
    const headers = [
      'Host: a',
      `X-Service-Token: ${token}`,
      'Content-Disposition: attachment; filename=a',
      'Content-Length: 9',
    ]
    line.write(`POST ${documents} HTTP/1.1\r\n${headers.join('\r\n')}\r\nExpect: 100-continue\r\n\r\n`)
    expect((await line.answer())?.status).toBe(400)
    line.socket.destroy()
  })

  test('of others is their own', async () => {
    const { service, site } = await aService()
    const scene = await aService({ storageQuota: (await sizeOf(service, site.organization)) + 100 })
    const other = await aSite(scene.service.ports, scene.owner, 'Beta')
    const place = `organizations/${other.organization}/security-frameworks/${other.framework}/documents/${encodeURIComponent(CONTROL)}`
    const sent = { token: scene.token, headers: ATTACHED, body: 'x'.repeat(100) }
    expect((await scene.attach(sent)).status).toBe(201)
    expect((await scene.attach(sent)).status).toBe(400)
    expect((await call(scene.service, 'POST', `/api/v1/${place}`, sent)).status).toBe(201)
  })
})
