import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTrafficReading } from './create-traffic-reading.ts'
import { addressText, createAddress, readAddress } from './line-addresses.ts'
import { type Judge, MANY } from './traffic-reading.ts'

const nothing: Judge = {
  version: 0,
  address: () => -1,
  host: () => -1,
  explain: () => {
    throw new Error('Nothing was found')
  },
}

/** Finds 6.6.6.0/24 and evil.example. */
const something: Judge = {
  version: 7,
  address: ({ kind, words: [first = 0] }) => (kind === 4 && first >>> 8 === 0x060606 ? 1 : -1),
  host: (bytes, length) => (Buffer.from(bytes.subarray(0, length)).toString() === 'evil.example' ? 2 : -1),
  explain: (finding) => ({ feed: `feed ${finding}`, snapshot: finding, entry: `entry ${finding}` }),
}

function read(lines: unknown[], judge: Judge = nothing) {
  const reading = createTrafficReading(judge)
  reading.push(Buffer.from(JSON.stringify(lines)))
  return reading.end()
}

const at = (time: string, fields: object = {}) => ({ timestamp: time, ...fields })

describe('reading a traffic file', () => {
  test('an empty file has no lines and no times', () => {
    expect(read([])).toEqual({
      shape: 'array',
      lines: 0,
      accepted: 0,
      rejected: 0,
      malicious: 0,
      from: null,
      to: null,
      rejects: [],
      slots: [],
      threats: [],
      strongest: null,
      judgement: { version: 0, malicious_lines: new Uint8Array() },
    })
  })

  test('requests are counted by five minutes, in whatever order they come, before 1970 too', () => {
    const summary = read([
      at('2026-03-01T12:04:59.999Z'),
      at('1969-12-31T23:59:59.999Z'),
      at('2026-03-01T12:05:00Z', { action: 'blocked' }),
      at('2026-03-01T12:00:00Z'),
    ])
    const noon = Date.UTC(2026, 2, 1, 12) / 1000
    expect(summary.slots).toEqual([
      { start: -300, total: 1, malicious: 0 },
      { start: noon, total: 2, malicious: 0 },
      { start: noon + 300, total: 1, malicious: 1 },
    ])
    expect([summary.from, summary.to]).toEqual([-1, Date.UTC(2026, 2, 1, 12, 5)])
  })

  test('the first twenty lines that cannot be read are kept, with number, field and reason', () => {
    const summary = read([at('2026-03-01T12:00:00Z'), {}, ...Array.from({ length: 30 }, () => at('never'))])
    expect(summary).toMatchObject({ lines: 32, accepted: 1, rejected: 31 })
    expect(summary.rejects).toHaveLength(20)
    expect(summary.rejects.slice(0, 2)).toEqual([
      { line: 2, field: 'time', reason: 'missing' },
      { line: 3, field: 'time', reason: 'not a time' },
    ])
  })

  test('in rows the number of a line is that of its row, whatever is blank before it', () => {
    const good = JSON.stringify(at('2026-03-01T12:00:00Z'))
    for (const text of [`\n${good}\n\r\n\n{oops\n \n{}\n`, `\n oops\n\n\n${good}\noops\n\n{}`]) {
      const reading = createTrafficReading(nothing)
      for (const byte of Buffer.from(text)) reading.push(Uint8Array.of(byte))
      const { lines, rejects } = reading.end()
      const rows = text.split('\n').flatMap((row, index) => (/oops|\{\}/.test(row) ? [index + 1] : []))
      expect([lines, rejects.map(({ line }) => line)]).toEqual([rows.length + 1, rows])
    }
  })

  test('every malicious line has one reason: its source in a feed, else its host, else its own verdict', () => {
    const evil = { host: 'EVIL.example:443', action: 'blocked' }
    const summary = read(
      [
        at('2026-03-01T12:00:02Z', { client_ip: '6.6.6.1', ...evil }),
        at('2026-03-01T12:00:00Z', { client_ip: '6.6.6.1' }),
        at('2026-03-01T12:00:00Z', { client_ip: '6.6.6.2' }),
        at('2026-03-01T12:00:00Z', { client_ip: '2001:db8::1', ...evil }),
        at('2026-03-01T12:00:00Z', { client_ip: '2001:db8:0:0::1', action: 'denied' }),
        at('2026-03-01T12:00:00Z', { action: 'denied' }),
        at('2026-03-01T12:00:00Z', { client_ip: '8.8.8.8' }),
      ],
      something,
    )
    const noon = Date.UTC(2026, 2, 1, 12)
    const seen = { requests: 1, first_seen: noon, last_seen: noon }
    const finding = (number: number) => ({ feed: `feed ${number}`, snapshot: number, entry: `entry ${number}` })
    expect(summary.malicious).toBe(6)
    expect(summary.threats).toEqual([
      {
        kind: 'address',
        value: '6.6.6.1',
        finding: finding(1),
        verdict: null,
        requests: 2,
        first_seen: noon,
        last_seen: noon + 2000,
      },
      { kind: 'address', value: '6.6.6.2', finding: finding(1), verdict: null, ...seen },
      { kind: 'host', value: 'evil.example', finding: finding(2), verdict: null, ...seen },
      { kind: 'verdict', value: '', finding: null, verdict: 'denied', ...seen },
      { kind: 'verdict', value: '2001:db8::1', finding: null, verdict: 'denied', ...seen },
    ])
    expect(summary.strongest).toMatchObject({ value: '6.6.6.1', requests: 2 })
  })

  test('of very many sources the last ones count together, and none is lost', () => {
    const lines = Array.from({ length: 20_100 }, (_, index) =>
      at('2026-03-01T12:00:00Z', { client_ip: `1.2.${index >> 8}.${index & 255}`, action: 'blocked' }),
    )
    const { threats, malicious } = read(lines)
    expect(malicious).toBe(20_100)
    expect(threats).toHaveLength(20_001)
    expect(threats[0]).toMatchObject({ value: MANY, requests: 100 })
  })
})

describe('the text of an address', () => {
  test('reads back as the same address, and is what a URL makes of it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const address = createAddress()
        const again = createAddress()
        expect(readAddress(Buffer.from(text), 0, Buffer.byteLength(text), address)).toBe(true)
        const shown = addressText(address)
        expect(readAddress(Buffer.from(shown), 0, shown.length, again)).toBe(true)
        expect(again.kind).toBe(address.kind)
        if (address.kind === 6) {
          expect([...again.words]).toEqual([...address.words])
          expect(`[${shown}]`).toBe(new URL(`http://[${text}]/`).hostname)
        }
      }),
      { numRuns: 500 },
    )
  })
})
