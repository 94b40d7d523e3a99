import { createThreatIndexBuilder, openThreatIndex } from '../src/threat-feeds/threat-index.ts'
import { createAddress } from '../src/traffic/line-addresses.ts'

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

function lines(count: number, make: () => string): Buffer {
  return Buffer.from(Array.from({ length: count }, () => `${make()}\n`).join(''))
}

function inMilliseconds(work: () => void): number {
  const started = performance.now()
  work()
  return performance.now() - started
}

const feeds = {
  'a million IPv4 networks': { kind: 'ip', bytes: lines(MILLION, () => `${ipv4()}/${16 + random(17)}`) },
  'a million IPv6 networks': { kind: 'ip', bytes: lines(MILLION, () => `${ipv6()}::/${32 + random(33)}`) },
  'a million domains': { kind: 'domain', bytes: lines(MILLION, domain) },
} as const

function index(names: (keyof typeof feeds)[]) {
  const builder = createThreatIndexBuilder()
  for (const name of names) {
    const { kind, bytes } = feeds[name]
    const reader = builder.add({ name, kind, snapshot: 1 })
    for (let from = 0; from < bytes.length; from += 65_536) reader.push(bytes.subarray(from, from + 65_536))
    reader.end()
  }
  return builder.build()
}

function mebibytesOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength / 2 ** 20
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, part) => sum + mebibytesOf(part), 0)
}

function nanoseconds(count: number, look: (index: number) => unknown): string {
  for (let turn = 0; turn < count; turn += 1) look(turn)
  return `${(
    (inMilliseconds(() => {
      for (let turn = 0; turn < count; turn += 1) look(turn)
    }) *
      1e6) /
      count
  ).toFixed(0)} ns`
}

for (const names of [
  ['a million IPv4 networks', 'a million domains'],
  ['a million IPv6 networks', 'a million domains'],
] as (keyof typeof feeds)[][]) {
  for (let turn = 0; turn < 2; turn += 1) {
    globalThis.gc?.()
    const started = performance.now()
    const built = index(names)
    const took = performance.now() - started
    process.stdout.write(`${names.join(' and ')}: ${took.toFixed(0)} ms, ${mebibytesOf(built).toFixed(1)} MiB, `)
    process.stdout.write(`process ${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB\n`)
    const judge = openThreatIndex(built)
    const addresses = Array.from({ length: MILLION }, (_, at) => {
      const address = createAddress()
      address.kind = names[0] === 'a million IPv4 networks' ? 4 : 6
      address.words.set(
        address.kind === 4 ? [random(2 ** 32)] : [0x20000000 + random(2 ** 28), random(2 ** 32), at, at],
      )
      return address
    })
    const hosts = Array.from({ length: MILLION }, () => Buffer.from(domain()))
    const misses = nanoseconds(MILLION, (at) => judge.address(addresses[at] as (typeof addresses)[0]))
    const names2 = nanoseconds(MILLION, (at) => judge.host(hosts[at] as Buffer, (hosts[at] as Buffer).length))
    process.stdout.write(`  an address ${misses}, a host ${names2}\n`)
  }
}
