import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../errors.ts'
import { createTrafficScanner, MAX_LINE_BYTES, type TrafficShape } from './traffic-scanner.ts'

type Seen = { time: string; client: string; host: string; verdict: string } | { reject: string }

/** What the scanner tells of a file that comes in chunks of these sizes. */
function scanBytes(bytes: Uint8Array, sizes: number[] = [bytes.length]): { shape: TrafficShape; lines: Seen[] } {
  const lines: Seen[] = []
  const scanner = createTrafficScanner({
    accept({ time, client, host, hostLength, verdict }) {
      lines.push({
        time: new Date(time).toISOString(),
        client: addressText(client.kind, client.words),
        host: Buffer.from(host.subarray(0, hostLength)).toString(),
        verdict,
      })
    },
    reject: ({ field, reason }) => lines.push({ reject: field ? `${field}: ${reason}` : reason }),
  })
  let at = 0
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1)
    scanner.push(bytes.slice(at, at + size))
    at += size
  }
  return { ...scanner.end(), lines }
}

const scan = (text: string, sizes?: number[]) => scanBytes(Buffer.from(text), sizes)

function addressText(kind: number, words: Uint32Array): string {
  const [first = 0] = words
  if (kind === 4) return [24, 16, 8, 0].map((shift) => (first >>> shift) & 255).join('.')
  return kind === 6 ? [...words].map((word) => word.toString(16).padStart(8, '0')).join(':') : ''
}

const one = (line: unknown) => scan(JSON.stringify([line])).lines[0]
const T = '2026-03-01T12:00:00.000Z'

