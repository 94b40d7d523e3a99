import { domainToASCII } from 'node:url'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDomainSet } from './domain-index.ts'
import { domainReader, type FeedReader, networkReader } from './feed-lines.ts'
import { createNetworks, networkText, V4_WIDTH, V6_WIDTH } from './networks.ts'

/** Reads the text in one piece, or in pieces of so many bytes. */
function feed(reader: FeedReader, text: string | Uint8Array, piece = Number.MAX_SAFE_INTEGER) {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += piece) {
    const part = Buffer.from(bytes.subarray(from, from + piece))
    reader.push(part)
    part.fill(0)
  }
  return reader.end()
}

function readNetworks(text: string | Uint8Array, piece?: number) {
  const networks = createNetworks()
  const reading = feed(networkReader(networks), text, piece)
  const { v4, v6 } = networks
  const entries: string[] = []
  for (let at = 0; at < v4.length; at += V4_WIDTH) entries.push(networkText(v4.words, at, V4_WIDTH))
  for (let at = 0; at < v6.length; at += V6_WIDTH) entries.push(networkText(v6.words, at, V6_WIDTH))
  return { entries, ...reading }
}

function readDomains(text: string | Uint8Array, piece?: number) {
  const domains = createDomainSet()
  const reading = feed(domainReader(domains), text, piece)
  const entries: string[] = []
  domains.each((names, from, to) => entries.push(Buffer.from(names.subarray(from, to)).toString()))
  return { entries, ...reading }
}

