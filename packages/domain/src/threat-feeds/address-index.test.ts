import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAddress, readAddress } from '../traffic/line-addresses.ts'
import { createAddressIndex, lookUpAddress, networkOf } from './address-index.ts'
import { networkReader } from './feed-lines.ts'
import { countNewNetworks, createNetworks, networkText, sortNetworks, V4_WIDTH, V6_WIDTH } from './networks.ts'

/** A range of addresses as numbers; IPv6 has its own, above all of IPv4. */
type Range = { text: string; from: bigint; to: bigint }

const V6 = 1n << 128n

function networksOf(lines: string[]) {
  const networks = createNetworks()
  const reader = networkReader(networks)
  reader.push(Buffer.from(lines.join('\n')))
  expect(reader.end().unreadable).toBe(0)
  return networks
}

function textV4(address: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join('.')
}

function textV6(address: bigint): string {
  return [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => ((address >> shift) & 0xffffn).toString(16)).join(':')
}

function textOf(address: bigint): string {
  return address >= V6 ? textV6(address - V6) : textV4(address)
}

/** The one that should own an address: of those that hold it the smallest, then the first. */
function ownerOf(ranges: Range[], address: bigint): Range | undefined {
  let owner: Range | undefined
  for (const range of ranges) {
    if (range.from > address || range.to < address) continue
    if (!owner || range.to - range.from < owner.to - owner.from) owner = range
  }
  return owner
}

/** The entry as the index writes it. */
function canonical(text: string): string {
  const { v4, v6 } = networksOf([text])
  return v4.length > 0 ? networkText(v4.words, 0, V4_WIDTH) : networkText(v6.words, 0, V6_WIDTH)
}

function look(index: ReturnType<typeof createAddressIndex>, text: string): string | undefined {
  const address = createAddress()
  // `expect` would take longer than all else here.
  if (!readAddress(Buffer.from(text), 0, text.length, address)) throw new Error(`${text} is no address`)
  const entry = lookUpAddress(index, address)
  return entry < 0 ? undefined : networkOf(index, entry)
}

/** Addresses close together, so that ranges overlap and touch, at both ends of all and in the middle. */
function addresses(bits: bigint): fc.Arbitrary<bigint> {
  const most = (1n << bits) - 1n
  const near = fc.bigInt({ min: 0n, max: 40n })
  return fc.oneof(
    near,
    near.map((offset) => most - offset),
    near.map((offset) => (0x0a000000n << (bits - 32n)) + offset),
    near.map((offset) => (0x0aff0000n << (bits - 32n)) - offset),
    near.map((offset) => (1n << (bits / 2n)) - 20n + offset),
    fc.bigInt({ min: 0n, max: most }),
  )
}

function ranges(bits: bigint): fc.Arbitrary<Range> {
  const base = bits === 128n ? V6 : 0n
  // IPv4 inside of IPv6 is IPv4, which this reference does not know.
  const isPlain = (address: bigint) => bits === 32n || address >> 32n !== 0xffffn
  const network = fc.tuple(addresses(bits), fc.bigInt({ min: 0n, max: bits })).map(([address, prefix]) => {
    const host = (1n << (bits - prefix)) - 1n
    const from = base + (address & ~host)
    return { text: `${textOf(base + address)}/${prefix}`, from, to: from | host, isPlain: isPlain(address) }
  })
  const range = fc.tuple(addresses(bits), addresses(bits)).map(([one, other]) => {
    const [from, to] = one < other ? [base + one, base + other] : [base + other, base + one]
    return { text: `${textOf(from)}-${textOf(to)}`, from, to, isPlain: isPlain(one) && isPlain(other) }
  })
  return fc.oneof(network, range).filter((candidate) => candidate.isPlain)
}

