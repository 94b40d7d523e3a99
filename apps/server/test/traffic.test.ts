import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../src/cli/index.ts'
import { type Client, clientOf } from './support/client.ts'
import { everyDatabase } from './support/databases.ts'
import { temporaryDirectory } from './support/program.ts'
import { firstToken, startServer, type TestServer } from './support/server.ts'

const PATIENT = { timeout: 15_000 }
const FILE = { 'Content-Type': 'application/x-ndjson', 'Content-Disposition': 'attachment; filename="access.log"' }

const every = everyDatabase()
afterAll(every.stop)

describe.each(every.databases)('traffic on $name', ({ open }) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  let env: Record<string, string>
  let servers: TestServer[]
  let token: string

  beforeEach(async () => {
    directory = await temporaryDirectory()
    const url = await open()
    // The command line of the tests runs in another working directory.
    env = { DATABASE_URL: url.replace('sqlite:', `sqlite:${directory.path}/`), MAX_TRAFFIC_BYTES: '3000000' }
    servers = []
  })
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    await directory.remove()
  })

  async function serve(): Promise<TestServer> {
    const server = await startServer(directory.path, env)
    servers.push(server)
    if (servers.length === 1) token = await firstToken(server)
    return server
  }

  async function feed(...args: string[]): Promise<void> {
    const nothing = { write: () => {} }
    expect(await runCommand(['feed', ...args], { environment: env, stdout: nothing, stderr: nothing })).toBe(0)
  }

  async function feedFile(name: string, text: string): Promise<string> {
    const path = join(directory.path, name)
    await writeFile(path, text)
    return path
  }

  async function aBlocker(client: Client): Promise<number> {
    const { body } = await client('POST', '/organizations', { name: 'Acme' })
    const services = ['Service IPv4 Protection', 'Service Domain Protection']
    const fields = {
      organization: body.organization,
      device_id: 'g',
      email: 'soc@acme.example',
      type: 'series',
      services,
    }
    return (await client('POST', '/atb', fields)).body.ticket as number
  }

  const threatsOf = async (client: Client, blocker: number) =>
    (await client('GET', `/atb/${blocker}/threats?order=value`)).body.data as Record<string, unknown>[]

  test('is judged by the feeds from the first request on, and every find is explained', async () => {
    await feed('add', 'networks', '--kind', 'ip', await feedFile('ip.txt', '203.0.113.0/24\n'))
    await feed('add', 'names', '--kind', 'domain', await feedFile('names.txt', 'evil.example\n'))
    const client = clientOf((await serve()).address, await firstToken(servers[0] as TestServer))
    const blocker = await aBlocker(client)
    const lines = [
      { timestamp: '2026-03-01T10:00:00Z', client_ip: '203.0.113.9', host: 'shop.example' },
      { timestamp: '2026-03-01T10:00:01Z', client_ip: '203.0.113.9', host: 'shop.example' },
      { timestamp: '2026-03-01T10:00:02Z', client_ip: '198.51.100.1', host: 'www.evil.example' },
      { timestamp: '2026-03-01T10:00:03Z', client_ip: '198.51.100.1', host: 'shop.example' },
    ]
    const text = lines.map((line) => JSON.stringify(line)).join('\n')
    const { status, body } = await client('POST', `/atb/${blocker}/traffic`, Buffer.from(text), FILE)
    expect([status, body]).toEqual([200, { error: 0, messages: [] }])
    expect(await threatsOf(client, blocker)).toMatchObject([
      { kind: 'address', value: '203.0.113.9', requests: 2, feed: 'networks', entry: '203.0.113.0/24', snapshot: 1 },
      { kind: 'host', value: 'www.evil.example', requests: 1, feed: 'names', entry: 'evil.example', snapshot: 1 },
    ])
    const notices = (await client('GET', '/notifications?type=warning')).body
    expect(notices).toMatchObject({ total: 0 })
    const found = await client('GET', '/threats/lookup?value=203.0.113.77')
    expect(found.body.data).toMatchObject({ listed: true, feed: 'networks' })
  })

  test('two processes judge alike, soon after either was told of a feed, and add up to one blocker', async () => {
    const [one, two] = [await serve(), await serve()]
    const clients = [one, two].map(({ address }) => clientOf(address, token))
    const [first, second] = clients as [Client, Client]
    const blocker = await aBlocker(first)
    await feed('add', 'networks', '--kind', 'ip', await feedFile('ip.txt', '203.0.113.0/24\n'))
    for (const client of clients) {
      const listed = async () => (await client('GET', '/threats/lookup?value=203.0.113.9')).body.data
      await expect.poll(listed, PATIENT).toMatchObject({ listed: true })
    }
    const line = (index: number) => JSON.stringify({ timestamp: 1772366400 + index, client_ip: '203.0.113.9' })
    const uploads = Array.from({ length: 10 }, (_, index) =>
      (index % 2 ? first : second)(
        'POST',
        `/atb/${blocker}/traffic`,
        Buffer.from(`${line(index)}\n${line(index)}`),
        FILE,
      ),
    )
    expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect(await threatsOf(second, blocker)).toMatchObject([{ value: '203.0.113.9', requests: 20 }])
    const statistics = await first('GET', `/atb/${blocker}/statistics?from=2026-03-01&to=2026-03-01&bucket=86400`)
    expect(statistics.body.data).toMatchObject({ total_requests: 20, malicious_requests: 20 })
  })

  test('is judged again when a feed gains entries: once by whichever process, told once', async () => {
    const [one, two] = [await serve(), await serve()]
    const client = clientOf(one.address, token)
    const blocker = await aBlocker(client)
    const now = Math.floor(Date.now() / 1000)
    const lineAt = (time: number, address: string) => `${JSON.stringify({ timestamp: time, client_ip: address })}\n`
    for (let file = 0; file < 5; file += 1) {
      const text = lineAt(now - 60 * file, '203.0.113.9') + lineAt(now - 60 * file, '198.51.100.1')
      expect((await client('POST', `/atb/${blocker}/traffic`, Buffer.from(text), FILE)).status).toBe(200)
    }
    await feed('add', 'networks', '--kind', 'ip', await feedFile('ip.txt', '203.0.113.0/24\n'))
    const counts = async () => {
      const { total_requests, malicious_requests, found_later } = (
        await clientOf(two.address, token)('GET', `/atb/${blocker}/statistics`)
      ).body.data as Record<string, number>
      return [total_requests, malicious_requests, found_later]
    }
    await expect.poll(counts, PATIENT).toEqual([10, 5, 5])
    const notices = async () => (await client('GET', '/notifications?type=warning')).body
    const told = {
      title: 'Malicious traffic found later',
      message: expect.stringContaining('know 5 requests in 5 earlier uploads as'),
    }
    await expect.poll(notices, PATIENT).toMatchObject({ total: 1, data: [told] })
    expect(await threatsOf(client, blocker)).toMatchObject([
      { value: '203.0.113.9', requests: 5, found_later: 5, feed: 'networks', entry: '203.0.113.0/24' },
    ])
    const uploads = (await client('GET', `/atb/${blocker}/traffic`)).body.data as Record<string, number>[]
    expect(uploads.map(({ malicious, found_later }) => [malicious, found_later])).toEqual(uploads.map(() => [1, 1]))
  })

  test('that is hostile is refused or counted, and the next file is read', async () => {
    const client = clientOf((await serve()).address, await firstToken(servers[0] as TestServer))
    const blocker = await aBlocker(client)
    const upload = async (bytes: Buffer, headers: Record<string, string> = {}) => {
      const { status, headers: answered } = await client('POST', `/atb/${blocker}/traffic`, bytes, {
        ...FILE,
        ...headers,
      })
      const location = answered.get('location')?.replace('/api/v1', '')
      return { status, made: location ? (await client('GET', location)).body.data : undefined }
    }
    const line = '{"timestamp":"2026-03-01T10:00:00Z"}'
    const long = `{"timestamp":"2026-03-01T10:00:00Z","x":"${'y'.repeat(2_000_000)}"}`
    const counted: [string, Buffer, object][] = [
      ['a line of megabytes', Buffer.from(`${line}\n${long}\n${line}`), { accepted: 2, rejected: 1 }],
      ['very many rows', Buffer.from(`${line}\n${'1\n'.repeat(500_000)}`), { accepted: 1, rejected: 500_000 }],
      [
        'NUL and bytes that are no UTF-8',
        Buffer.from(`${line}\n"\0"\n\xff\xfe\n{"timestamp":"\xff"}`, 'latin1'),
        { rejected: 3 },
      ],
      ['nesting in a row', Buffer.from(`${line}\n${'['.repeat(100_000)}`), { accepted: 1, rejected: 1 }],
      [
        'times that are none',
        Buffer.from('[{"ts":1e300},{"ts":"99999-01-01T00:00:00Z"},{"ts":-1e15}]'),
        { rejected: 3 },
      ],
      ['negative counts', Buffer.from('[{"ts":1772366400,"bytes":-5,"requests":-1}]'), { accepted: 1 }],
    ]
    for (const [what, bytes, made] of counted) {
      expect({ what, ...(await upload(bytes)) }).toMatchObject({ what, status: 200, made })
    }
    const refused: [string, number, Buffer, Record<string, string>?][] = [
      ['nesting', 400, Buffer.from('['.repeat(1_000_000))],
      ['an array that does not end', 400, Buffer.from(`[${line}`)],
      ['one text', 400, Buffer.from('"x"')],
      ['nothing', 400, Buffer.alloc(0)],
      ['a line of megabytes in an array', 400, Buffer.from(`[${long}]`)],
      ['more than the limit', 413, Buffer.from(`${line}\n`.repeat(100_000))],
      ['a gzip bomb', 413, gzipSync(Buffer.alloc(200_000_000, `${line}\n`)), { 'Content-Encoding': 'gzip' }],
      ['a brotli bomb', 413, brotliCompressSync(Buffer.alloc(20_000_000, `${line}\n`)), { 'Content-Encoding': 'br' }],
      ['what is no gzip', 400, Buffer.from(line), { 'Content-Encoding': 'gzip' }],
    ]
    for (const [what, status, bytes, headers] of refused) {
      expect({ what, ...(await upload(bytes, headers)) }).toEqual({ what, status, made: undefined })
    }
    const { body } = await client('GET', `/atb/${blocker}/traffic`)
    expect(body.total).toBe(counted.length)
    expect(await upload(Buffer.from(`${line}\n${line}\n`))).toMatchObject({ status: 200, made: { accepted: 2 } })
  })

  test('of which the client breaks off leaves nothing behind', async () => {
    const server = await serve()
    const client = clientOf(server.address, token)
    const blocker = await aBlocker(client)
    const url = `${server.address}/api/v1/atb/${blocker}/traffic`
    const upload = request(url, { method: 'POST', headers: { ...FILE, 'X-Service-Token': token } })
    upload.on('error', () => {})
    upload.write(`${JSON.stringify({ timestamp: '2026-03-01T10:00:00Z' })}\n`.repeat(20_000))
    await new Promise((resolve) => setTimeout(resolve, 200))
    upload.destroy()
    await expect.poll(() => server.said.stderr.includes('client went away'), PATIENT).toBe(true)
    expect((await client('GET', `/atb/${blocker}/traffic`)).body.total).toBe(0)
    const { body } = await client('GET', `/atb/${blocker}`)
    expect(body.data).toMatchObject({ check: { status: 0, chart_stat: [], web_stat: [] } })
  })

  test('comes back byte for byte, and the same bytes count once', async () => {
    const server = await serve()
    const client = clientOf(server.address, token)
    const blocker = await aBlocker(client)
    const lines = Array.from({ length: 20_000 }, (_, index) => JSON.stringify({ ts: 1772366400 + index, n: index * 7 }))
    const bytes = Buffer.from(lines.join('\n'))
    const one = await client('POST', `/atb/${blocker}/traffic`, bytes, FILE)
    const again = await client('POST', `/atb/${blocker}/traffic`, gzipSync(bytes), {
      ...FILE,
      'Content-Encoding': 'gzip',
    })
    const location = one.headers.get('location') ?? ''
    expect(again.headers.get('location')).toBe(location)
    const headers = { 'X-Service-Token': token }
    const raw = await fetch(`${server.address}${location}/raw`, { headers })
    expect(sha256(Buffer.from(await raw.arrayBuffer()))).toBe(sha256(bytes))
    const part = await fetch(`${server.address}${location}/raw`, {
      headers: { ...headers, Range: 'bytes=300000-300099' },
    })
    expect(part.status).toBe(206)
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(300_000, 300_100))
  })
})

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
