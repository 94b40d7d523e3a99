import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Ports } from '@security-management/domain'
import { type MemoryPorts, memoryPorts } from '@security-management/domain/memory'
import { describe, expect, test } from 'vitest'
import { openLine } from './testing/raw.ts'
import { call, type Service, startServiceOn, until } from './testing/service.ts'
import { aPerson, aSite, CONTROL } from './testing/world.ts'

const BYTES = Buffer.from('0123456789')
const ETAG = `"${createHash('sha256').update(BYTES).digest('hex')}"`

type Read = Ports['files']['read']

/** A service with one document; `read` may stand in for the store's own. */
async function aDocument(read?: (own: Read) => Read, body: Uint8Array = BYTES) {
  const ports: MemoryPorts = memoryPorts()
  const owner = await aPerson(ports, 'owner@example.com')
  const site = await aSite(ports, owner, 'Alpha')
  const files = { ...ports.files, ...(read && { read: read(ports.files.read) }) }
  const service: Service = await startServiceOn({ ...ports, files })
  const { token } = owner
  const framework = `/api/v1/organizations/${site.organization}/security-frameworks/${site.framework}`
  const headers = { 'Content-Disposition': `attachment; filename*=UTF-8''b%c3%a9.txt`, 'Content-Type': 'text/html' }
  const attached = await call(service, 'POST', `${framework}/documents/${encodeURIComponent(CONTROL)}`, {
    token,
    headers,
    body,
  })
  const path: string = attached.json.data.file_path
  service.log.length = 0
  const get = (sent = {}, method = 'GET') => call(service, method, path, { token, headers: sent })
  return { service, token, path, get, owner, framework }
}

describe('a document', () => {
  test('comes with its type and name, and as nothing that a browser would run', async () => {
    const { get } = await aDocument()
    const { status, headers, bytes } = await get()
    expect([status, bytes]).toEqual([200, BYTES])
    expect(headers).toMatchObject({
      'content-type': 'text/html',
      'content-length': '10',
      'content-disposition': `attachment; filename="b?.txt"; filename*=UTF-8''b%C3%A9.txt`,
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      etag: ETAG,
    })
  })

  test('is described by HEAD, which reads no byte of it', async () => {
    let reads = 0
    const { get } = await aDocument((own) => (...args) => {
      reads += 1
      return own(...args)
    })
    const head = await get({ Range: 'bytes=0-0' }, 'HEAD')
    expect(head).toMatchObject({ status: 200, headers: { 'content-length': '10', etag: ETAG } })
    expect(head.bytes).toHaveLength(0)
    expect(reads).toBe(0)
  })

  test('is not found under another name, control, framework or organization', async () => {
    const { service, token, path } = await aDocument()
    const others = [
      path.replace(/[0-9a-f]{8}\./, '00000000.'),
      path.replace(encodeURIComponent(CONTROL), 'B'),
      path.replace(/security-frameworks\/\d+/, 'security-frameworks/999'),
      path.replace(/organizations\/\d+/, 'organizations/999'),
      `${path}/`,
      `${path}%00`,
    ]
    for (const other of others) expect((await call(service, 'GET', other, { token })).status).toBe(404)
  })

  test('is gone with its framework', async () => {
    const { service, token, get, framework } = await aDocument()
    await call(service, 'DELETE', framework, { token })
    expect((await get()).status).toBe(404)
  })
})