describe('the shape of a traffic file', () => {
  const line = JSON.stringify({ timestamp: T, action: 'blocked' })
  const read = { time: T, client: '', host: '', verdict: 'blocked' }

  test.each<[string, string, TrafficShape, number]>([
    ['an array of objects', `[${line}, ${line}]`, 'array', 2],
    ['an empty array', ' [ ] ', 'array', 0],
    ['an object around one array', `{"version": [1, 2], "lines": [${line}], "more": {"x": "]}"}}`, 'wrapped array', 1],
    ['an object around an empty array', '{"records":[]}', 'wrapped array', 0],
    ['one line object', ` ${line} `, 'object', 1],
    ['one value a row', `${line}\n${line}\r\n\n  ${line}`, 'rows', 3],
    ['one row that ends', `${line}\n`, 'rows', 1],
    ['after a byte order mark', `\uFEFF[${line}]`, 'array', 1],
  ])('%s is read', (_name, text, shape, count) => {
    expect(scan(text)).toEqual({ shape, lines: Array.from({ length: count }, () => read) })
    expect(scan(text, [1])).toEqual(scan(text))
  })

  test.each([
    ['nothing', ''],
    ['white space', ' \n\t '],
    ['a single text', '"17/May/2015"'],
    ['a number', '42'],
    ['null', 'null\n'],
    ['a single text in a row', '"x"\n\n'],
    ['text that is no JSON', 'hello'],
    ['rows that are no JSON', 'hello\n42\nnull\n[]\n'],
    ['a hundred rows that are no JSON before one that is', `${'hello\n'.repeat(100)}${line}`],
    ['an object that is no JSON before a row that is', `{"a": tru}\n${line}`],
    ['an array that does not end', `[${line}`],
    ['an array that ends after a comma', `[${line},]`],
    ['an array with nothing between commas', `[${line},,${line}]`],
    ['an array with a line that is no JSON', `[${line}, {"a": tru}]`],
    ['an array with something after it', `[${line}] x`],
    ['an object that does not end', '{"lines": [1'],
    ['a wrapper that does not end', '{"lines": []'],
    ['a wrapper with something after it', '{"lines": []} {}'],
    ['a wrapper whose rest is no JSON', '{"lines": [], x}'],
    ['a wrapper with two arrays of lines', '{"lines": [], "logs": []}'],
    ['two objects in a row', `${line} ${line}`],
    ['brackets that do not match', `[${line}}`],
    ['nesting without end', '['.repeat(100_000)],
  ])('%s is no traffic file', (_name, text) => {
    for (const sizes of [undefined, [1], [7, 3]]) {
      const error = attempt(() => scan(text, sizes))
      expect(error).toBeInstanceOf(DomainError)
      expect((error as DomainError).code).toBe('invalid')
    }
  })

  test('rows are rows, also where the first one has an array under a name that a wrapper could have', () => {
    const row = JSON.stringify({ timestamp: T, data: [{ timestamp: T }, 1] })
    const lines = [read, read].map((line) => ({ ...line, verdict: '' }))
    expect(scan(`${row}\n${row}`)).toEqual({ shape: 'rows', lines })
    expect(scan(`${row}\n${row}`, [1])).toEqual({ shape: 'rows', lines })
    expect(scan(`${row}\n`)).toMatchObject({ shape: 'wrapped array', lines: { length: 2 } })
  })

  test('a wrapper of more than a mebibyte is one, whatever the pieces', () => {
    const long = { timestamp: T, action: 'blocked', path: 'x'.repeat(500) }
    const text = JSON.stringify({ lines: Array.from({ length: 4000 }, () => long) })
    expect(text.length).toBeGreaterThan(MAX_LINE_BYTES)
    expect(scan(text, [65_536])).toMatchObject({ shape: 'wrapped array', lines: { length: 4000 } })
    expect(scan(text)).toMatchObject({ shape: 'wrapped array', lines: { length: 4000 } })
  })

  test('of rows the broken ones are counted, and the others read', () => {
    const broken = ['{"timestamp": ', '}', '{"a":1} {"b":2}', 'x'.repeat(50), '"\u0000"', '{"a":01}', '["\\x"]', '[1,']
    const text = [line, ...broken.flatMap((row) => [row, line])].join('\n')
    const { lines } = scan(text)
    expect(lines.filter((seen) => 'reject' in seen)).toEqual(broken.map(() => ({ reject: 'not JSON' })))
    expect(lines.filter((seen) => 'time' in seen)).toHaveLength(broken.length + 1)
    expect(scan(text, [1]).lines).toEqual(lines)
  })

  /** Rows of many lengths, each with a time of its own, and what they say. */
  function manyRows(count: number, first: number) {
    const rows = Array.from({ length: count }, (_, index) => {
      const timestamp = new Date(Date.UTC(2026, 2, 1) + (first + index) * 1000).toISOString()
      const path = 'x'.repeat(index % 997 === 500 ? 150_000 : (index * 7) % 300)
      const log = { timestamp, '': index, client_ip: `192.0.${index % 256}.1`, path, action: 'blocked' }
      return {
        row: JSON.stringify(log),
        time: timestamp,
        client: `192.0.${index % 256}.1`,
        host: '',
        verdict: 'blocked',
      }
    })
    return { text: rows.map(({ row }) => row).join('\n'), lines: rows.map(({ row, ...line }) => line) }
  }

  test.each([[[1000]], [[65_536]], [[100_000, 1, 65_536, 7]], [[200_000, 40_000]], [[10_000_000]]])(
    'rows of any length are read, wherever the pieces of %s bytes end',
    (sizes) => {
      const { text, lines } = manyRows(2000, 0)
      expect(scan(text, sizes).lines).toEqual(lines)
    },
  )

  test('two files that come at the same time are read apart', () => {
    const files = [manyRows(1200, 0), manyRows(1200, 86_400)].map(({ text, lines }) => {
      const seen: string[] = []
      const accept = ({ time }: { time: number }) => void seen.push(new Date(time).toISOString())
      const scanner = createTrafficScanner({ accept, reject: () => seen.push('rejected') })
      return { bytes: Buffer.from(text), wanted: lines.map(({ time }) => time), seen, scanner }
    })
    for (let at = 0; files.some(({ bytes }) => at < bytes.length); at += 50_000) {
      for (const { bytes, scanner } of files) scanner.push(bytes.subarray(at, at + 50_000))
    }
    for (const { scanner, seen, wanted } of files) {
      scanner.end()
      expect(seen).toEqual(wanted)
    }
  })

  test.each(['b": 1}', 'x'.repeat(50), '1} {', '"\u0000"'])(
    'after a first row that was cut to %j the others are read',
    (cut) => {
      expect(scan(`${cut}\n${line}\n`)).toEqual({ shape: 'rows', lines: [{ reject: 'not JSON' }, read] })
      expect(scan(`${cut}\n${line}`, [1])).toEqual({ shape: 'rows', lines: [{ reject: 'not JSON' }, read] })
      expect(scan(`${`${cut}\n`.repeat(99)}${line}`).lines).toHaveLength(100)
    },
  )

  test('a row of more than a mebibyte is counted, and the next one read', () => {
    const long = JSON.stringify({ timestamp: T, x: 'y'.repeat(MAX_LINE_BYTES) })
    const { lines } = scan(`${line}\n${long}\n${line}`, [65_536])
    expect(lines).toEqual([read, { reject: expect.stringContaining('longer than') }, read])
  })

  test('an item of more than a mebibyte is too long for a line', () => {
    const long = JSON.stringify({ timestamp: T, x: 'y'.repeat(MAX_LINE_BYTES) })
    expect(attempt(() => scan(`[${long},${line}]`, [65_536]))).toBeInstanceOf(DomainError)
  })
})

