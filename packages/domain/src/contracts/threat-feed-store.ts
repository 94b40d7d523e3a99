import { describe, expect, test } from 'vitest'
import type { Ports } from '../ports.ts'
import type { ThreatFeed } from '../threat-feeds/threat-feed.ts'
import { aThreatFeed, ODD_TEXT } from './builders.ts'
import { NOW, type Open, openFresh, openOnce } from './opened.ts'
import { expectRolledBack, fulfilled, tenAtOnce } from './paging.ts'

const EARLIER = '2026-03-01T11:00:00.000Z'
const LATER = '2026-03-01T13:00:00.000Z'
const MUCH_LATER = '2026-03-02T12:00:00.000Z'

/** The suite that every adapter of `ThreatFeedStore` must pass. `open` gives empty stores, new at every call. */
export function threatFeedStoreContract(adapter: string, open: Open): void {
  describe(`ThreatFeedStore contract: ${adapter}`, () => {
    const opened = openOnce(open)
    let last = 0

    async function aFile(ports: Ports) {
      async function* content() {
        yield Buffer.from('192.0.2.1\n')
      }
      return ports.files.stage(content(), 100)
    }
    /** Stores a feed of a name that no other has, unless `part` names it. */
    async function store(part: Partial<ThreatFeed> = {}, ports: Ports = opened.ports): Promise<ThreatFeed> {
      last += 1
      const feed = aThreatFeed({ name: `feed-${last}`, ...part }, await aFile(ports))
      expect(await ports.transact(({ threatFeeds }) => threatFeeds.insert(feed))).toBe(true)
      return feed
    }
    function lease(name: string, now = NOW, until = LATER, ports: Ports = opened.ports) {
      return ports.transact(({ threatFeeds }) => threatFeeds.lease(name, now, until))
    }

    test('every field comes back as it was stored', async () => {
      const feed = await store({
        kind: 'allow-domain',
        source: `https://feeds.example/${'x'.repeat(2000)}`,
        expires_at: MUCH_LATER,
        etag: '"a\\"b"',
        last_modified: 'Sun, 01 Mar 2026 11:00:00 GMT',
        earliest_refresh_at: LATER,
        last_error: ODD_TEXT,
        unreadable: 3,
        samples: [{ line: 7, text: ODD_TEXT, reason: 'not a domain name' }],
      })
      expect(await opened.ports.threatFeeds.find(feed.name)).toEqual(feed)
      const bare = await store()
      expect(await opened.ports.threatFeeds.find(bare.name)).toEqual(bare)
    })

    test('a name that no feed has finds nothing', async () => {
      expect(await opened.ports.threatFeeds.find('nobody')).toBeUndefined()
      expect(await opened.ports.threatFeeds.find('')).toBeUndefined()
      expect(await lease('nobody')).toBeUndefined()
    })

    test('feeds are listed by name', async () => {
      await openFresh(open, async (ports) => {
        expect(await ports.threatFeeds.list()).toEqual([])
        for (const name of ['b', 'a-b', 'a', 'a.b', 'a_b', '9']) await store({ name }, ports)
        const names = (await ports.threatFeeds.list()).map(({ name }) => name)
        expect(names).toEqual(['9', 'a', 'a-b', 'a.b', 'a_b', 'b'])
      })
    })

    test('a second feed of a name is refused, and the first stays', async () => {
      const feed = await store()
      const other = aThreatFeed({ name: feed.name, kind: 'domain' }, await aFile(opened.ports))
      expect(await opened.ports.transact(({ threatFeeds }) => threatFeeds.insert(other))).toBe(false)
      expect(await opened.ports.threatFeeds.find(feed.name)).toEqual(feed)
    })

    test('ten feeds of one name at once: exactly one is stored', async () => {
      const files = await Promise.all(Array.from({ length: 10 }, () => aFile(opened.ports)))
      const results = await tenAtOnce((index) =>
        opened.ports.transact(({ threatFeeds }) => {
          return threatFeeds.insert(aThreatFeed({ name: 'raced' }, files[index] ?? { file: 0, size: 0, sha256: '' }))
        }),
      )
      expect(fulfilled(results).filter(Boolean)).toHaveLength(1)
      expect(fulfilled(results)).toHaveLength(10)
    })

    test('a removed feed is gone, and its name free', async () => {
      const feed = await store()
      const remove = () => opened.ports.transact(({ threatFeeds }) => threatFeeds.remove(feed.name))
      expect(await remove()).toEqual(feed)
      expect(await opened.ports.threatFeeds.find(feed.name)).toBeUndefined()
      expect(await remove()).toBeUndefined()
      await store({ name: feed.name })
    })

    test('the version grows when a snapshot comes, is replaced or goes, and else stays', async () => {
      await openFresh(open, async (ports) => {
        const versions = [await ports.threatFeeds.version()]
        const note = async () => versions.push(await ports.threatFeeds.version())
        const feed = await store({}, ports)
        await note()
        await lease(feed.name, NOW, LATER, ports)
        await ports.transact(({ threatFeeds }) => threatFeeds.finish(feed.name, LATER, { last_error: 'gone' }))
        await note()
        await lease(feed.name, NOW, LATER, ports)
        const snapshot = { ...feed.snapshot, number: 2 }
        await ports.transact(({ threatFeeds }) => threatFeeds.finish(feed.name, LATER, { snapshot }))
        await note()
        await ports.transact(({ threatFeeds }) => threatFeeds.remove(feed.name))
        await note()
        const [empty = 0, ...rest] = versions
        expect(rest.map((version) => version - empty)).toEqual([1, 1, 2, 3])
      })
    })

    test('the version it last gained entries with is that of a snapshot with new ones against somebody', async () => {
      await openFresh(open, async (ports) => {
        const { version, gainedVersion } = ports.threatFeeds
        expect(await gainedVersion()).toBe(0)
        const refresh = async (feed: ThreatFeed, gained: number) => {
          await lease(feed.name, NOW, LATER, ports)
          const snapshot = { ...feed.snapshot, number: 2, gained }
          await ports.transact(({ threatFeeds }) => threatFeeds.finish(feed.name, LATER, { snapshot }))
        }
        const allow = await store({ kind: 'allow-ip' }, ports)
        await refresh(allow, 7)
        expect(await gainedVersion()).toBe(0)
        const names = await store({ kind: 'domain' }, ports)
        const added = await gainedVersion()
        expect(added).toBe(await version())
        await refresh(names, 0)
        expect(await gainedVersion()).toBe(added)
        await refresh(names, 1)
        expect(await gainedVersion()).toBe(added + 2)
        await ports.transact(({ threatFeeds }) => threatFeeds.remove(names.name))
        expect([await gainedVersion(), await version()]).toEqual([added + 2, added + 3])
      })
    })

    test('what is due is leased one by one, the longest due first, and each once', async () => {
      await openFresh(open, async (ports) => {
        expect(await ports.threatFeeds.nextDue()).toBeUndefined()
        await store({ name: 'second', next_refresh_at: NOW }, ports)
        await store({ name: 'first', next_refresh_at: EARLIER }, ports)
        await store({ name: 'not-yet', next_refresh_at: MUCH_LATER }, ports)
        expect(await ports.threatFeeds.nextDue()).toBe(EARLIER)
        const names: (string | undefined)[] = []
        for (let count = 0; count < 3; count += 1) {
          names.push((await ports.transact(({ threatFeeds }) => threatFeeds.leaseDue(NOW, LATER)))?.name)
        }
        expect(names).toEqual(['first', 'second', undefined])
        expect(await ports.threatFeeds.nextDue()).toBe(LATER)
        const again = await ports.transact(({ threatFeeds }) => threatFeeds.leaseDue(LATER, MUCH_LATER))
        expect(again?.name).toBe('first')
      })
    })

    test('of ten that lease what is due at once, each feed goes to one', async () => {
      await openFresh(open, async (ports) => {
        for (const name of ['a', 'b', 'c', 'd']) await store({ name, next_refresh_at: EARLIER }, ports)
        const results = await tenAtOnce(() => ports.transact(({ threatFeeds }) => threatFeeds.leaseDue(NOW, LATER)))
        const names = fulfilled(results).flatMap((feed) => feed?.name ?? [])
        expect(names.sort()).toEqual(['a', 'b', 'c', 'd'])
      })
    })

    test('a feed is leased due or not, by one at a time, until the lease ends', async () => {
      const feed = await store({ next_refresh_at: MUCH_LATER })
      const results = await tenAtOnce(() => lease(feed.name))
      expect(fulfilled(results).filter(Boolean)).toEqual([feed])
      expect(await lease(feed.name, LATER, MUCH_LATER)).toEqual(feed)
    })

    test('what a refresh changes is kept, the rest stays, and the lease ends', async () => {
      const feed = await store()
      await lease(feed.name)
      const staged = await aFile(opened.ports)
      const edit = {
        etag: null,
        last_modified: 'today',
        refreshed_at: LATER,
        earliest_refresh_at: MUCH_LATER,
        next_refresh_at: MUCH_LATER,
        last_error: null,
        unreadable: 1,
        samples: [{ line: 1, text: ODD_TEXT, reason: 'x' }],
        snapshot: { number: 2, created_at: LATER, ...staged, entries: 8, gained: 7 },
      }
      expect(await opened.ports.transact((stores) => stores.threatFeeds.finish(feed.name, LATER, edit))).toBe(true)
      expect(await opened.ports.threatFeeds.find(feed.name)).toEqual({ ...feed, ...edit })
      expect(await lease(feed.name)).toBeDefined()
    })

    test('who has lost the lease changes nothing', async () => {
      const feed = await store()
      const finish = (until: string) =>
        opened.ports.transact(({ threatFeeds }) => threatFeeds.finish(feed.name, until, { last_error: 'late' }))
      expect(await finish(LATER)).toBe(false)
      await lease(feed.name, NOW, LATER)
      await lease(feed.name, LATER, MUCH_LATER)
      expect(await finish(LATER)).toBe(false)
      expect((await opened.ports.threatFeeds.find(feed.name))?.last_error).toBeNull()
      expect(await finish(MUCH_LATER)).toBe(true)
    })

    test('a snapshot keeps its bytes from being swept, and one that was replaced or removed does not', async () => {
      await openFresh(open, async (ports) => {
        const ALWAYS = '9999-12-31T23:59:59.999Z'
        const feed = await store({}, ports)
        expect(await ports.files.sweep(ALWAYS)).toBe(0)
        await lease(feed.name, NOW, LATER, ports)
        const snapshot = { ...feed.snapshot, ...(await aFile(ports)), number: 2 }
        await ports.transact(({ threatFeeds }) => threatFeeds.finish(feed.name, LATER, { snapshot }))
        expect(await ports.files.sweep(ALWAYS)).toBe(1)
        await ports.transact(({ threatFeeds }) => threatFeeds.remove(feed.name))
        expect(await ports.files.sweep(ALWAYS)).toBe(1)
      })
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const feed = await store({ samples: [{ line: 1, text: 'x', reason: 'y' }] })
      const found = await opened.ports.threatFeeds.find(feed.name)
      if (found) found.snapshot.number = 99
      found?.samples.push({ line: 2, text: '', reason: '' })
      expect(await opened.ports.threatFeeds.find(feed.name)).toEqual(feed)
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const feed = await store()
      const removed = await store()
      const never = aThreatFeed({ name: 'never' }, await aFile(opened.ports))
      await expectRolledBack(
        opened.ports,
        async ({ threatFeeds }) => {
          await threatFeeds.insert(never)
          await threatFeeds.lease(feed.name, NOW, LATER)
          await threatFeeds.finish(feed.name, LATER, { snapshot: { ...feed.snapshot, number: 2 } })
          await threatFeeds.remove(removed.name)
        },
        async () => [await opened.ports.threatFeeds.list(), await opened.ports.threatFeeds.version()],
      )
    })
  })
}