describe('a part of a document', () => {
  test.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=9-99', '9', 'bytes 9-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['Bytes= 2-3', '23', 'bytes 2-3/10'],
  ])('%s is %s', async (range, text, contentRange) => {
    const { get } = await aDocument()
    const { status, headers, bytes } = await get({ Range: range })
    expect([status, bytes.toString()]).toEqual([206, text])
    expect(headers).toMatchObject({ 'content-range': contentRange, 'content-length': String(text.length), etag: ETAG })
  })

  test.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=99999999999999999999-'])(
    '%s lies outside: 416, as an envelope',
    async (range) => {
      const { get } = await aDocument()
      const { status, headers } = await get({ Range: range })
      expect([status, headers['content-range']]).toEqual([416, 'bytes */10'])
      expect(headers).not.toHaveProperty('content-disposition')
    },
  )

  test.each(['bytes=3-1', 'bytes=-', 'bytes=a-b', 'bytes=0-1,3-4', 'lines=0-1', 'bytes 0-1', ''])(
    '%s is no single range, so the whole comes',
    async (range) => {
      const { get } = await aDocument()
      const { status, bytes } = await get({ Range: range })
      expect([status, bytes]).toEqual([200, BYTES])
    },
  )

  test('comes only if the document is still the same, where that is asked', async () => {
    const { get } = await aDocument()
    const status = async (ifRange: string) => (await get({ Range: 'bytes=0-3', 'If-Range': ifRange })).status
    expect(await status(ETAG)).toBe(206)
    for (const other of ['"x"', `W/${ETAG}`, 'Wed, 21 Oct 2015 07:28:00 GMT']) expect(await status(other)).toBe(200)
  })

  test('of an empty document does not exist', async () => {
    const { get } = await aDocument(undefined, Buffer.alloc(0))
    expect((await get({ Range: 'bytes=0-' })).status).toBe(416)
    expect((await get({ Range: 'bytes=-1' })).status).toBe(416)
    expect((await get()).status).toBe(200)
  })
})

describe('a document that the client has', () => {
  test.each([ETAG, `W/${ETAG}`, `"x", ${ETAG}`, '*'])('is not sent again: %s', async (tag) => {
    const { get } = await aDocument()
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, bytes } = await get({ 'If-None-Match': tag, Range: 'bytes=0-1' }, method)
      expect([status, headers.etag, bytes.length]).toEqual([304, ETAG, 0])
    }
  })

  test('in another version is', async () => {
    const { get } = await aDocument()
    expect((await get({ 'If-None-Match': '"x"' })).status).toBe(200)
  })
})

describe('a store that fails', () => {
  test('before the first byte: 500, as an envelope', async () => {
    const { service, get } = await aDocument(
      () =>
        async function* () {
          if (BYTES.length > 0) throw new Error('the disk is gone')
          yield BYTES
        },
    )
    const { status, headers } = await get()
    expect(status).toBe(500)
    expect(headers).not.toHaveProperty('content-disposition')
    await until(() => service.log.length > 0)
    expect(service.log).toMatchObject([{ level: 'error', fields: { status: 500 } }])
  })

  test.each([
    ['throws', true],
    ['ends', false],
  ])(
    'in the middle, when it %s: the connection breaks, so that nobody takes a part for the whole',
    async (_, throws) => {
      const { service, get } = await aDocument(
        () =>
          async function* () {
            yield BYTES.subarray(0, 4)
            await new Promise((resolve) => setTimeout(resolve, 20))
            if (throws) throw new Error('the disk is gone')
          },
      )
      await expect(get()).rejects.toThrow()
      await until(() => service.log.length > 0)
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(service.log).toMatchObject([{ level: 'error', fields: { err: expect.any(Error) } }])
    },
  )
})

