import { expect, test } from 'vitest'
import { refusedPaths } from '../testing/world.ts'
import { lookUpThreat } from './look-up-threat.ts'
import { createThreatIndexBuilder, openThreatIndex } from './threat-index.ts'

function feeds() {
  const builder = createThreatIndexBuilder()
  const lists = [
    ['blocklist', 'ip', '203.0.113.0/24\n2001:db8::/32\n'],
    ['names', 'domain', 'evil.example\nxn--bcher-kva.example\n'],
    ['ours', 'allow-ip', '203.0.113.7\n'],
  ] as const
  for (const [name, kind, text] of lists) {
    const reader = builder.add({ name, kind, snapshot: 3 })
    reader.push(Buffer.from(text))
    reader.end()
  }
  const judge = openThreatIndex(builder.build(1))
  return { feeds: () => judge }
}

test.each([
  ['203.0.113.9', 'address', '203.0.113.9', 'blocklist', '203.0.113.0/24'],
  ['2001:DB8:0::1', 'address', '2001:db8::1', 'blocklist', '2001:db8::/32'],
  ['WWW.Evil.Example.', 'host', 'www.evil.example', 'names', 'evil.example'],
  ['bücher.example', 'host', 'xn--bcher-kva.example', 'names', 'xn--bcher-kva.example'],
])('%s is listed, and it is said where', async (value, kind, normal, feed, entry) => {
  expect(await lookUpThreat(feeds(), { value })).toEqual({
    value: normal,
    kind,
    listed: true,
    feed,
    entry,
    snapshot: 3,
  })
})

test.each(['203.0.113.7', '8.8.8.8', 'example', 'notevil.example'])('%s is allowed, or not listed', async (value) => {
  expect(await lookUpThreat(feeds(), { value })).toMatchObject({ listed: false, feed: '', entry: '', snapshot: 0 })
})

test.each([undefined, '', '203.0.113.0/24', 'http://evil.example/', '-', 'a b', 42])(
  '%s is neither address nor name',
  async (value) => {
    expect(await refusedPaths(lookUpThreat(feeds(), { value }))).toEqual(['value'])
  },
)