describe('the index of addresses', () => {
  test('says of every address what a naive search says', () => {
    const some = fc.array(fc.oneof(ranges(32n), ranges(128n)), { maxLength: 25 })
    fc.assert(
      fc.property(some, fc.array(addresses(32n)), fc.array(addresses(128n)), (all, v4, v6) => {
        const index = createAddressIndex(networksOf(all.map(({ text }) => text)))
        const edges = all.flatMap(({ from, to }) => [from - 1n, from, to, to + 1n])
        const asked = [...edges, ...v4, ...v6.map((address) => address + V6)]
        const names = new Map(all.map(({ text }) => [text, canonical(text)]))
        const wrong: unknown[] = []
        for (const address of asked) {
          const isV4 = address >= 0n && address < 1n << 32n
          const isV6 = address >= V6 && address < V6 << 1n && (address - V6) >> 32n !== 0xffffn
          if (!isV4 && !isV6) continue
          const owner = ownerOf(all, address)
          const [found, expected] = [look(index, textOf(address)), owner && names.get(owner.text)]
          if (found !== expected) wrong.push({ address: textOf(address), found, expected })
        }
        expect(wrong).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255', '127.0.0.1'], ['::1']],
    ['::/0', ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db8::1'], ['127.0.0.1', '::ffff:127.0.0.1']],
    ['255.255.255.255/32', ['255.255.255.255', '::ffff:255.255.255.255'], ['255.255.255.254', '0.0.0.0']],
    ['0.0.0.0/32', ['0.0.0.0'], ['0.0.0.1', '255.255.255.255', '::']],
    ['::/128', ['::'], ['::1', '0.0.0.0']],
    [
      'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128',
      ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
      ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe', '255.255.255.255'],
    ],
    ['10.0.255.255-10.1.0.0', ['10.0.255.255', '10.1.0.0'], ['10.0.255.254', '10.1.0.1']],
  ])('%s holds just its addresses', (entry, inside, outside) => {
    const index = createAddressIndex(networksOf([entry]))
    for (const address of inside) expect(look(index, address)).toBeDefined()
    for (const address of outside) expect(look(index, address)).toBeUndefined()
  })

  test('an empty one has no address', () => {
    const index = createAddressIndex(createNetworks())
    for (const address of ['0.0.0.0', '255.255.255.255', '::', '::1']) expect(look(index, address)).toBeUndefined()
    expect(lookUpAddress(index, createAddress())).toBe(-1)
  })

  test('networks that touch stay apart, and the one inside of another wins', () => {
    const index = createAddressIndex(
      networksOf(['10.0.0.0/9', '10.128.0.0/9', '10.1.0.0/16', '10.1.1.1', '10.0.0.0/8']),
    )
    expect(look(index, '10.127.255.255')).toBe('10.0.0.0/9')
    expect(look(index, '10.128.0.0')).toBe('10.128.0.0/9')
    expect(look(index, '10.1.0.255')).toBe('10.1.0.0/16')
    expect(look(index, '10.1.1.1')).toBe('10.1.1.1')
    expect(look(index, '10.1.1.2')).toBe('10.1.0.0/16')
  })

  test('finds each of so many entries that its tables are as large as they get, and nothing beside them', () => {
    const listed = new Set(Array.from({ length: 34_000 }, (_, index) => Math.imul(index + 1, 0x9e3779b1) >>> 0))
    const index = createAddressIndex(networksOf(Array.from(listed, (address) => textV4(BigInt(address)))))
    expect(index.v4.jumps).toHaveLength(2 ** 16 + 1)
    const wrong: number[] = []
    const address = createAddress()
    address.kind = 4
    for (const entry of listed) {
      for (const first of [entry - 1, entry, entry + 1]) {
        address.words[0] = first
        if (lookUpAddress(index, address) >= 0 !== listed.has(first)) wrong.push(first)
      }
    }
    expect(wrong).toEqual([])
  })

  test('lies in shared memory', () => {
    const { v4, v6 } = createAddressIndex(networksOf(['10.0.0.0/8', '2001:db8::/32']))
    for (const array of [...Object.values(v4), ...Object.values(v6)]) {
      expect(array.buffer).toBeInstanceOf(SharedArrayBuffer)
    }
  })
})

describe('sorted networks', () => {
  function entriesOf(lines: string[]): string[] {
    const { v4, v6 } = sortNetworks(networksOf(lines))
    const texts: string[] = []
    for (let at = 0; at < v4.length; at += V4_WIDTH) texts.push(networkText(v4.words, at, V4_WIDTH))
    for (let at = 0; at < v6.length; at += V6_WIDTH) texts.push(networkText(v6.words, at, V6_WIDTH))
    return texts
  }

  test('are each there once, by their first address, the larger first', () => {
    expect(entriesOf(['10.1.0.0/16', '2001:db8::/32', '9.9.9.9', '10.0.0.0/8', '10.0.0.0/16', '10.1.2.3/16'])).toEqual([
      '9.9.9.9',
      '10.0.0.0/8',
      '10.0.0.0/16',
      '10.1.0.0/16',
      '2001:db8::/32',
    ])
  })

  test('tell how many of them are new', () => {
    const some = fc.array(fc.oneof(ranges(32n), ranges(128n)).map(({ text }) => text))
    fc.assert(
      fc.property(some, some, fc.array(fc.nat()), (before, added, kept) => {
        const after = [...added, ...kept.flatMap((index) => before[index % before.length] ?? [])]
        const known = new Set(entriesOf(before))
        const expected = entriesOf(after).filter((entry) => !known.has(entry)).length
        expect(countNewNetworks(sortNetworks(networksOf(before)), sortNetworks(networksOf(after)))).toBe(expected)
      }),
    )
  })
})
