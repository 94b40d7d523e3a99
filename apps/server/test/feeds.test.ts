import { writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { addThreatFeed, type LoadedThreatIndex, openThreatIndex, removeThreatFeed } from '@security-management/domain'
import { memoryPorts } from '@security-management/domain/memory'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../src/cli/index.ts'
import { readConfig } from '../src/config.ts'
import { createFeedFetcher } from '../src/feed-fetcher.ts'
import { startFeedLoop } from '../src/feed-loop.ts'
import { startThreatFeeds } from '../src/threat-feeds.ts'
import { everyDatabase } from './support/databases.ts'
import { type Ended, temporaryDirectory } from './support/program.ts'
import { startWebServer } from './support/web-server.ts'

/** For what takes a moment, and more than one on a machine that is busy. */
const PATIENT = { timeout: 15_000 }
const HOUR = 60 * 60 * 1000

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let web: Awaited<ReturnType<typeof startWebServer>>
let answer: RequestListener
let stops: (() => Promise<void>)[]

const every = everyDatabase()

beforeAll(async () => {
  directory = await temporaryDirectory()
  web = await startWebServer((request, response) => answer(request, response))
})
beforeEach(() => {
  web.requests.length = 0
  stops = []
})
afterEach(async () => {
  for (const stop of stops) await stop()
})
afterAll(async () => {
  await Promise.all([web.stop(), directory.remove(), every.stop()])
})

/** What the web serves from now on. */
function publish(text: string, headers: Record<string, string> = {}): void {
  answer = (_request, response) => void response.writeHead(200, headers).end(text)
}

async function call(environment: Record<string, string>, ...args: string[]): Promise<Ended> {
  const said = { stdout: '', stderr: '' }
  const into = (stream: keyof typeof said) => ({ write: (text: string) => (said[stream] += text) })
  const code = await runCommand(args, { environment, stdout: into('stdout'), stderr: into('stderr') })
  return { code, ...said }
}

function logInto(lines: object[]) {
  return pino({ base: null, level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
}

async function fileOf(name: string, content: string | Buffer): Promise<string> {
  const path = join(directory.path, name)
  await writeFile(path, content)
  return path
}

/** Whether the index is against an address. */
function isAgainst({ index }: LoadedThreatIndex, ...parts: [number, number, number, number]): boolean {
  const words = new Uint32Array([((parts[0] << 24) | (parts[1] << 16) | (parts[2] << 8) | parts[3]) >>> 0, 0, 0, 0])
  return openThreatIndex(index).address({ kind: 4, words }) >= 0
}

describe('the commands for feeds', () => {
  let count = 0
  let database: string

  beforeEach(() => {
    count += 1
    database = `sqlite:${join(directory.path, `feeds-${count}.sqlite`)}`
  })

  async function cli(...args: string[]): Promise<Ended> {
    return call({ DATABASE_URL: database }, ...args)
  }
  async function json(...args: string[]) {
    const { code, stdout, stderr } = await cli(...args, '--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return JSON.parse(stdout)
  }

  test('add a feed from the web and one from a file, list both, refresh them, and remove one', async () => {
    publish('192.0.2.0/24\n192.0.2.256\n', { ETag: '"v1"' })
    const added = await json('feed', 'add', 'scanners', '--kind', 'ip', `${web.url}/list.txt`)
    expect(added).toMatchObject({
      name: 'scanners',
      kind: 'ip',
      source: `${web.url}/list.txt`,
      expires_at: null,
      unreadable: 1,
      samples: [{ line: 2, text: '192.0.2.256', reason: 'not an address' }],
      snapshot: { number: 1, entries: 1, gained: 1 },
    })
    const file = await fileOf('allow.gz', gzipSync('cdn.example\n'))
    await json('feed', 'add', 'cdn', '--kind', 'allow-domain', '--expires', '2100-01-01', file)

    const listed = await json('feed', 'list')
    expect(listed).toMatchObject([
      { name: 'cdn', kind: 'allow-domain', source: file, expires_at: '2100-01-01T00:00:00.000Z' },
      { name: 'scanners' },
    ])
    expect(JSON.stringify(listed)).not.toContain('"file"')

    publish('192.0.2.0/24\n198.51.100.0/24\n', { ETag: '"v2"' })
    expect(await json('feed', 'refresh')).toEqual([
      { name: 'cdn', outcome: 'unchanged' },
      { name: 'scanners', outcome: 'updated', snapshot: 2, entries: 2, gained: 1, unreadable: 0 },
    ])
    expect(web.requests.at(-1)?.headers['if-none-match']).toBe('"v1"')
    expect(await json('feed', 'remove', 'cdn')).toEqual({ name: 'cdn', removed: true })
    expect(await json('feed', 'list')).toHaveLength(1)
  })

  test('tell a person what was read, and what could not be', async () => {
    const file = await fileOf('list.txt', 'evil.example\nnot a list\n||evil.example^$popup\n')
    const { stdout } = await cli('feed', 'add', 'mine', '--kind', 'domain', file)
    expect(stdout).toBe(
      'added mine: 1 entries, 2 unreadable lines\n  line 2 is a name without a dot: not a list\n  line 3 is a rule with options: ||evil.example^$popup\n',
    )
    const [headings = '', row = ''] = (await cli('feed', 'list')).stdout.split('\n')
    expect(row.indexOf('domain')).toBe(headings.indexOf('KIND'))
    expect((await cli('feed', 'refresh', 'mine')).stdout).toBe('mine: unchanged\n')
    await fileOf('list.txt', 'evil.example\nworse.example\n')
    expect((await cli('feed', 'refresh', 'mine')).stdout).toBe(
      'mine: snapshot 2, 2 entries, 1 of them new, 0 unreadable lines\n',
    )
    expect((await cli('feed', 'remove', 'mine')).stdout).toBe('removed mine\n')
  })

  test('refresh the others when one fails, keep its snapshot, and fail with one line', async () => {
    publish('192.0.2.1\n')
    await json('feed', 'add', 'web', '--kind', 'ip', web.url)
    await json('feed', 'add', 'file', '--kind', 'ip', await fileOf('ip.txt', '192.0.2.1\n'))
    answer = (_request, response) => void response.writeHead(500).end()
    const { code, stdout, stderr } = await cli('feed', 'refresh')
    expect(stdout).toBe('file: unchanged\nweb: the source answered 500; the last snapshot stays\n')
    expect({ code, stderr }).toEqual({ code: 1, stderr: '1 of 2 feeds could not be refreshed\n' })
    expect(await json('feed', 'list')).toMatchObject([
      { name: 'file', last_error: null },
      { name: 'web', last_error: 'the source answered 500', snapshot: { number: 1, entries: 1 } },
    ])
  })

  test('leave a source alone for as long as it wants', async () => {
    publish('192.0.2.1\n', { 'Cache-Control': 'max-age=86400' })
    await json('feed', 'add', 'web', '--kind', 'ip', web.url)
    const { code, stdout } = await cli('feed', 'refresh', 'web')
    expect(stdout).toMatch(/^web: its source does not want to be asked before \d{4}-\S+Z\n$/)
    expect(code).toBe(0)
    expect(web.requests).toHaveLength(1)
  })

  test.each([
    ['a feed that is there already', ['feed', 'add', 'mine', '--kind', 'ip', 'list'], /^name: There is a feed mine/],
    ['a name that is none', ['feed', 'add', 'My list', '--kind', 'ip', 'list'], /^name: Must be 1 to 64/],
    ['a kind that is none', ['feed', 'add', 'new', '--kind', 'url', 'list'], /^kind: /],
    ['a file that is not there', ['feed', 'add', 'new', '--kind', 'ip', 'missing'], /^source: ENOENT/],
    ['a source of another protocol', ['feed', 'add', 'new', '--kind', 'ip', 'ftp://x.example/'], /^source: Must be/],
    [
      'an expiry that has passed',
      ['feed', 'add', 'new', '--kind', 'ip', '--expires', '2001-01-01', 'x'],
      /^expires_at/,
    ],
    ['a feed that is not there', ['feed', 'refresh', 'nobody'], /^There is no feed nobody$/],
    ['a feed that is not there either', ['feed', 'remove', 'nobody'], /^There is no feed nobody$/],
  ])('refuse %s with one line', async (_case, args, message) => {
    await json('feed', 'add', 'mine', '--kind', 'ip', await fileOf('mine.txt', '192.0.2.1\n'))
    const { code, stdout, stderr } = await cli(...args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.trimEnd()).toMatch(message)
    expect(stderr.trimEnd()).not.toContain('\n')
  })
})

describe('the loop that keeps feeds fresh', () => {
  const fast = { refreshEvery: 5, watchEvery: 5 }
  let now: Date
  let ports: ReturnType<typeof memoryPorts>
  let lines: Record<string, unknown>[]

  beforeEach(() => {
    now = new Date('2026-03-01T12:00:00.000Z')
    ports = memoryPorts({ now: () => now })
    lines = []
  })

  function start(): LoadedThreatIndex[] {
    const loaded: LoadedThreatIndex[] = []
    const loop = startFeedLoop(ports, createFeedFetcher(), logInto(lines), (index) => loaded.push(index), fast)
    stops.push(loop.stop)
    return loaded
  }
  function add(name: string, part: object = {}) {
    return addThreatFeed(ports, createFeedFetcher(), { name, kind: 'ip', source: web.url, ...part })
  }

  test('refreshes what is due, once whoever else does so too, and tells of the new index', async () => {
    publish('192.0.2.1\n')
    await add('list')
    const [one, other] = [start(), start()]
    await expect.poll(() => [one.length, other.length], PATIENT).toEqual([1, 1])
    publish('192.0.2.1\n192.0.2.2\n')
    now = new Date(now.getTime() + 24 * HOUR)
    await expect.poll(() => [one.length, other.length], PATIENT).toEqual([2, 2])
    for (const [first, second] of [one, other]) {
      expect(first && isAgainst(first, 192, 0, 2, 2)).toBe(false)
      expect(second && isAgainst(second, 192, 0, 2, 2)).toBe(true)
    }
    expect(web.requests).toHaveLength(2)
    const refreshed = lines.filter(({ msg }) => msg === 'threat feed refreshed')
    expect(refreshed).toMatchObject([{ feed: 'list', snapshot: 2, gained: 1 }])
  })

  test('notices what others add and remove, and when an entry expires', async () => {
    publish('192.0.2.1\n')
    const loaded = start()
    await expect.poll(() => loaded.length, PATIENT).toBe(1)
    await add('block')
    await expect.poll(() => loaded.length, PATIENT).toBe(2)
    await add('allow', { kind: 'allow-ip', expires_at: '2026-03-01T13:00:00Z' })
    await expect.poll(() => loaded.length, PATIENT).toBe(3)
    now = new Date('2026-03-01T13:00:00Z')
    await expect.poll(() => loaded.length, PATIENT).toBe(4)
    await removeThreatFeed(ports, 'block')
    await expect.poll(() => loaded.length, PATIENT).toBe(5)
    expect(loaded.map((index) => isAgainst(index, 192, 0, 2, 1))).toEqual([false, true, false, true, false])
  })

  test('says so when a feed fails, and goes on with its last snapshot', async () => {
    publish('192.0.2.1\n')
    await add('list')
    const loaded = start()
    await expect.poll(() => loaded.length, PATIENT).toBe(1)
    answer = (_request, response) => void response.writeHead(503).end()
    now = new Date(now.getTime() + 24 * HOUR)
    await expect
      .poll(() => lines.filter(({ level }) => level === 40), PATIENT)
      .toMatchObject([{ feed: 'list', error: 'the source answered 503' }])
    expect(loaded).toHaveLength(1)
  })

  test('goes on after the database could not answer', async () => {
    const { version } = ports.threatFeeds
    let asked = 0
    ports.threatFeeds.version = async () => {
      asked += 1
      if (asked === 1) throw new Error('the database is gone')
      return version()
    }
    const loaded = start()
    await expect.poll(() => loaded.length, PATIENT).toBe(1)
    expect(lines).toMatchObject([{ level: 50, msg: 'loading the threat feeds failed' }])
  })
})

for (const { name, open } of every.databases) {
  test(`on ${name}, two services notice within seconds what the command line changes, in threads of their own`, async () => {
    const url = name === 'SQLite' ? `sqlite:${join(directory.path, 'shared.sqlite')}` : await open()
    const environment = { DATABASE_URL: url, LOG_LEVEL: 'silent' }
    publish('192.0.2.0/24\n')
    await call(environment, 'feed', 'add', 'first', '--kind', 'ip', web.url)
    const services = [0, 1].map(() => {
      const loaded: LoadedThreatIndex[] = []
      const lines: object[] = []
      const feeds = startThreatFeeds(readConfig(environment), logInto(lines), (index) => loaded.push(index))
      stops.push(feeds.stop)
      return loaded
    })
    const against = (...parts: Parameters<typeof isAgainst> extends [unknown, ...infer Rest] ? Rest : never) =>
      services.map((loaded) => {
        const present = loaded.at(-1)
        return present !== undefined && isAgainst(present, ...parts)
      })
    await expect.poll(() => against(192, 0, 2, 7), PATIENT).toEqual([true, true])
    const file = await fileOf('second.txt', '198.51.100.0/24\n')
    expect((await call(environment, 'feed', 'add', 'second', '--kind', 'ip', file)).code).toBe(0)
    await expect.poll(() => against(198, 51, 100, 7), PATIENT).toEqual([true, true])
    await call(environment, 'feed', 'remove', 'first')
    await expect.poll(() => against(192, 0, 2, 7), PATIENT).toEqual([false, false])
    for (const [present] of services)
      expect(present?.index.addresses.v4.starts.buffer).toBeInstanceOf(SharedArrayBuffer)
  })
}