function attempt(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describe('the time of a line', () => {
  test.each([
    ['2026-03-01T12:00:00Z', T],
    ['2026-03-01t13:00:00.000+01:00', T],
    ['2026-03-01 17:30:00+0530', T],
    ['2026-03-01T07:00-05', T],
    ['2026-03-01T12:00:00.123456789Z', '2026-03-01T12:00:00.123Z'],
    ['2026-03-01T12:00:00,5', '2026-03-01T12:00:00.500Z'],
    ['2026-03-01T12:00:00.07', '2026-03-01T12:00:00.070Z'],
    ['2026-03-01T12:00:00.99999999999Z', '2026-03-01T12:00:00.999Z'],
    ['01/mAR/2026:12:00:00 +0000', T],
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['01/Mar/2026:12:00:00 +0000', T],
    ['01/Mar/2026:10:00:00 -0200', T],
    [1772366400, T],
    [1772366400000, T],
    [1772366400.25, '2026-03-01T12:00:00.250Z'],
    ['1772366400.250', '2026-03-01T12:00:00.250Z'],
    [-1, '1969-12-31T23:59:59.000Z'],
    ['1883-11-18T12:03:58Z', '1883-11-18T12:03:58.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ])('%s is read', (timestamp, time) => {
    expect(one({ timestamp })).toMatchObject({ time })
  })

  test.each([
    '2026-02-31T12:00:00Z',
    '2026-13-01',
    '2026-03-01T24:00:00Z',
    '2026-03-01T12:60:00Z',
    '9999-12-31T23:59:59-01:00',
    '99999-01-01T00:00:00Z',
    '31/Feb/2026:12:00:00 +0000',
    '01/Foo/2026:12:00:00 +0000',
    'yesterday',
    1e300,
    -1e15,
  ])('%s is none', (timestamp) => {
    expect(one({ timestamp })).toEqual({ reject: 'time: not a time' })
  })

  test('is none where a month is too great, also after the day that it would be', () => {
    const { lines } = scan('[{"time":"2027-01-05"},{"time":"2026-17-05"},{"time":"2026-12-37"}]')
    expect(lines.map((line) => 'reject' in line)).toEqual([false, true, true])
  })

  test('a line without one cannot be read', () => {
    expect([one({}), one({ timestamp: null }), one({ timestamp: '' }), one({ a: { timestamp: T } })]).toEqual(
      Array.from({ length: 4 }, () => ({ reject: 'time: missing' })),
    )
  })

  test('is what `Date` makes of it, whatever the moment and the offset', () => {
    const moments = fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
    fc.assert(
      fc.property(moments, fc.integer({ min: -14 * 60, max: 14 * 60 }), (moment, offset) => {
        const local = new Date(moment.getTime() + offset * 60_000).toISOString().slice(0, -1)
        const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((n) =>
          `${n}`.padStart(2, '0'),
        )
        const timestamp = `${local}${offset < 0 ? '-' : '+'}${hours}:${minutes}`
        expect(one({ timestamp })).toMatchObject({ time: moment.toISOString() })
      }),
      { numRuns: 300 },
    )
  })
})

describe('the client of a line', () => {
  const client = (fields: object) => (one({ timestamp: T, ...fields }) as { client: string }).client

  test.each([
    ['93.184.216.34', '93.184.216.34'],
    ['93.184.216.34:51234', '93.184.216.34'],
    ['::ffff:93.184.216.34', '93.184.216.34'],
    ['[2606:2800:220:1::5]:443', '26062800:02200001:00000000:00000005'],
    ['2606:2800:220:1::5', '26062800:02200001:00000000:00000005'],
    ['fe80::1%eth0', 'fe800000:00000000:00000000:00000001'],
    ['::', '00000000:00000000:00000000:00000000'],
    ['1::', '00010000:00000000:00000000:00000000'],
    ['1:2:3:4:5:6:7:8', '00010002:00030004:00050006:00070008'],
    ['64:ff9b::1.2.3.4', '0064ff9b:00000000:00000000:01020304'],
    ['256.1.1.1', ''],
    ['1.2.3', ''],
    ['1.2.3.4.5', ''],
    ['01.2.3.4', ''],
    ['1:2:3:4:5:6:7:8:9', ''],
    ['1::2::3', ''],
    [':1', ''],
    ['1:2:3:4:5:6:7:', ''],
    ['12345::', ''],
    ['localhost', ''],
  ])('%s is read', (client_ip, expected) => {
    expect(client({ client_ip })).toBe(expected)
  })

  test('is the first public address that was forwarded for, where the log names a private one', () => {
    const xff = '10.1.1.1, unknown, 203.0.113.9, 8.8.4.4, 1.1.1.1'
    expect(client({ remote_addr: '10.0.0.1', http_x_forwarded_for: xff })).toBe('8.8.4.4')
    expect(client({ remote_addr: '9.9.9.9', http_x_forwarded_for: xff })).toBe('9.9.9.9')
    expect(client({ remote_addr: '192.168.1.7', http_x_forwarded_for: '10.2.2.2' })).toBe('192.168.1.7')
    expect(client({ request: { remote_ip: '172.16.0.1', headers: { 'X-Forwarded-For': ['8.8.8.8'] } } })).toBe(
      '8.8.8.8',
    )
  })

  test('is found under the names of nginx, Apache, Caddy, Traefik, HAProxy, AWS and ECS, whatever their letter case', () => {
    const address = '93.184.216.34'
    for (const fields of [
      { remote_addr: address },
      { REMOTE_ADDR: address },
      { remoteIP: address },
      { request: { remote_ip: address } },
      { ClientHost: address },
      { ClientAddr: `${address}:1` },
      { ci: address },
      { httpRequest: { clientIp: address } },
      { 'client:port': `${address}:443` },
      { 'c-ip': address },
      { source: { ip: address } },
      { 'source.ip': address },
    ]) {
      expect(client(fields)).toBe(address)
    }
  })

  test('is what a random IPv6 address says in its shortest and its longest form', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const expected = new URL(`http://[${address}]/`).hostname.slice(1, -1)
        const normal = client({ client_ip: expected })
        expect(client({ client_ip: address })).toBe(normal)
        expect(normal).not.toBe('')
      }),
      { numRuns: 300 },
    )
  })
})