test('a client that is slow holds one piece of a document at a time, whose memory is given back', async () => {
  const size = 30 * 1024 * 1024
  const body = Buffer.alloc(size, 'evidence')
  const sockets: Socket[] = []
  const asked: Uint8Array[] = []
  let waiting = 0
  let held = 0
  const { service, token, path } = await aDocument(
    () =>
      async function* () {
        for (let at = 0; at < size; at += 65536) {
          waiting = Math.max(waiting, ...sockets.map(({ writableLength }) => writableLength))
          held = Math.max(held, ...asked.map(({ buffer }) => buffer.byteLength))
          const piece = new Uint8Array(body.subarray(at, at + 65536))
          asked.push(piece)
          yield piece
        }
      },
    body,
  )
  service.server.on('connection', (socket) => sockets.push(socket))
  const headers = { 'X-Service-Token': token }
  const req = request({ port: service.port, host: '127.0.0.1', path, headers, agent: false })
  req.end()
  const [res] = (await once(req, 'response')) as [IncomingMessage]
  // Once nothing moves any more the rest waits for the client.
  for (let before = -1; before < asked.length; ) {
    before = asked.length
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  expect(asked.length).toBeLessThan(size / 65536)
  expect(asked.filter(({ buffer }) => buffer.byteLength > 0)).toHaveLength(1)
  const bytes = await buffer(res)
  expect(bytes.equals(body)).toBe(true)
  expect({ waiting, held }).toEqual({ waiting: 0, held: 0 })
})

test('a client that is fast leaves others their turn between the pieces of a document', async () => {
  let turn = 0
  const turns: number[] = []
  const { get } = await aDocument(
    () =>
      async function* () {
        for (let count = 0; count < 20; count += 1) {
          turns.push(turn)
          yield Buffer.alloc(1000)
        }
      },
    Buffer.alloc(20_000),
  )
  let next = setImmediate(function count() {
    turn += 1
    next = setImmediate(count)
  })
  expect((await get()).bytes).toHaveLength(20_000)
  clearImmediate(next)
  // The first piece is asked for before there is an answer to write.
  expect(turns.slice(2).every((turn, index) => turn > (turns[index + 1] ?? 0))).toBe(true)
})

test('the pieces of many documents are asked for one after the other, and no more than one in a turn', async () => {
  let turn = 0
  let asking = 0
  const seen: { turn: number; asking: number }[] = []
  const { get } = await aDocument(
    () =>
      async function* () {
        // The first piece is asked for before there is an answer to write.
        yield Buffer.alloc(1000)
        for (let count = 1; count < 10; count += 1) {
          asking += 1
          seen.push({ turn, asking })
          await new Promise((resolve) => setTimeout(resolve, 1))
          asking -= 1
          yield Buffer.alloc(1000)
        }
      },
    Buffer.alloc(10_000),
  )
  let next = setImmediate(function count() {
    turn += 1
    next = setImmediate(count)
  })
  const answers = await Promise.all(Array.from({ length: 20 }, () => get()))
  clearImmediate(next)
  expect(answers.map(({ bytes }) => bytes.length)).toEqual(Array(20).fill(10_000))
  expect(seen).toHaveLength(180)
  expect(new Set(seen.map(({ turn }) => turn)).size).toBe(180)
  expect(Math.max(...seen.map(({ asking }) => asking))).toBe(1)
})

test('a client that goes away ends the reading, and is no fault of ours', async () => {
  let ended = false
  let pieces = 0
  const { service, token, path } = await aDocument(
    () =>
      async function* () {
        try {
          for (;;) {
            pieces += 1
            yield Buffer.alloc(65536)
          }
        } finally {
          ended = true
        }
      },
    Buffer.alloc(50 * 1024 * 1024),
  )
  const headers = { 'X-Service-Token': token }
  const req = request({ port: service.port, host: '127.0.0.1', path, headers, agent: false })
  req.on('error', () => {})
  req.end()
  req.on('response', (res) => res.once('data', () => req.destroy()))
  await until(() => ended)
  expect(pieces).toBeLessThan(800)
  await until(() => service.log.length > 0)
  expect(service.log).toMatchObject([{ level: 'info', fields: { status: 499 } }])
})

test('a client that goes away before the first byte is no fault of ours, and nothing more that it asked for is begun', async () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let reads = 0
  const { service, token, path } = await aDocument(
    (own) =>
      async function* (...args) {
        reads += 1
        await opened
        yield* own(...args)
      },
  )
  const line = await openLine(service)
  line.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Service-Token: ${token}\r\n\r\n`.repeat(3))
  await until(() => reads === 1)
  line.socket.destroy()
  const connections = () => new Promise((resolve) => service.server.getConnections((_, count) => resolve(count)))
  await until(async () => (await connections()) === 0)
  open()
  await service.server.idle()
  await until(() => service.log.length > 0)
  expect(service.log.map(({ level, fields }) => [level, fields.status])).toEqual([['info', 499]])
  expect(reads).toBe(1)
})
