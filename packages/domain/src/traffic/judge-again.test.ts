import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aWorld, happened, notified, type World } from '../testing/world.ts'
import { createThreatBlocker } from '../threat-blockers/create-threat-blocker.ts'
import { editThreatBlocker } from '../threat-blockers/edit-threat-blocker.ts'
import { removeThreatBlocker } from '../threat-blockers/remove-threat-blocker.ts'
import type { StoredThreatBlocker } from '../threat-blockers/threat-blocker.ts'
import { addThreatFeed } from '../threat-feeds/add-threat-feed.ts'
import type { FeedFetcher } from '../threat-feeds/feed-fetcher.ts'
import { loadThreatIndex } from '../threat-feeds/load-threat-index.ts'
import { refreshThreatFeed } from '../threat-feeds/refresh-threat-feed.ts'
import type { FeedKind } from '../threat-feeds/threat-feed.ts'
import { openThreatIndex } from '../threat-feeds/threat-index.ts'
import { type JudgedAgain, judgeAgain } from './judge-again.ts'
import { listThreats } from './list-threats.ts'
import { readStatistics } from './read-statistics.ts'
import { readTrafficUpload } from './read-traffic-upload.ts'
import { readTrafficHere } from './traffic-reader.ts'
import type { Judge } from './traffic-reading.ts'
import { uploadTraffic } from './upload-traffic.ts'

const BOTH: StoredThreatBlocker['services'] = ['Service IPv4 Protection', 'Service Domain Protection']
const HOUR = 3600
const DAY = 24 * HOUR
/** The clock of the world says 2026-03-01T12:00:00Z. */
const NOON = Date.UTC(2026, 2, 1, 12) / 1000

/** A world with feeds that a test can fill. */
type FeedWorld = World & { entries: Map<string, string[]>; fetcher: FeedFetcher }

async function aFeedWorld(): Promise<FeedWorld> {
  const entries = new Map<string, string[]>()
  async function* contentOf(source: string) {
    yield Buffer.from((entries.get(source) ?? []).join('\n'))
  }
  const fetcher: FeedFetcher = {
    async fetch({ source }) {
      const content = contentOf(source)
      return { outcome: 'fetched', etag: null, last_modified: null, earliest_refresh_at: null, content }
    },
  }
  return { ...(await aWorld()), entries, fetcher }
}

/** Makes the feed of this kind hold these entries. */
async function publish(world: FeedWorld, kind: FeedKind, ...entries: string[]): Promise<void> {
  const isKnown = world.entries.has(kind)
  world.entries.set(kind, entries)
  if (isKnown) await refreshThreatFeed(world.ports, world.fetcher, kind)
  else await addThreatFeed(world.ports, world.fetcher, { name: kind, kind, source: kind })
}

async function present({ ports }: World): Promise<Judge> {
  return openThreatIndex((await loadThreatIndex(ports)).index)
}

async function aBlocker({ ports, as, organization }: World, services = BOTH): Promise<number> {
  const fields = { organization, device_id: 'dev-1', email: 'soc@acme.example', type: 'series', services }
  return createThreatBlocker(ports, as.owner, fields)
}

/** A request; the address and the host are one of a few. */
type Sent = { time: number; from: number; to: number; blocked: boolean }

const addressOf = (number: number) => `198.51.100.${number}`
const hostOf = (number: number) => `h${number}.example`

/** Uploads these requests, judged by the feeds as they are; those at an odd place cannot be read. */
async function upload(world: World, blocker: number, sent: Sent[], feeds?: Judge): Promise<number> {
  const lines = sent.flatMap(({ time, from, to, blocked }) => [
    {
      timestamp: new Date(time * 1000).toISOString(),
      remote_addr: addressOf(from),
      host: hostOf(to),
      action: blocked ? 'blocked' : 'ok',
    },
    'nonsense',
  ])
  async function* content() {
    yield Buffer.from(JSON.stringify(lines))
  }
  const openTrafficReader = readTrafficHere(world.ports.newSha256, feeds ?? (await present(world)))
  const file = { file_name: 'a.json', content: content() }
  return (await uploadTraffic({ ...world.ports, openTrafficReader }, world.as.owner, blocker, file)).upload
}

async function judge(world: World, feeds?: Judge): Promise<JudgedAgain[]> {
  const judged: JudgedAgain[] = []
  await judgeAgain(world.ports, feeds ?? (await present(world)), (one) => judged.push(one))
  return judged
}

