import { beforeEach, describe, expect, test } from 'vitest'
import { type MemoryPorts, memoryPorts } from '../memory/index.ts'
import { createAddress, readAddress } from '../traffic/line-addresses.ts'
import { addThreatFeed } from './add-threat-feed.ts'
import type { FeedFetcher, FeedRequest } from './feed-fetcher.ts'
import { listThreatFeeds } from './list-threat-feeds.ts'
import { loadThreatIndex } from './load-threat-index.ts'
import { REFRESH_EVERY, RETRY_AFTER } from './read-source.ts'
import { REFRESH_LEASE, refreshDueThreatFeeds, refreshThreatFeed } from './refresh-threat-feed.ts'
import { removeThreatFeed } from './remove-threat-feed.ts'
import { MAX_FEED_BYTES } from './threat-feed.ts'
import { openThreatIndex } from './threat-index.ts'

const SOURCE = 'https://feeds.example/list.txt'
const MINUTE = 60_000
const ALWAYS = '9999-12-31T23:59:59.999Z'

let now: Date
let ports: MemoryPorts
/** What the web holds; an error is thrown while it is read. */
let web: Map<string, { text: string; etag?: string; earliest?: string; fails?: Error; down?: string }>
let asked: FeedRequest[]

const fetcher: FeedFetcher = {
  async fetch(request) {
    asked.push(request)
    const {
      text,
      etag = null,
      earliest: earliest_refresh_at = null,
      fails,
      down,
    } = web.get(request.source) ?? { text: '' }
    if (down) return { outcome: 'failed', reason: down, earliest_refresh_at }
    if (etag !== null && etag === request.etag) return { outcome: 'unchanged', earliest_refresh_at }
    async function* content() {
      yield Buffer.from(text)
      if (fails) throw fails
    }
    return { outcome: 'fetched', etag, last_modified: null, earliest_refresh_at, content: content() }
  },
}

beforeEach(() => {
  now = new Date('2026-03-01T12:00:00.000Z')
  ports = memoryPorts({ now: () => now })
  web = new Map()
  asked = []
})

function later(milliseconds: number): string {
  return new Date(now.getTime() + milliseconds).toISOString()
}

function pass(milliseconds: number): void {
  now = new Date(now.getTime() + milliseconds)
}

/** So many addresses, one a line. */
function addresses(count: number, network = '10'): string {
  return Array.from({ length: count }, (_, index) => `${network}.0.${index >> 8}.${index & 255}\n`).join('')
}

async function add(text: string, part: object = {}) {
  web.set(SOURCE, { text, ...web.get(SOURCE) })
  return addThreatFeed(ports, fetcher, { name: 'list', kind: 'ip', source: SOURCE, ...part })
}

function publish(text: string, part: object = {}): void {
  web.set(SOURCE, { text, ...part })
}

async function feed(name = 'list') {
  return (await listThreatFeeds(ports)).find((candidate) => candidate.name === name)
}

async function judged(value: string) {
  const judge = openThreatIndex((await loadThreatIndex(ports)).index)
  const bytes = Buffer.from(value)
  const address = createAddress()
  const finding = readAddress(bytes, 0, bytes.length, address)
    ? judge.address(address)
    : judge.host(bytes, bytes.length)
  return finding < 0 ? undefined : judge.explain(finding)
}

function eventsOf(type: string) {
  return ports.published.filter((event) => event.type === type)
}

