import { Readable } from 'node:stream'
import { feedLines, readFeedContent } from '../src/threat-feeds/feed-content.ts'
import type { FeedKind } from '../src/threat-feeds/threat-feed.ts'
import { createThreatIndexBuilder, openThreatIndex } from '../src/threat-feeds/threat-index.ts'
import { type Address, createAddress } from '../src/traffic/line-addresses.ts'

// Loads a million networks and a million domains, as snapshots hold them, and looks up addresses and hosts.
// Run with: node --expose-gc packages/domain/bench/threat-index.ts

const MILLION = 1_000_000
let seed = 1

function random(below: number): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

function ipv4(): string {
  return `${1 + random(223)}.${random(256)}.${random(256)}.${random(256)}`
}

function ipv6(): string {
  const groups = Array.from({ length: 3 }, () => random(65_536).toString(16))
  return `2${random(4096).toString(16).padStart(3, '0')}:${groups.join(':')}`
}

function domain(): string {
  const label = Array.from({ length: 4 + random(12) }, () => String.fromCharCode(97 + random(26))).join('')
  return `${random(2) ? `${label.slice(0, 4)}.` : ''}${label}.${['com', 'net', 'org', 'example', 'top'][random(5)]}`
}

function inMilliseconds(work: () => void): number {
  const started = performance.now()
  work()
  return performance.now() - started
}

/** A feed of a million entries, as its snapshot holds them. */
async function aMillion(kind: FeedKind, make: () => string) {
  const feed = Buffer.from(Array.from({ length: MILLION }, () => `${make()}\n`).join(''))
  const { content } = await readFeedContent(kind, Readable.from([feed]))
  return { kind, bytes: Buffer.concat([...feedLines(content)]) }
}

const feeds = {
  'a million IPv4 networks': await aMillion('ip', () => `${ipv4()}/${16 + random(17)}`),
  'a million IPv6 networks': await aMillion('ip', () => `${ipv6()}::/${32 + random(33)}`),
  'a million domains': await aMillion('domain', domain),
}

function index(names: (keyof typeof feeds)[]) {
  const builder = createThreatIndexBuilder()
  for (const name of names) {
    const { kind, bytes } = feeds[name]
    const reader = builder.add({ name, kind, snapshot: 1 })
    for (let from = 0; from < bytes.length; from += 65_536) reader.push(bytes.subarray(from, from + 65_536))
    reader.end()
  }
  return builder.build(1)
}

function mebibytesOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength / 2 ** 20
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, part) => sum + mebibytesOf(part), 0)
}

/** What one look-up takes, after a million to warm up. */
function nanoseconds(look: (at: number) => unknown): string {
  const all = () => {
    for (let at = 0; at < MILLION; at += 1) look(at)
  }
  all()
  return ((inMilliseconds(all) * 1e6) / MILLION).toFixed(0)
}

function someAddresses(kind: 4 | 6) {
  return Array.from({ length: MILLION }, (_, at) => {
    const address = createAddress()
    address.kind = kind
    address.words.set(kind === 4 ? [random(2 ** 32)] : [0x20000000 + random(2 ** 28), random(2 ** 32), at, at])
    return address
  })
}

for (const kind of [4, 6] as const) {
  for (let turn = 0; turn < 3; turn += 1) {
    globalThis.gc?.()
    const started = performance.now()
    const built = index([`a million IPv${kind} networks`, 'a million domains'])
    const took = (performance.now() - started).toFixed(0)
    const judge = openThreatIndex(built)
    const addresses = someAddresses(kind)
    const hosts = Array.from({ length: MILLION }, () => Buffer.from(domain()))
    const address = nanoseconds((at) => judge.address(addresses[at] as Address))
    const host = nanoseconds((at) => judge.host(hosts[at] as Buffer, (hosts[at] as Buffer).length))
    process.stdout.write(
      `a million IPv${kind} networks and a million domains: loaded in ${took} ms, ${mebibytesOf(built).toFixed(1)} MiB; a look-up of an address ${address} ns, of a host ${host} ns\n`,
    )
  }
}
