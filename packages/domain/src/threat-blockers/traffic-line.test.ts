import { describe, expect, test } from 'vitest'
import { readTrafficLine } from './traffic-line.ts'

const TIME = Date.parse('2015-05-17T10:05:03.000Z')
const CLF = '17/May/2015:10:05:03 +0000'

describe('the time of a line', () => {
  test.each<[unknown]>([
    ['2015-05-17T10:05:03Z'],
    ['2015-05-17T10:05:03.000Z'],
    ['2015-05-17T12:05:03+02:00'],
    ['2015-05-17 10:05:03'],
    [' 2015-05-17T10:05:03Z '],
    ['17/May/2015:10:05:03 +0000'],
    ['[17/May/2015:12:05:03 +0200]'],
    ['17/may/2015:06:35:03 -0330'],
    [1431857103],
    [1431857103000],
    ['1431857103'],
    ['1431857103.000'],
    ['1431857103000'],
  ])('%j is read', (timestamp) => {
    expect(readTrafficLine({ timestamp })).toEqual({ time: TIME, malicious: false })
  })

  test.each([
    ['time'],
    ['@timestamp'],
    ['datetime'],
    ['date'],
    ['ts'],
    ['time_local'],
    ['time_iso8601'],
    ['msec'],
    ['StartUTC'],
    ['start_time'],
  ])('may be called %s', (name) => {
    expect(readTrafficLine({ [name]: '2015-05-17T10:05:03Z' })).toMatchObject({ time: TIME })
  })

  test('may be nested, or named with a dot', () => {
    expect(readTrafficLine({ event: { created: '2015-05-17T10:05:03Z' } })).toMatchObject({ time: TIME })
    expect(readTrafficLine({ 'event.created': '2015-05-17T10:05:03Z' })).toMatchObject({ time: TIME })
  })

  test('comes from the first name that has one', () => {
    expect(readTrafficLine({ timestamp: '', time: null, ts: 1431857103 })).toMatchObject({ time: TIME })
  })

  test('may lie anywhere', () => {
    expect(readTrafficLine({ ts: -1 })).toMatchObject({ time: -1000 })
    expect(readTrafficLine({ ts: '1901-01-01' })).toMatchObject({ time: Date.parse('1901-01-01') })
    expect(readTrafficLine({ ts: '9999-12-31T23:59:59Z' })).toMatchObject({ time: 253402300799000 })
  })

  test.each<[unknown]>([
    ['yesterday'],
    ['2015-02-30T00:00:00Z'],
    ['30/Feb/2015:10:05:03 +0000'],
    ['17/Mai/2015:10:05:03 +0000'],
    ['17/May/2015:25:05:03 +0000'],
    [true],
    [{}],
    [[1431857103]],
    [1e300],
    [-1e300],
    ['1'],
  ])('%j is refused, with a reason', (timestamp) => {
    expect(readTrafficLine({ timestamp })).toEqual({ reason: 'the time cannot be read' })
  })

  test('must be there', () => {
    expect(readTrafficLine({ verdict: 'blocked' })).toEqual({ reason: 'no time' })
    expect(readTrafficLine({})).toEqual({ reason: 'no time' })
    expect(readTrafficLine({ timestamp: '' })).toEqual({ reason: 'no time' })
  })

  test('is not taken from what every object inherits', () => {
    expect(readTrafficLine(JSON.parse('{"__proto__":{"timestamp":1431857103}}'))).toEqual({ reason: 'no time' })
  })
})

describe('the verdict of a line', () => {
  function isMalicious(fields: object): unknown {
    const line = readTrafficLine({ timestamp: 1431857103, ...fields })
    return 'malicious' in line ? line.malicious : line
  }

  test.each([['blocked'], ['BLOCK'], [' Denied '], ['drop'], ['rejected'], ['malicious'], ['sinkholed']])(
    '%j is malicious',
    (verdict) => {
      expect(isMalicious({ verdict })).toBe(true)
      expect(isMalicious({ action: verdict })).toBe(true)
      expect(isMalicious({ verdict: ['allowed', verdict] })).toBe(true)
      expect(isMalicious({ event: { action: verdict } })).toBe(true)
      expect(isMalicious({ waf: { action: verdict } })).toBe(true)
    },
  )

  test.each<[unknown]>([['allowed'], ['unblocked'], [''], [403], [true], [null], [{}], [[]], ['not blocked']])(
    '%j is not',
    (verdict) => {
      expect(isMalicious({ verdict })).toBe(false)
    },
  )

  test('a status of HTTP is no verdict, a word in its place is', () => {
    expect(isMalicious({ status: 403 })).toBe(false)
    expect(isMalicious({ status: '403' })).toBe(false)
    expect(isMalicious({ status: 'blocked' })).toBe(true)
  })

  test('one of several names is enough', () => {
    expect(isMalicious({ verdict: 'allowed', action: 'deny' })).toBe(true)
  })
})

describe('a line of text', () => {
  test.each([
    ['Common', `192.0.2.1 - - [${CLF}] "GET / HTTP/1.1" 200 12`],
    ['Common, of a user with a space', `192.0.2.1 - Ada Rossi [${CLF}] "GET / HTTP/1.1" 200 12`],
    ['Common, without a size', `192.0.2.1 - - [${CLF}] "GET / HTTP/1.1" 304 -`],
    ['Common, of a request that could not be read', `192.0.2.1 - - [${CLF}] "-" 408 0`],
    [
      'Combined',
      `2001:db8::1 - ada [${CLF}] "GET /a?b=\\"c\\" HTTP/1.1" 200 12 "https://a.example/" "Mozilla/5.0 (X)"`,
    ],
    ['vhost-prefixed', `www.example.com:443 192.0.2.1 - - [${CLF}] "GET / HTTP/2.0" 200 12 "-" "-"`],
    ['with an IPv6 address in brackets', `[2001:db8::1]:80 192.0.2.1 - - [${CLF}] "GET / HTTP/1.1" 200 12`],
  ])('in %s Log Format is read', (_, line) => {
    expect(readTrafficLine(line)).toEqual({ time: TIME, malicious: false })
  })

  test.each([
    ['', 'no log format that is known'],
    ['hello', 'no log format that is known'],
    [`192.0.2.1 - - [${CLF}] GET / 200 12`, 'no log format that is known'],
    [`192.0.2.1 - - [${CLF}] "GET /`, 'no log format that is known'],
    ['192.0.2.1 - - [17/Mai/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 12', 'the time cannot be read'],
  ])('%j is refused: %s', (line, reason) => {
    expect(readTrafficLine(line)).toEqual({ reason })
  })

  test('that is long and wrong is refused quickly', () => {
    const started = performance.now()
    for (const piece of ['a ', '[', '[aaaaaaaaaaaaaaaaaaaaaaaaa] "', '"\\', `1.2.3.4 - - [${CLF}] "\\`]) {
      expect(readTrafficLine(piece.repeat(20_000))).toHaveProperty('reason')
    }
    expect(performance.now() - started).toBeLessThan(500)
  })
})

test.each<[unknown]>([[null], [1], [true], [[]], [[{ timestamp: 1 }]]])('%j is no line', (line) => {
  expect(readTrafficLine(line)).toEqual({ reason: 'neither a text nor an object' })
})