/** Total, malicious and found later in the two days around the clock of the world. */
async function counts({ ports, as }: World, blocker: number): Promise<number[]> {
  const period = { from: '2026-02-28', to: '2026-03-02', bucket: 86_400 }
  const { total_requests, malicious_requests, found_later } = await readStatistics(ports, as.viewer, blocker, period)
  return [total_requests, malicious_requests, found_later]
}

const sentAt = (time: number, part: Partial<Sent> = {}): Sent => ({ time, from: 1, to: 1, blocked: false, ...part })

describe('judging again when feeds gained entries', () => {
  test('adds what is found to the statistics under its own time, marked as found later, with its reason', async () => {
    const world = await aFeedWorld()
    const { ports, as } = world
    await publish(world, 'ip', addressOf(9))
    const blocker = await aBlocker(world)
    const id = await upload(world, blocker, [
      sentAt(NOON - 3 * HOUR, { from: 2 }),
      sentAt(NOON - 2 * HOUR, { from: 2 }),
      sentAt(NOON - HOUR, { from: 9 }),
      sentAt(NOON, { from: 2, blocked: true }),
      sentAt(NOON, { to: 3 }),
    ])
    expect(await counts(world, blocker)).toEqual([5, 2, 0])
    await publish(world, 'ip', addressOf(9), addressOf(2))
    await publish(world, 'domain', hostOf(3))
    expect(await judge(world)).toEqual([{ upload: id, found: 3 }])
    expect(await counts(world, blocker)).toEqual([5, 5, 3])
    const { buckets } = await readStatistics(ports, as.viewer, blocker)
    expect(
      buckets
        .slice(-4)
        .map(({ total_requests, malicious_requests, found_later }) => [
          total_requests,
          malicious_requests,
          found_later,
        ]),
    ).toEqual([
      [1, 1, 1],
      [1, 1, 1],
      [1, 1, 0],
      [2, 2, 1],
    ])
    expect(await readTrafficUpload(ports, as.viewer, blocker, id)).toMatchObject({
      accepted: 5,
      rejected: 5,
      malicious: 5,
      found_later: 3,
    })
    const { data } = await listThreats(ports, as.viewer, blocker, { order: 'id' })
    expect(data).toMatchObject([
      { kind: 'address', value: addressOf(9), requests: 1, found_later: 0, snapshot: 1 },
      { kind: 'verdict', value: addressOf(2), requests: 1, found_later: 0 },
      {
        kind: 'address',
        value: addressOf(2),
        requests: 2,
        found_later: 2,
        first_seen: '2026-03-01T09:00:00.000Z',
        last_seen: '2026-03-01T10:00:00.000Z',
        feed: 'ip',
        entry: addressOf(2),
        snapshot: 2,
      },
      { kind: 'host', value: hostOf(3), requests: 1, found_later: 1, feed: 'domain' },
    ])
  })

  test('tells each organization once, however many files and blockers it found something in', async () => {
    const world = await aFeedWorld()
    const { as, stranger, organization } = world
    await publish(world, 'ip', addressOf(9))
    for (const blocker of [await aBlocker(world), await aBlocker(world)]) {
      await upload(world, blocker, [sentAt(NOON)])
      await upload(world, blocker, [sentAt(NOON), sentAt(NOON)])
      await upload(world, blocker, [sentAt(NOON, { from: 5 })])
    }
    await publish(world, 'ip', addressOf(9), addressOf(1))
    await judge(world)
    await judge(world)
    const [notification, ...others] = await notified(world, as.owner)
    expect(others).toEqual([])
    expect(notification).toMatchObject({ type: 'warning', title: 'Malicious traffic found later' })
    expect(notification?.message).toContain('know 6 requests in 4 earlier uploads as')
    expect(await notified(world, as.security_officer)).toMatchObject([
      { title: 'Malicious traffic found later' },
      {},
      {},
    ])
    for (const nobody of [as.viewer, stranger]) expect(await notified(world, nobody)).toEqual([])
    expect(happened(world, 'traffic.found_later')).toMatchObject([
      { organization, user_id: null, details: { uploads: 4, requests: 6 } },
    ])
  })

  test('finds nothing twice, and tells nobody of nothing', async () => {
    const world = await aFeedWorld()
    await publish(world, 'ip', addressOf(9))
    const blocker = await aBlocker(world)
    const id = await upload(world, blocker, [sentAt(NOON, { from: 9 })])
    await publish(world, 'domain', hostOf(1))
    expect(await judge(world)).toEqual([{ upload: id, found: 0 }])
    expect(await judge(world)).toEqual([])
    expect(await counts(world, blocker)).toEqual([1, 1, 0])
    expect(happened(world, 'traffic.found_later')).toEqual([])
  })

  test('an index older than the gain judges nothing, and a file it judged meanwhile is judged again', async () => {
    const world = await aFeedWorld()
    await publish(world, 'ip', addressOf(9))
    const old = await present(world)
    const blocker = await aBlocker(world)
    await publish(world, 'ip', addressOf(9), addressOf(1))
    const id = await upload(world, blocker, [sentAt(NOON)], old)
    expect(await judge(world, old)).toEqual([])
    expect(await judge(world)).toEqual([{ upload: id, found: 1 }])
  })

  test('goes by the services that the blocker has enabled now', async () => {
    const world = await aFeedWorld()
    await publish(world, 'ip', addressOf(9))
    const blocker = await aBlocker(world, [])
    await upload(world, blocker, [sentAt(NOON, { from: 1 }), sentAt(NOON, { from: 2, to: 3 })])
    await publish(world, 'ip', addressOf(1))
    expect(await judge(world)).toMatchObject([{ found: 0 }])
    await editThreatBlocker(world.ports, world.as.owner, blocker, { services: ['Service Domain Protection'] })
    await publish(world, 'domain', hostOf(3))
    expect(await judge(world)).toMatchObject([{ found: 1 }])
    expect(await counts(world, blocker)).toEqual([2, 1, 1])
  })

  test('leaves alone what entries that speak for somebody, files of more than seven days ago, and removed blockers are about', async () => {
    const world = await aFeedWorld()
    const { ports, as, clock } = world
    await publish(world, 'ip', addressOf(9))
    const [blocker, removed] = [await aBlocker(world), await aBlocker(world)]
    await upload(world, removed, [sentAt(NOON)])
    await removeThreatBlocker(ports, as.owner, removed)
    clock.now = '2026-02-22T11:59:59.999Z'
    await upload(world, blocker, [sentAt(NOON - 8 * DAY)])
    clock.now = '2026-03-01T12:00:00.000Z'
    await publish(world, 'allow-ip', addressOf(1))
    expect(await judge(world)).toEqual([])
    await publish(world, 'ip', addressOf(9), '203.0.113.7')
    expect(await judge(world)).toEqual([])
  })

  test('a file that cannot be read is told of, does not keep the others, and is tried again when its lease has ended', async () => {
    const world = await aFeedWorld()
    await publish(world, 'ip', addressOf(9))
    const blocker = await aBlocker(world)
    const [broken, sound] = [
      await upload(world, blocker, [sentAt(NOON)]),
      await upload(world, blocker, [sentAt(NOON - 1)]),
    ]
    await publish(world, 'ip', addressOf(1))
    const raw = await world.ports.traffic.findRaw(blocker, broken)
    const files = {
      ...world.ports.files,
      read(file: number, from: number, to: number) {
        if (file === raw?.file) throw new Error('the disk is gone')
        return world.ports.files.read(file, from, to)
      },
    }
    const judged = await judge({ ...world, ports: { ...world.ports, files } })
    expect(judged).toEqual([
      { upload: sound, found: 1 },
      { upload: broken, error: new Error('the disk is gone') },
    ])
    expect(happened(world, 'traffic.found_later')).toEqual([])
    expect(await judge(world)).toEqual([])
    world.clock.now = '2026-03-01T12:10:00.000Z'
    expect(await judge(world)).toEqual([{ upload: broken, found: 1 }])
    expect(happened(world, 'traffic.found_later')).toMatchObject([{ details: { uploads: 2, requests: 2 } }])
  })

  test('broken off in the middle it changes nothing, and goes on when the lease has ended', async () => {
    const world = await aFeedWorld()
    await publish(world, 'ip', addressOf(9))
    const blocker = await aBlocker(world)
    await upload(world, blocker, [sentAt(NOON)])
    await publish(world, 'ip', addressOf(1))
    let asked = 0
    await judgeAgain(
      world.ports,
      await present(world),
      () => {},
      () => ++asked < 2,
    )
    expect(await counts(world, blocker)).toEqual([1, 0, 0])
    world.clock.now = '2026-03-01T12:10:00.000Z'
    await judge(world)
    expect(await counts(world, blocker)).toEqual([1, 1, 1])
  })

  test('a process whose lease was lost to another one adds nothing', async () => {
    const world = await aFeedWorld()
    await publish(world, 'ip', addressOf(9))
    const blocker = await aBlocker(world)
    await upload(world, blocker, [sentAt(NOON)])
    await publish(world, 'ip', addressOf(1))
    const feeds = await present(world)
    // While the slow one reads, the lease ends, and somebody else judges the file.
    const slowly = {
      ...world.ports,
      async *decompress(content: AsyncIterable<Uint8Array>) {
        world.clock.now = '2026-03-01T12:10:00.000Z'
        await judge(world)
        yield* world.ports.decompress(content)
      },
    }
    const judged: JudgedAgain[] = []
    await judgeAgain(slowly, feeds, (one) => judged.push(one))
    expect(judged).toEqual([])
    expect(await counts(world, blocker)).toEqual([1, 1, 1])
  })
})