describe('a feed of addresses', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1/32', '192.0.2.1'],
    ['192.0.2.77/24', '192.0.2.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255', '255.255.255.255'],
    ['192.0.2.1-192.0.2.9', '192.0.2.1-192.0.2.9'],
    ['192.0.2.1 - 192.0.2.9', '192.0.2.1-192.0.2.9'],
    ['192.0.2.1- 192.0.2.9', '192.0.2.1-192.0.2.9'],
    ['192.0.2.1 -192.0.2.9 a remark', '192.0.2.1-192.0.2.9'],
    ['192.0.2.0-192.0.2.255', '192.0.2.0/24'],
    ['192.0.2.1 - a remark', '192.0.2.1'],
    ['  192.0.2.1\t', '192.0.2.1'],
    ['192.0.2.1,2026-01-01,botnet', '192.0.2.1'],
    ['192.0.2.1 # scanner', '192.0.2.1'],
    ['192.0.2.0/24;SBL123', '192.0.2.0/24'],
    ['192.0.2.0/24 ; SBL123', '192.0.2.0/24'],
    ['192.0.2.1:8080', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8::ffff/32', '2001:db8::/32'],
    ['2001:db8::/128', '2001:db8::'],
    ['::/0', '::/0'],
    ['2001:db8::1-2001:db8::5', '2001:db8::1-2001:db8::5'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
  ])('reads "%s" as %s', (line, entry) => {
    expect(readNetworks(line)).toEqual({ entries: [entry], lines: 1, unreadable: 0, samples: [] })
  })

  test.each([
    ['example.com', 'not an address'],
    ['256.1.1.1', 'not an address'],
    ['010.0.0.1', 'not an address'],
    ['10.0.0/8', 'not an address'],
    ['192.0.2.1-', 'not an address'],
    ['192.0.2.1-evil', 'not an address'],
    [',192.0.2.1', 'not an address'],
    ['192.0.2.1/33', 'not a prefix length'],
    ['192.0.2.1/', 'not a prefix length'],
    ['192.0.2.1/08', 'not a prefix length'],
    ['192.0.2.1/255.255.255.0', 'not a prefix length'],
    ['2001:db8::/129', 'not a prefix length'],
    ['::ffff:192.0.2.1/95', 'not a prefix length'],
    ['192.0.2.9-192.0.2.1', 'a range that ends before it begins'],
    ['192.0.2.9 - 192.0.2.1', 'a range that ends before it begins'],
    ['192.0.2.1-2001:db8::1', 'a range from one kind of address to another'],
    ['<html>', 'not an address'],
    ['192.0.2.1\0', 'not an address'],
  ])('counts "%s" as unreadable, and says why', (line, reason) => {
    const text = line.replaceAll('\0', '\ufffd')
    expect(readNetworks(line)).toEqual({
      entries: [],
      lines: 1,
      unreadable: 1,
      samples: [{ line: 1, text, reason }],
    })
  })

  test('may have comments, blank lines, either line end, a byte order mark, and no line end at its end', () => {
    const text = '\ufeff# a list\r\n\r\n192.0.2.1\r\n; more\n \t \n192.0.2.2\n\n# the end\n192.0.2.3'
    expect(readNetworks(text)).toEqual({
      entries: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
      lines: 9,
      unreadable: 0,
      samples: [],
    })
  })

  test('shows the first twenty unreadable lines, each cut to a hundred characters, whatever bytes they have', () => {
    const lines = Array.from({ length: 50 }, (_, index) => `${'é🛡'.repeat(300)} ${index}`)
    const { unreadable, samples } = readNetworks(`192.0.2.1\n${lines.join('\n')}`)
    expect(unreadable).toBe(50)
    expect(samples.map(({ line }) => line)).toEqual(Array.from({ length: 20 }, (_, index) => index + 2))
    for (const { text } of samples) expect(text).toBe('é🛡'.repeat(50))
    expect(readNetworks(Buffer.from([0xff, 0xc3, 0x28, 0xe0, 0x80, 0x80])).samples[0]?.text).toMatch(
      /^\ufffd+\(\ufffd+$/,
    )
  })

  test('with a line of ten million bytes is read on behind it', () => {
    const text = `192.0.2.1\n${'1'.repeat(10_000_000)}\n192.0.2.2\n`
    for (const piece of [65_536, Number.MAX_SAFE_INTEGER]) {
      const { entries, samples } = readNetworks(text, piece)
      expect(entries).toEqual(['192.0.2.1', '192.0.2.2'])
      expect(samples).toMatchObject([{ line: 2, reason: 'longer than 8192 bytes' }])
    }
  })

  test('is the same whatever the pieces are that it comes in', () => {
    const line = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom('# é', '', 'nothing', '10.0.0.0/8', '1.1.1.1 - 2.2.2.2 x'),
    )
    fc.assert(
      fc.property(
        fc.array(line),
        fc.constantFrom('\n', '\r\n'),
        fc.integer({ min: 1, max: 50 }),
        (lines, end, piece) => {
          const text = lines.join(end)
          expect(readNetworks(text, piece)).toEqual(readNetworks(text))
        },
      ),
    )
  })

  test('is written as it is read: any network and range comes back from its text', () => {
    const word = fc.oneof(fc.nat({ max: 0xffff }), fc.constantFrom(0, 0, 0xffff))
    const v6 = fc.array(word, { minLength: 8, maxLength: 8 }).map((words) => words.map((w) => w.toString(16)).join(':'))
    const entry = fc.oneof(
      fc.tuple(fc.ipV4(), fc.nat({ max: 32 })).map(([address, prefix]) => `${address}/${prefix}`),
      fc.tuple(v6, fc.nat({ max: 128 })).map(([address, prefix]) => `${address}/${prefix}`),
      fc.tuple(fc.ipV4(), fc.ipV4()).map(([from, to]) => `${from}-${to}`),
      fc.tuple(v6, v6).map(([from, to]) => `${from}-${to}`),
    )
    fc.assert(
      fc.property(entry, (text) => {
        const { entries } = readNetworks(text)
        expect(readNetworks(entries.join('\n')).entries).toEqual(entries)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a feed of domains', () => {
  test.each([
    ['evil.example', ['evil.example']],
    ['EVIL.Example.', ['evil.example']],
    ['*.evil.example', ['evil.example']],
    ['.evil.example', ['evil.example']],
    ['.zip', ['zip']],
    ['||zip^', ['zip']],
    ['||evil.example^', ['evil.example']],
    ['||*.evil.example^', ['evil.example']],
    ['||evil.example^$', ['evil.example']],
    ['||evil.example^ # seen today', ['evil.example']],
    ['0.0.0.0 evil.example', ['evil.example']],
    ['127.0.0.1\tevil.example  worse.example # two', ['evil.example', 'worse.example']],
    [':: evil.example', ['evil.example']],
    ['fe80::1%lo0 evil.example', ['evil.example']],
    ['0.0.0.0 evil.example # com', ['evil.example']],
    ['evil.example # seen today', ['evil.example']],
    ['evil.example;today', ['evil.example']],
    ['evil.example,malware,2026', ['evil.example']],
    ['_dmarc.evil.example', ['_dmarc.evil.example']],
    ['-evil-.example', ['-evil-.example']],
    ['bücher.example', ['xn--bcher-kva.example']],
    ['0.0.0.0 ΣΑΣ.example', ['xn--mxa9ab.example']],
    [`${'a'.repeat(63)}.example`, [`${'a'.repeat(63)}.example`]],
    ['127.0.0.1 localhost localhost.localdomain', []],
    ['::1 ip6-localhost ip6-loopback', []],
    ['0.0.0.0 0.0.0.0', []],
    ['! Title: a list', []],
    ['[Adblock Plus 2.0]', []],
    ['# a comment', []],
    ['; a comment', []],
  ])('reads "%s"', (line, entries) => {
    expect(readDomains(line)).toEqual({ entries, lines: 1, unreadable: 0, samples: [] })
  })

  test.each([
    ['evil', 'a name without a dot'],
    ['0.0.0.0 evil', 'a name without a dot'],
    ['192.0.2.1', 'an address, not a name'],
    ['2001:db8::1 # nothing', 'an address, not a name'],
    ['http://evil.example/', 'not a domain name'],
    ['evil..example', 'not a domain name'],
    ['evil.*.example', 'not a domain name'],
    ['..evil.example', 'not a domain name'],
    ['.', 'not a domain name'],
    ['*.', 'not a domain name'],
    ['||evil.example', 'not a domain name'],
    ['||evil.example/path^', 'not a domain name'],
    ['|evil.example^', 'not a domain name'],
    ['||evil.example^$third-party', 'a rule with options'],
    ['||evil.example^/path', 'a rule with options'],
    ['@@||good.example^', 'an exception'],
    ['ev!l.example', 'not a domain name'],
    ['☃.example', 'not a domain name'],
    ['\u0301x.example', 'not a domain name'],
    [`${'a'.repeat(64)}.example`, 'not a domain name'],
    [`${'a.'.repeat(127)}example`, 'not a domain name'],
    ['evil.12', 'not a domain name'],
  ])('counts "%s" as unreadable, and says why', (line, reason) => {
    const { entries, unreadable, samples } = readDomains(line)
    expect({ entries, unreadable, samples }).toMatchObject({
      entries: [],
      unreadable: 1,
      samples: [{ line: 1, reason }],
    })
  })

  test('keeps the good names of a line in which one is bad', () => {
    expect(readDomains('0.0.0.0 evil.example b@d.example worse.example')).toEqual({
      entries: ['evil.example', 'worse.example'],
      lines: 1,
      unreadable: 1,
      samples: [{ line: 1, text: '0.0.0.0 evil.example b@d.example worse.example', reason: 'not a domain name' }],
    })
  })

  test('has each name once, in the order of the file', () => {
    const { entries } = readDomains('b.example\n||a.example^\nB.example.\n0.0.0.0 c.example a.example\n')
    expect(entries).toEqual(['b.example', 'a.example', 'c.example'])
  })

  test('knows names in other scripts as the DNS does', () => {
    const label = fc
      .array(fc.constantFrom(...'abzäößéñλςσжшя日本語한국אبت٣๕'), { minLength: 1, maxLength: 20 })
      .map((characters) => characters.join(''))
    fc.assert(
      fc.property(label, (text) => {
        const expected = domainToASCII(`${text}.example`)
        // What it refuses besides, such as scripts of both directions in one label, is not our affair.
        fc.pre(expected !== '')
        expect(readDomains(`${text}.example`).entries).toEqual([expected])
      }),
      { numRuns: 1000 },
    )
  })
})