describe('adding a feed', () => {
  test('takes its first snapshot, which from then on lines are judged by', async () => {
    const added = await add('# networks\n10.0.0.0/8\n192.0.2.1\nnonsense\n192.0.2.1\n', { expires_at: '2027-01-01' })
    expect(added).toMatchObject({
      name: 'list',
      kind: 'ip',
      source: SOURCE,
      created_at: now.toISOString(),
      expires_at: '2027-01-01T00:00:00.000Z',
      next_refresh_at: later(REFRESH_EVERY),
      last_error: null,
      unreadable: 1,
      samples: [{ line: 4, text: 'nonsense', reason: 'not an address' }],
      snapshot: { number: 1, entries: 2, gained: 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
    expect(await listThreatFeeds(ports)).toEqual([added])
    expect(await judged('10.1.2.3')).toEqual({ feed: 'list', snapshot: 1, entry: '10.0.0.0/8' })
    expect(eventsOf('threat_feed.added')).toMatchObject([
      { record: 'list', user_id: null, organization: null, details: { kind: 'ip', entries: 2 } },
    ])
  })

  test('takes domains just as well, those of a whole top level included', async () => {
    await add('||evil.example^\n0.0.0.0 ads.example\n.zip\n', { kind: 'domain' })
    expect(await judged('www.evil.example')).toEqual({ feed: 'list', snapshot: 1, entry: 'evil.example' })
    expect(await judged('a.zip')).toMatchObject({ entry: 'zip' })
    expect(await judged('good.example')).toBeUndefined()
  })

  test.each([
    ['a name that is none', { name: 'My list' }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a kind that is none', { kind: 'url' }, 'kind'],
    ['no source', { source: '' }, 'source'],
    ['a source of another protocol', { source: 'ftp://feeds.example/list' }, 'source'],
    ['a source with a password', { source: 'https://me:secret@feeds.example/list' }, 'source'],
    ['an expiry that has passed', { expires_at: '2026-03-01T12:00:00Z' }, 'expires_at'],
  ])('is refused with %s, and nothing is fetched', async (_case, part, path) => {
    await expect(add(addresses(5), part)).rejects.toMatchObject({ code: 'invalid', details: [{ path }] })
    expect(asked).toEqual([])
  })

  test.each([
    ['cannot be reached', { down: 'HTTP 500' }, 'HTTP 500'],
    ['breaks off', { text: addresses(5), fails: new Error('connection reset') }, 'connection reset'],
    ['has no entry', { text: '<html>\nnot found\n' }, 'none of its 2 lines is an entry; line 1 is not an address'],
    ['is empty', { text: '' }, 'none of its 0 lines is an entry'],
  ])('is refused when the source %s, and leaves nothing behind', async (_case, source, message) => {
    publish('', source)
    await expect(add('')).rejects.toMatchObject({ code: 'invalid', details: [{ path: 'source', message }] })
    expect(await listThreatFeeds(ports)).toEqual([])
    expect(await ports.files.sweep(ALWAYS)).toBe(0)
    expect(ports.published).toEqual([])
  })

  test('is refused when the source is larger than 200 MiB, however it is sent', async () => {
    const endless: FeedFetcher = {
      async fetch() {
        async function* content() {
          // Without end; the first piece that is too much is not read.
          yield Buffer.from('192.0.2.1\n')
          for (;;) yield new Uint8Array(MAX_FEED_BYTES)
        }
        return { outcome: 'fetched', etag: null, last_modified: null, earliest_refresh_at: null, content: content() }
      },
    }
    const adding = addThreatFeed(ports, endless, { name: 'list', kind: 'ip', source: SOURCE })
    await expect(adding).rejects.toMatchObject({ details: [{ path: 'source', message: 'larger than 200 MiB' }] })
  })

  test('is refused under a name that another feed has, even when both come at once', async () => {
    const results = await Promise.allSettled([add(addresses(1)), add(addresses(1)), add(addresses(1))])
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' })
    }
    await expect(add(addresses(1))).rejects.toMatchObject({ code: 'conflict' })
    expect(await ports.files.sweep(ALWAYS)).toBe(0)
    expect(eventsOf('threat_feed.added')).toHaveLength(1)
  })
})

describe('refreshing a feed', () => {
  test('takes a new snapshot, says what it gained, and forgets the old one', async () => {
    await add('192.0.2.1\n192.0.2.2\n')
    pass(MINUTE)
    publish('192.0.2.2\n192.0.2.3\n192.0.2.4\n')
    const outcome = { outcome: 'updated', snapshot: 2, entries: 3, gained: 2, unreadable: 0 }
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toEqual({ name: 'list', ...outcome })
    expect(await feed()).toMatchObject({ snapshot: { number: 2, entries: 3, gained: 2, created_at: later(0) } })
    expect(await judged('192.0.2.1')).toBeUndefined()
    expect(await judged('192.0.2.4')).toEqual({ feed: 'list', snapshot: 2, entry: '192.0.2.4' })
    expect(eventsOf('threat_feed.refreshed')).toMatchObject([
      { record: 'list', details: { snapshot: 2, entries: 3, gained: 2 } },
    ])
    expect(await ports.files.sweep(ALWAYS)).toBe(0)
  })

  test('counts what a feed of domains gained', async () => {
    await add('a.example\nb.example\n', { kind: 'domain' })
    publish('c.example\nB.example\n')
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toMatchObject({ entries: 2, gained: 1 })
  })

  test('that brings the same entries, in whatever order, is no new snapshot', async () => {
    await add('192.0.2.1\n192.0.2.2\n')
    pass(MINUTE)
    publish('; a new comment\n192.0.2.2\n192.0.2.1/32\nnonsense\n')
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toEqual({ name: 'list', outcome: 'unchanged' })
    expect(await feed()).toMatchObject({ snapshot: { number: 1 }, refreshed_at: later(0), unreadable: 1 })
    expect(eventsOf('threat_feed.refreshed')).toEqual([])
    expect(await ports.files.sweep(ALWAYS)).toBe(0)
  })

  test('asks the source by what it said before', async () => {
    publish(addresses(3), { etag: '"one"' })
    await add('')
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toMatchObject({ outcome: 'unchanged' })
    publish(addresses(4), { etag: '"two"' })
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toMatchObject({ outcome: 'updated' })
    expect(asked.map(({ etag }) => etag)).toEqual([null, '"one"', '"one"'])
    expect((await feed())?.etag).toBe('"two"')
  })

  test.each([
    ['cannot be reached', { down: 'HTTP 503' }, 'HTTP 503'],
    ['breaks off', { text: addresses(500), fails: new Error('connection reset') }, 'connection reset'],
    ['has become empty', { text: '' }, 'none of its 0 lines is an entry'],
    ['has shrunken to almost nothing', { text: addresses(19) }, 'shrunken from 200 entries to 19'],
  ])('keeps the snapshot when the source %s, and says so', async (_case, source, error) => {
    publish(addresses(200), { etag: '"good"' })
    await add('')
    pass(MINUTE)
    publish('', { etag: '"bad"', ...source })
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toEqual({ name: 'list', outcome: 'failed', error })
    expect(await feed()).toMatchObject({
      snapshot: { number: 1, entries: 200 },
      etag: '"good"',
      last_error: error,
      refreshed_at: later(-MINUTE),
      next_refresh_at: later(RETRY_AFTER),
    })
    expect(await judged('10.0.0.199')).toBeDefined()
    expect(await ports.files.sweep(ALWAYS)).toBe(0)
  })

  test('believes a feed that shrinks, as long as a tenth is left or it was small', async () => {
    await add(addresses(200))
    publish(addresses(20))
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toMatchObject({ outcome: 'updated', entries: 20 })
    publish(addresses(1))
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toMatchObject({ outcome: 'updated', entries: 1 })
  })

  test('that fails again and again is told of once, and again after it worked', async () => {
    await add(addresses(3))
    const down = async () => {
      publish('', { down: 'HTTP 500' })
      return refreshThreatFeed(ports, fetcher, 'list')
    }
    await down()
    await down()
    expect(eventsOf('threat_feed.refresh_failed')).toMatchObject([{ record: 'list', details: { error: 'HTTP 500' } }])
    publish(addresses(3))
    await refreshThreatFeed(ports, fetcher, 'list')
    expect((await feed())?.last_error).toBeNull()
    await down()
    expect(eventsOf('threat_feed.refresh_failed')).toHaveLength(2)
  })

  test('waits until the source wants to be asked again, whoever asks, and after a failure, too', async () => {
    publish(addresses(3), { earliest: later(10 * MINUTE) })
    await add('')
    const until = later(10 * MINUTE)
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toEqual({ name: 'list', outcome: 'too_early', until })
    expect(asked).toHaveLength(1)
    pass(10 * MINUTE)
    publish('', { down: 'HTTP 429', earliest: later(REFRESH_EVERY * 2) })
    await refreshThreatFeed(ports, fetcher, 'list')
    expect((await feed())?.next_refresh_at).toBe(later(REFRESH_EVERY * 2))
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toMatchObject({ outcome: 'too_early' })
    expect(asked).toHaveLength(2)
  })

  test('that brings what is not believed is tried again as soon as any that failed, however long it may be kept', async () => {
    publish(addresses(3))
    await add('')
    publish('<html>Moved</html>', { earliest: later(500 * REFRESH_EVERY) })
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toMatchObject({ outcome: 'failed' })
    expect(await feed()).toMatchObject({ earliest_refresh_at: null, next_refresh_at: later(RETRY_AFTER) })
    publish(addresses(4))
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toMatchObject({ outcome: 'updated', entries: 4 })
  })

  test('that is removed meanwhile leaves nothing behind', async () => {
    await add('192.0.2.1\n')
    publish('192.0.2.2\n')
    const removing: FeedFetcher = {
      async fetch(request) {
        await removeThreatFeed(ports, 'list')
        return fetcher.fetch(request)
      },
    }
    expect(await refreshThreatFeed(ports, removing, 'list')).toEqual({ name: 'list', outcome: 'taken' })
    expect(await listThreatFeeds(ports)).toEqual([])
    expect(await ports.files.sweep(ALWAYS)).toBe(0)
    expect(eventsOf('threat_feed.refreshed')).toEqual([])
  })

  test('of a feed that does not exist says so', async () => {
    await expect(refreshThreatFeed(ports, fetcher, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the schedule', () => {
  async function refreshed(): Promise<string[]> {
    const told: string[] = []
    await refreshDueThreatFeeds(ports, fetcher, ({ name, outcome }) => told.push(`${name} ${outcome}`))
    return told
  }

  test('refreshes what is due, each feed once, by however many processes', async () => {
    await add(addresses(1), { name: 'a' })
    pass(MINUTE)
    await add(addresses(1), { name: 'b' })
    expect(await refreshed()).toEqual([])
    pass(REFRESH_EVERY - MINUTE)
    publish(addresses(2))
    const [one, other] = await Promise.all([refreshed(), refreshed()])
    expect([...one, ...other]).toEqual(['a updated'])
    pass(MINUTE)
    expect(await refreshed()).toEqual(['b updated'])
    expect(await refreshed()).toEqual([])
  })

  test('tries again what another process began and never ended', async () => {
    await add(addresses(1))
    pass(REFRESH_EVERY)
    await ports.transact(({ threatFeeds }) => threatFeeds.leaseDue(later(0), later(REFRESH_LEASE)))
    expect(await refreshed()).toEqual([])
    expect(await refreshThreatFeed(ports, fetcher, 'list')).toEqual({ name: 'list', outcome: 'taken' })
    pass(REFRESH_LEASE)
    expect(await refreshed()).toEqual(['list unchanged'])
  })

  test('ends early when it is told to', async () => {
    await add(addresses(1), { name: 'a' })
    await add(addresses(1), { name: 'b' })
    pass(REFRESH_EVERY)
    const told: string[] = []
    await refreshDueThreatFeeds(
      ports,
      fetcher,
      ({ name }) => told.push(name),
      () => told.length === 0,
    )
    expect(told).toEqual(['a'])
  })
})

describe('removing a feed', () => {
  test('takes its entries and its bytes away, and leaves its name free', async () => {
    await add('192.0.2.1\n')
    await removeThreatFeed(ports, 'list')
    expect(await judged('192.0.2.1')).toBeUndefined()
    expect(await ports.files.sweep(ALWAYS)).toBe(0)
    expect(eventsOf('threat_feed.removed')).toMatchObject([{ record: 'list', details: { kind: 'ip', entries: 1 } }])
    await expect(removeThreatFeed(ports, 'list')).rejects.toMatchObject({ code: 'not_found' })
    await add('192.0.2.1\n')
  })
})

describe('the index', () => {
  test('leaves out feeds that have expired, and says when the next one does', async () => {
    await add('192.0.2.0/24\n', { name: 'block' })
    publish('192.0.2.7\n')
    await add('', { name: 'allow', kind: 'allow-ip', expires_at: later(30 * MINUTE) })
    await add('', { name: 'allow-longer', kind: 'allow-ip', expires_at: later(60 * MINUTE) })
    publish('192.0.2.8\n')
    await refreshThreatFeed(ports, fetcher, 'allow-longer')
    expect(await judged('192.0.2.7')).toBeUndefined()
    expect((await loadThreatIndex(ports)).stale_at).toBe(later(30 * MINUTE))
    pass(30 * MINUTE)
    expect(await judged('192.0.2.7')).toMatchObject({ feed: 'block' })
    expect((await loadThreatIndex(ports)).stale_at).toBe(later(30 * MINUTE))
    pass(30 * MINUTE)
    expect((await loadThreatIndex(ports)).stale_at).toBeNull()
  })

  test('has another version when a snapshot came or went, and only then', async () => {
    const version = async () => (await loadThreatIndex(ports)).index.version
    const empty = await version()
    await add(addresses(1))
    const one = await version()
    await refreshThreatFeed(ports, fetcher, 'list')
    expect(await version()).toBe(one)
    publish(addresses(2))
    await refreshThreatFeed(ports, fetcher, 'list')
    const two = await version()
    await removeThreatFeed(ports, 'list')
    const none = await version()
    expect(new Set([empty, one, two, none]).size).toBe(4)
  })

  test('is built from what is there now when a snapshot is replaced while it is read', async () => {
    await add('192.0.2.1\n')
    publish('192.0.2.2\n')
    const { read } = ports.files
    let reads = 0
    async function* replaced(...[file, from, to]: Parameters<typeof read>) {
      reads += 1
      if (reads === 1) {
        ports.files.read = read
        await refreshThreatFeed(ports, fetcher, 'list')
        throw new Error(`File ${file} has no chunk 0`)
      }
      yield* read(file, from, to)
    }
    ports.files.read = replaced
    expect(await judged('192.0.2.2')).toMatchObject({ snapshot: 2 })
  })

  test('says so when the bytes of a snapshot cannot be read', async () => {
    await add('192.0.2.1\n')
    ports.files.read = () => {
      throw new Error('the disk is gone')
    }
    await expect(loadThreatIndex(ports)).rejects.toThrow('the disk is gone')
  })
})