describe('the verdict of a line', () => {
  const verdict = (fields: object) => (one({ timestamp: T, ...fields }) as { verdict: string }).verdict

  test('speaks against a request that was blocked, wherever the log says so', () => {
    expect(verdict({ action: ' BLOCKED ' })).toBe('blocked')
    expect(verdict({ event: { type: ['connection', 'denied'] } })).toBe('denied')
    expect(verdict({ status: 'dropped' })).toBe('dropped')
    expect(verdict({ action: 'allow', decision: 'deny' })).toBe('deny')
    expect(verdict({ action: 'BLOCK', rule: 'x' })).toBe('block')
  })

  test('says nothing of others', () => {
    expect(verdict({ action: 'ALLOW' })).toBe('')
    expect(verdict({ status: 403 })).toBe('')
    expect(verdict({ comment: 'blocked' })).toBe('')
    expect(verdict({ action: { nested: 'blocked' } })).toBe('')
  })
})

describe('a line of text', () => {
  const combined =
    '93.184.216.34 - ada [01/Mar/2026:12:00:00 +0000] "GET /a?b=\\"c\\" HTTP/1.1" 403 12 "http://x/" "curl/8 [x]"'

  test('is read in Common, Combined and vhost-prefixed Log Format', () => {
    const read = { time: T, client: '93.184.216.34', host: '', verdict: '' }
    expect(one(combined)).toEqual(read)
    expect(one('93.184.216.34 - - [01/Mar/2026:12:00:00 +0000] "GET / HTTP/1.0" 200 -')).toEqual(read)
    expect(one('93.184.216.34 - - [01/Mar/2026:12:00:00 +0000] "-" 408 0')).toEqual(read)
    expect(one('93.184.216.34 - a b [01/Mar/2026:12:00:00 +0000] "GET / HTTP/1.0" 200')).toEqual(read)
    expect(one(`WWW.Example.com:443 ${combined}`)).toEqual({ ...read, host: 'www.example.com' })
    expect(one(`2606:2800:220:1::5${combined.slice(13)}`)).toMatchObject({
      client: '26062800:02200001:00000000:00000005',
    })
    expect(one(`crawler.example.net${combined.slice(13)}`)).toMatchObject({ time: T, client: '' })
  })

  test.each([
    '',
    'hello',
    '93.184.216.34 - - [01/Mar/2026:12:00:00 +0000] GET / 200',
    '93.184.216.34 - - [01/Mar/2026:12:00:00 +0000] "GET / 200',
    '93.184.216.34 - - [01/Mar/2026:12:00:00 +0000] "GET /" 2000 1',
  ])('%j is in no known format', (text) => {
    expect(one(text)).toEqual({ reject: 'not in a known log format' })
  })

  test('whose time is none is counted as such', () => {
    expect(one(combined.replace('Mar', 'Foo'))).toEqual({ reject: 'time: not a time' })
  })
})

