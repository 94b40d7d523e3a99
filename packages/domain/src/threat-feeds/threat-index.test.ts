import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAddress, readAddress } from '../traffic/line-addresses.ts'
import type { FeedKind } from './threat-feed.ts'
import { createThreatIndexBuilder, openThreatIndex, type ThreatIndex } from './threat-index.ts'

type Feed = { name: string; kind: FeedKind; lines: string[]; snapshot?: number }

function indexOf(feeds: Feed[]): ThreatIndex {
  const builder = createThreatIndexBuilder()
  for (const { name, kind, lines, snapshot = 1 } of feeds) {
    const reader = builder.add({ name, kind, snapshot })
    reader.push(Buffer.from(lines.join('\n')))
    reader.end()
  }
  return builder.build(1)
}

function judge(index: ThreatIndex, value: string) {
  const judges = openThreatIndex(index)
  const bytes = Buffer.from(value)
  const address = createAddress()
  const finding = readAddress(bytes, 0, bytes.length, address)
    ? judges.address(address)
    : judges.host(bytes, bytes.length)
  return finding < 0 ? undefined : judges.explain(finding)
}

describe('the index of all feeds', () => {
  test('says which entry of which snapshot of which feed is against an address or a host', () => {
    const index = indexOf([
      { name: 'a', kind: 'ip', lines: ['10.0.0.0/8', '2001:db8::/32'], snapshot: 7 },
      { name: 'b', kind: 'domain', lines: ['evil.example'], snapshot: 3 },
      { name: 'c', kind: 'ip', lines: ['10.1.0.0-10.1.0.9', '2001:db8::1'], snapshot: 5 },
      { name: 'd', kind: 'domain', lines: ['worse.evil.example'] },
      { name: 'e', kind: 'ip', lines: [] },
    ])
    const [a, b, c] = [
      { feed: 'a', snapshot: 7 },
      { feed: 'b', snapshot: 3 },
      { feed: 'c', snapshot: 5 },
    ]
    expect(judge(index, '10.200.0.1')).toEqual({ ...a, entry: '10.0.0.0/8' })
    expect(judge(index, '10.1.0.5')).toEqual({ ...c, entry: '10.1.0.0-10.1.0.9' })
    expect(judge(index, '2001:db8::2')).toEqual({ ...a, entry: '2001:db8::/32' })
    expect(judge(index, '2001:db8::1')).toEqual({ ...c, entry: '2001:db8::1' })
    expect(judge(index, 'www.evil.example')).toEqual({ ...b, entry: 'evil.example' })
    expect(judge(index, 'a.worse.evil.example')).toMatchObject({ feed: 'd', entry: 'worse.evil.example' })
    for (const none of ['11.0.0.1', '2001:db9::1', 'good.example', 'example'])
      expect(judge(index, none)).toBeUndefined()
  })

  test('names the first feed, by name, where two have the same entry', () => {
    const index = indexOf([
      { name: 'a', kind: 'ip', lines: ['192.0.2.1'] },
      { name: 'b', kind: 'ip', lines: ['192.0.2.1/32'] },
      { name: 'c', kind: 'domain', lines: ['evil.example'] },
      { name: 'd', kind: 'domain', lines: ['evil.example'] },
    ])
    expect(judge(index, '192.0.2.1')?.feed).toBe('a')
    expect(judge(index, 'evil.example')?.feed).toBe('c')
  })

  test('lets what is allowed pass, however small the entry against it', () => {
    const index = indexOf([
      { name: 'a', kind: 'allow-ip', lines: ['10.0.0.0/8'] },
      { name: 'b', kind: 'ip', lines: ['10.1.1.1', '11.0.0.0/8'] },
      { name: 'c', kind: 'allow-domain', lines: ['cdn.example'] },
      { name: 'd', kind: 'domain', lines: ['bad.cdn.example', '.example'] },
    ])
    expect(judge(index, '10.1.1.1')).toBeUndefined()
    expect(judge(index, '11.1.1.1')).toBeDefined()
    expect(judge(index, 'bad.cdn.example')).toBeUndefined()
    expect(judge(index, 'x.bad.cdn.example')).toBeUndefined()
    expect(judge(index, 'other.example')).toBeDefined()
  })

  test('finds what is listed and not allowed, and nothing else', () => {
    const prefixed = fc
      .tuple(fc.nat({ max: 63 }), fc.nat({ max: 6 }))
      .map(([host, bits]) => ({ text: `192.0.2.${(host >> bits) << bits}/${32 - bits}`, from: host >> bits, bits }))
    fc.assert(
      fc.property(fc.array(prefixed), fc.array(prefixed), (blocked, allowed) => {
        const index = indexOf([
          { name: 'a', kind: 'allow-ip', lines: allowed.map(({ text }) => text) },
          { name: 'b', kind: 'ip', lines: blocked.map(({ text }) => text) },
        ])
        for (let host = 0; host < 64; host += 1) {
          const holds = ({ from, bits }: (typeof blocked)[number]) => host >> bits === from
          const expected = blocked.some(holds) && !allowed.some(holds)
          expect(judge(index, `192.0.2.${host}`) !== undefined).toBe(expected)
        }
      }),
    )
  })

  test('is shared with another thread, not copied', async () => {
    const index = indexOf([{ name: 'a', kind: 'ip', lines: ['192.0.2.0/24'] }])
    const worker = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads')
      workerData.addresses.v4.owners.fill(0)
      workerData.addresses.v4.occupied.fill(0xffffffff)
      workerData.hosts.ends.byteLength
      parentPort.postMessage('done')`,
      { eval: true, workerData: index },
    )
    await once(worker, 'message')
    // What the other thread wrote is seen here: every address now belongs to the one entry.
    expect(judge(index, '198.51.100.1')).toMatchObject({ feed: 'a', entry: '192.0.2.0/24' })
    await worker.terminate()
  })
})