test('whenever feeds grow, the counts are those of a recount by all that was ever known when a file was judged', async () => {
  const sent = fc.record<Sent>({
    time: fc.integer({ min: NOON - DAY, max: NOON + 11 * HOUR }),
    from: fc.integer({ min: 0, max: 4 }),
    to: fc.integer({ min: 0, max: 4 }),
    blocked: fc.boolean(),
  })
  const step = fc.oneof(
    fc.record({ upload: fc.array(sent, { minLength: 1, maxLength: 8 }) }),
    fc.record({ kind: fc.constantFrom<FeedKind>('ip', 'domain'), known: fc.uniqueArray(fc.nat({ max: 4 })) }),
    fc.constant('judge' as const),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const world = await aFeedWorld()
      const blocker = await aBlocker(world)
      const against = { ip: new Set<number>([9]), domain: new Set<number>([9]) }
      await publish(world, 'ip', addressOf(9))
      await publish(world, 'domain', hostOf(9))
      const known: (Sent & { malicious: boolean; later: boolean })[] = []
      const isAgainst = ({ from, to, blocked }: Sent) => against.ip.has(from) || against.domain.has(to) || blocked
      const seen = new Set<string>()
      for (const next of [...steps, 'judge' as const]) {
        if (next === 'judge') {
          await judge(world)
          for (const line of known) {
            if (!line.malicious && isAgainst(line)) Object.assign(line, { malicious: true, later: true })
          }
        } else if ('upload' in next) {
          await upload(world, blocker, next.upload)
          const content = JSON.stringify(next.upload)
          if (!seen.has(content))
            for (const line of next.upload) known.push({ ...line, malicious: isAgainst(line), later: false })
          seen.add(content)
        } else {
          // Feeds here only grow: what a feed no longer has is nothing that judging again would take back.
          for (const number of next.known) against[next.kind === 'ip' ? 'ip' : 'domain'].add(number)
          const name = next.kind === 'ip' ? addressOf : hostOf
          await publish(world, next.kind, ...[...against[next.kind === 'ip' ? 'ip' : 'domain']].map(name))
        }
      }
      const { buckets } = await readStatistics(world.ports, world.as.viewer, blocker, {
        from: '2026-02-28T00:00:00Z',
        to: '2026-03-02T00:00:00Z',
        bucket: 300,
      })
      for (const { bucket_start, total_requests, malicious_requests, found_later } of buckets) {
        const lines = known.filter(({ time }) => Math.floor(time / 300) * 300 === bucket_start)
        expect([total_requests, malicious_requests, found_later]).toEqual([
          lines.length,
          lines.filter(({ malicious }) => malicious).length,
          lines.filter(({ later }) => later).length,
        ])
      }
      const { data } = await listThreats(world.ports, world.as.viewer, blocker, { limit: 1000 })
      expect(data.reduce((sum, { requests }) => sum + requests, 0)).toBe(
        known.filter(({ malicious }) => malicious).length,
      )
      expect(data.reduce((sum, { found_later }) => sum + found_later, 0)).toBe(
        known.filter(({ later }) => later).length,
      )
    }),
    { numRuns: 60 },
  )
})