describe('whatever the file', () => {
  const fields = fc.record(
    {
      timestamp: fc.oneof(fc.constant(T), fc.string(), fc.integer(), fc.double()),
      client_ip: fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()),
      host: fc.oneof(fc.domain(), fc.string({ unit: 'binary' })),
      action: fc.constantFrom('allowed', 'blocked', 'x'),
      other: fc.jsonValue({ maxDepth: 3 }),
    },
    { requiredKeys: [] },
  )
  const item = fc.oneof(fields, fields, fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 2 }))
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })

  test('every line is told of once, in order, and the chunks it comes in do not matter', () => {
    fc.assert(
      fc.property(fc.array(item, { minLength: 2 }), sizes, fc.constantFrom(0, 2), (items, cuts, indent) => {
        const alone = items.map((value) => one(value))
        expect(scan(JSON.stringify(items, null, indent), cuts).lines).toEqual(alone)
        expect(scan(JSON.stringify({ a: [1], logs: items, z: {} }, null, indent), cuts).lines).toEqual(alone)
        // Rows that begin with a bracket are an array.
        if (Array.isArray(items[0])) return
        expect(scan(items.map((value) => JSON.stringify(value)).join('\n'), cuts).lines).toEqual(alone)
      }),
      { numRuns: 300 },
    )
  })

  test('a text that is no JSON is refused just where a parser refuses it', () => {
    const mutated = fc
      .tuple(
        fc.array(item, { minLength: 1, maxLength: 3 }),
        fc.nat(),
        fc.constantFrom('', '"', ',', '}', ']', '\\', '1', '\n', '\u0001'),
      )
      .map(([items, place, text]) => {
        const json = JSON.stringify(items)
        const at = place % json.length
        return json.slice(0, at) + text + json.slice(at + 1)
      })
    fc.assert(
      fc.property(mutated, sizes, (text, cuts) => {
        const parsed = attempt(() => JSON.parse(text))
        const isArray = Array.isArray(parsed)
        const result = attempt(() => scan(text, cuts))
        if (isArray && !(text.trim()[0] === '[')) return
        if (isArray) expect(result).toMatchObject({ shape: 'array', lines: { length: parsed.length } })
        else if (text.startsWith('[')) expect(result).toBeInstanceOf(DomainError)
      }),
      { numRuns: 1000 },
    )
  })

  // Lines with the same keys in the same order are read by a shorter way, and so are texts that look like log lines.
  const plain = fc.oneof(
    fc.constant(T),
    fc.ipV4(),
    fc.integer(),
    fc.double(),
    fc.constantFrom('blocked', true, false, null),
  )
  const odd = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a"b', 'a\\b', '', {}, [], { timestamp: T }, [1]))
  const names = fc.uniqueArray(
    fc.constantFrom('timestamp', 'client_ip', 'host', 'action', 'status', 'x', 'request', ''),
    {
      minLength: 1,
    },
  )
  const alike = fc
    .tuple(names, fc.array(fc.array(fc.oneof({ weight: 20, arbitrary: plain }, odd), { minLength: 8, maxLength: 8 })))
    .map(([keys, rows]) =>
      rows.map(
        (values) => Object.fromEntries(keys.map((key, index) => [key, values[index]])) as Record<string, unknown>,
      ),
    )
  const joints = fc.constantFrom([',', ':'], [', ', ': '], [',  ', ' :'])
  const written = (line: Record<string, unknown>, [comma, colon]: readonly [string, string]) =>
    `{${Object.entries(line)
      .map(([key, value]) => JSON.stringify(key) + colon + JSON.stringify(value))
      .join(comma)}}`
  const word = fc.string({ unit: fc.constantFrom(...'abc[] -/"\\.é\u0001'), maxLength: 6 })
  const logLine = fc
    .record({
      host: fc.constantFrom('', 'www.example.com ', '192.0.2.7 '),
      client: fc.oneof(fc.ipV4(), fc.ipV6(), word),
      user: fc.oneof(fc.constantFrom('- -', '- x['), word),
      // A bracket must have a space in front.
      bracket: fc.constantFrom(' [', ' [', '['),
      time: fc.constantFrom(
        '01/Mar/2026:12:00:00 +0000',
        '2026-03-01T12:00:00.00000Z',
        '1772366400',
        '01/Mar/2026:12:00',
      ),
      request: fc.oneof(fc.constant('GET / HTTP/1.1'), word),
      status: fc.constantFrom('200', '404', '-', '20', '2000'),
      rest: fc.oneof(fc.constant(' 12 "-" "curl"'), fc.constant(''), word),
    })
    .map(
      ({ host, client, user, bracket, time, request, status, rest }) =>
        `${host}${client} ${user}${bracket}${time}] "${request}" ${status}${rest}`,
    )

  test('of lines that look alike each says what it says alone', () => {
    fc.assert(
      fc.property(alike, sizes, joints, (items, cuts, joint) => {
        const rows = items.map((line) => written(line, joint))
        const alone = items.map((line) => one(line))
        expect(scan(`[${rows.join(',')}]`, cuts).lines).toEqual(alone)
        if (items.length > 1) expect(scan(rows.join('\n'), cuts).lines).toEqual(alone)
      }),
      { numRuns: 300 },
    )
  })

  test('a log line that ends in its request has no status, whatever stood there in the line before', () => {
    const T = '[01/Mar/2026:12:00:00 +0000]'
    const texts = [`10.10.10.10 - - ${T} "a" - 12 "-" "curl"`, `éaa - - ${T} "\\" 2000a`]
    const escaped = texts.map((text) =>
      text.replace(/[\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    )
    const { lines } = scan(`[${escaped.map((text) => `"${text}"`).join(',')}]`)
    expect(lines[1]).toEqual({ reject: 'not in a known log format' })
  })

  test('a log line says the same with all of its characters escaped', () => {
    fc.assert(
      fc.property(fc.array(logLine), sizes, (texts, cuts) => {
        const escaped = texts.map((text) =>
          text.replace(/[\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
        )
        const { lines } = scan(`[${escaped.map((text) => `"${text}"`).join(',')}]`)
        expect(scan(JSON.stringify(texts), cuts).lines).toEqual(lines)
        if (texts.length > 1)
          expect(scan(texts.map((text) => JSON.stringify(text)).join('\n'), cuts).lines).toEqual(lines)
      }),
      { numRuns: 300 },
    )
  })

  describe.each([
    ['objects', [1, 2, 3].map((status) => `{"timestamp":"${T}","status":${status},"x":null,"host":"a.b"}`)],
    [
      'spaced objects',
      [1, 2].map((status) => `{"timestamp": "${T}", "status": ${status}, "x": true, "ip": "1.1.1.1"}`),
    ],
    [
      'log lines',
      ['/', '/a'].map((path) => JSON.stringify(`1.1.1.1 - - [01/Mar/2026:12:00:00 +0000] "${path}" 200 1`)),
    ],
  ])('of %s that look alike', (_name, rows) => {
    const isJson = (text: string) => !(attempt(() => JSON.parse(text)) instanceof SyntaxError)

    test('each change of a byte is refused just where a parser refuses it', () => {
      const text = `[${rows.join(',')}]`
      const wrong: string[] = []
      for (let at = 1; at < text.length - 1; at += 1) {
        for (const put of ['', '"', ',', '}', ':', '\\', '1', ' ', '{', '\u0001']) {
          for (const rest of [at, at + 1]) {
            const changed = text.slice(0, at) + put + text.slice(rest)
            const isRefused = attempt(() => scan(changed)) instanceof DomainError
            if (isRefused === isJson(changed)) wrong.push(changed)
          }
        }
      }
      expect(wrong).toEqual([])
    })

    test('the last one is read once it is all there', () => {
      const before = rows.slice(0, -1).join('\n')
      const last = rows.at(-1) ?? ''
      for (let length = 1; length <= last.length; length += 1) {
        for (const sizes of [[1000], [1], [before.length + 1, 1000]]) {
          const { lines } = scan(`${before}\n${last.slice(0, length)}`, sizes)
          expect('time' in (lines.at(-1) ?? {})).toBe(length === last.length)
        }
      }
    })
  })

  test('random bytes are refused or counted, never a fault', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), sizes, (bytes, cuts) => {
        const result = attempt(() => scanBytes(Buffer.concat([Buffer.from('{"a":1}\n'), bytes]), cuts))
        if (result instanceof Error) expect(result).toBeInstanceOf(DomainError)
      }),
      { numRuns: 500 },
    )
  })
})
