import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { ODD_FREE_TEXT, ODD_JSON, ODD_TEXT } from './contracts/builders.ts'
import { anyText } from './testing/any-text.ts'
import {
  Count,
  CronExpression,
  EmailAddress,
  FreeText,
  fold,
  HostName,
  HttpUrl,
  Id,
  IpAddress,
  JsonObject,
  Label,
  list,
  MAX_TIME,
  MIN_TIME,
  Name,
  OptionalIpAddress,
  parseCron,
  parseTime,
  ShortText,
  Timestamp,
  Uuid,
  Weight,
} from './values.ts'

const RUNS = { numRuns: 200 }

/** What each schema accepts (and returns as `accepted[1]`, if not as it was) and refuses. */
function describeValue(
  name: string,
  schema: v.GenericSchema,
  { accepted, refused }: { accepted: unknown[]; refused: unknown[] },
): void {
  describe(name, () => {
    test.each(accepted.map((value) => [value]))('accepts %j as it is', (value) => {
      const result = v.safeParse(schema, value)
      expect(result.issues).toBeUndefined()
      expect(result.output).toEqual(value)
    })
    test.each(refused.map((value) => [value]))('refuses %j', (value) => {
      expect(v.safeParse(schema, value).success).toBe(false)
    })
  })
}

const NO_TEXT = [undefined, null, 1, true, {}, []]
const NOT_STORABLE = ['a\u0000', '\u0007', 'a\rb', '\u001b[31m', '\u007f', 'a\u0085b', '\uD800', 'a\uDC00b']

describeValue('free text', FreeText, {
  accepted: ['', ' kept as sent ', ODD_FREE_TEXT, 'a\n\tb', 'x'.repeat(10_000), '👩'.repeat(10_000)],
  refused: [...NO_TEXT, ...NOT_STORABLE, 'x'.repeat(10_001), '👩'.repeat(10_001)],
})

describeValue('short text', ShortText, {
  accepted: ['', ' kept as sent ', ODD_TEXT, 'x'.repeat(255), '👩'.repeat(255)],
  refused: [...NO_TEXT, ...NOT_STORABLE, 'x'.repeat(256), '👩'.repeat(256)],
})

describeValue('label', Label, {
  accepted: ['', 'CTO', ODD_TEXT, 'x'.repeat(255)],
  refused: [...NO_TEXT, ...NOT_STORABLE.filter((text) => text === text.trim()), 'x'.repeat(256)],
})

describeValue('name', Name, {
  accepted: ['a', ODD_TEXT, 'x'.repeat(255)],
  refused: [...NO_TEXT, '', ' \t\n ', '\u00a0', 'x'.repeat(256)],
})

test('labels and names are trimmed before they are measured', () => {
  expect(v.parse(Name, '  Acme Inc.\n')).toBe('Acme Inc.')
  expect(v.parse(Label, ` ${'x'.repeat(255)} `)).toBe('x'.repeat(255))
  expect(v.parse(Label, '   ')).toBe('')
})

describeValue('id', Id, {
  accepted: [1, 2 ** 31, 2 ** 53 - 1],
  refused: [0, -1, 1.5, 2 ** 53, 2 ** 63, Number.NaN, Number.POSITIVE_INFINITY, '1', null, undefined, [1]],
})

describeValue('count', Count, {
  accepted: [0, 1, 2 ** 53 - 1],
  refused: [-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '0', null, true],
})

describeValue('weight', Weight, {
  accepted: [0, 0.1, 1, 1e300],
  refused: [-0.1, Number.NaN, Number.POSITIVE_INFINITY, '1', null],
})

describeValue('UUID', Uuid, {
  accepted: ['0b0e7e2a-5a6f-4c8e-9d1f-3a5b7c9d1e2f'],
  refused: [...NO_TEXT, '', '0', '0b0e7e2a5a6f4c8e9d1f3a5b7c9d1e2f', '{0b0e7e2a-5a6f-4c8e-9d1f-3a5b7c9d1e2f}'],
})

test('a UUID comes back in lower case', () => {
  expect(v.parse(Uuid, '0B0E7E2A-5A6F-4C8E-9D1F-3A5B7C9D1E2F')).toBe('0b0e7e2a-5a6f-4c8e-9d1f-3a5b7c9d1e2f')
})

describeValue('e-mail address', EmailAddress, {
  accepted: [
    'a@b',
    'Ada.Rossi+x@Example.com',
    "o'brien@example.co.uk",
    `${'a'.repeat(64)}@example.com`,
    `a@${'b.'.repeat(125)}cd`,
  ],
  refused: [
    ...NO_TEXT,
    '',
    'a',
    'a@',
    '@b',
    'a@b@c',
    'a b@c',
    ' a@b.c',
    'a@b.c ',
    'a@b.c\n',
    'a@b.c\r\nBcc: x@y.z',
    'Ada <a@b.c>',
    'a@b.c, d@e.f',
    '"a"@b.c',
    '.a@b.c',
    'a.@b.c',
    'a..b@c.d',
    'a@b..c',
    'a@.b',
    'a@-b.c',
    'a@b-.c',
    'é@b.c',
    'a@é.c',
    'a\u0000@b.c',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(64)}.c`,
    `a@${'b.'.repeat(126)}cd`,
  ],
})

describeValue('http(s) URL', HttpUrl, {
  accepted: [
    '',
    'http://a',
    'HTTPS://www.example.com:8443/a/b?c=d&e#f',
    'https://münchen.example/ü',
    'http://[2001:db8::1]/',
    `http://a/${'x'.repeat(246)}`,
  ],
  refused: [
    ...NO_TEXT,
    'www.example.com',
    '/logo.png',
    '//example.com/logo.png',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)//http://',
    'data:text/html,x',
    'ftp://example.com',
    'file:///etc/passwd',
    'http:example.com',
    'http:/example.com',
    'http://',
    'http:///x',
    'http://a b',
    ' http://a',
    'http://a ',
    'http://a\n',
    'java\nscript:alert(1)',
    'ht\ttp://a',
    'http://a\\b',
    'http://a:99999',
    'http://%zz',
    'http://a\u0000',
    `http://a/${'x'.repeat(247)}`,
  ],
})

describeValue('host name', HostName, {
  accepted: [
    'localhost',
    'www.example.com',
    'WWW.Example.COM',
    'a-b.c',
    '1.example',
    'xn--mnchen-3ya.de',
    'münchen.de',
    'e\u0301.example',
    '日本.jp',
    'x'.repeat(63),
    `${'a.'.repeat(126)}b`,
  ],
  refused: [
    ...NO_TEXT,
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    '-a.b',
    'a-.b',
    'a_b.c',
    'a b',
    'a/b',
    'http://a.b',
    'a.b:80',
    '*.a.b',
    '192.0.2.1',
    'a.1',
    '1',
    '2001:db8::1',
    'a\n',
    '☃.net',
    'x'.repeat(64),
    `${'a.'.repeat(126)}bc`,
  ],
})

describeValue('IP address', IpAddress, {
  accepted: [
    '0.0.0.0',
    '255.255.255.255',
    '192.0.2.1',
    '::',
    '::1',
    '2001:DB8::1',
    '::ffff:192.0.2.1',
    '0:0:0:0:0:0:192.0.2.1',
    '::0:0:192.0.2.1',
  ],
  refused: [
    ...NO_TEXT,
    '',
    '192.0.2',
    '192.0.2.256',
    '192.0.2.1/24',
    '192.0.2.1:80',
    '[::1]:80',
    '192.0.2.01',
    ' 192.0.2.1',
    '192.0.2.1\n',
    '1:2:3:4:5:6:7:8:9',
    ':::',
    '2001:db8::g',
    '[::1]',
    'fe80::1%eth0',
    'localhost',
  ],
})

describeValue('optional IP address', OptionalIpAddress, {
  accepted: ['', '192.0.2.1', '::1'],
  refused: [...NO_TEXT, ' '],
})

describeValue('list', list(Id), {
  accepted: [[], [1], Array.from({ length: 1000 }, () => 1)],
  refused: [undefined, null, {}, 'x', [0], Array.from({ length: 1001 }, () => 1)],
})

/** `levels` objects inside one another. */
function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = { a: value }
  return value
}

describeValue('JSON object', JsonObject, {
  accepted: [{}, ODD_JSON, nested(32), { a: Array.from({ length: 1000 }, () => null) }],
  refused: [
    undefined,
    null,
    [],
    'x',
    1,
    nested(34),
    { a: 'a\u0000' },
    { 'a\u0000': 1 },
    { a: ['\uD800'] },
    { a: { '\uD800': 1 } },
    { a: Number.NaN },
    { a: Number.POSITIVE_INFINITY },
    { a: undefined },
    { a: () => 1 },
    { a: Array.from({ length: 1001 }, () => null) },
  ],
})

describe('times', () => {
  test.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-03-01T10:20', '2026-03-01T10:20:00.000Z'],
    ['2026-03-01 10:20:30', '2026-03-01T10:20:30.000Z'],
    ['2026-03-01t10:20:30z', '2026-03-01T10:20:30.000Z'],
    ['2026-03-01T10:20:30.5', '2026-03-01T10:20:30.500Z'],
    ['2026-03-01T10:20:30.123456789Z', '2026-03-01T10:20:30.123Z'],
    ['2026-03-01T00:30:00+01:00', '2026-02-28T23:30:00.000Z'],
    ['2026-03-01T00:30:00-0330', '2026-03-01T04:00:00.000Z'],
    ['2026-02-28T24:00:00Z', '2026-03-01T00:00:00.000Z'],
    ['0050-01-01T00:00:00+05:30', '0049-12-31T18:30:00.000Z'],
    ['0000-01-01', '0000-01-01T00:00:00.000Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, expected) => {
    expect(v.parse(Timestamp, text)).toBe(expected)
  })

  test.each([
    [''],
    ['now'],
    ['2026'],
    ['2026-03'],
    ['20260301'],
    ['2026-3-1'],
    ['2026-02-29'],
    ['2026-02-31T10:00:00Z'],
    ['2026-04-31'],
    ['2026-13-01'],
    ['2026-00-01'],
    ['2026-01-00'],
    ['2026-03-01T25:00'],
    ['2026-03-01T24:00:01Z'],
    ['2026-03-01T10:60'],
    ['2026-03-01T10:00:60Z'],
    ['2026-03-01T10'],
    ['2026-03-01T'],
    ['2026-03-01Z'],
    ['2026-03-01T10:00:00+25:00'],
    ['2026-03-01T10:00:00+05'],
    ['2026-03-01T10:00:00 Z'],
    [' 2026-03-01'],
    ['2026-03-01\n'],
    ['+012026-03-01'],
    ['-000001-01-01'],
    ['0000-01-01T00:00:00+00:01'],
    ['9999-12-31T24:00:00Z'],
    ['9999-12-31T23:59:59-00:01'],
    ['1772366400'],
  ])('%j is no time', (text) => {
    expect(parseTime(text)).toBeUndefined()
    expect(v.safeParse(Timestamp, text).success).toBe(false)
  })

  test.each([[1772366400], [null], [{}], [undefined]])('%j is no time either', (value) => {
    expect(v.safeParse(Timestamp, value).success).toBe(false)
  })

  test('every time that there is reads back as itself', () => {
    fc.assert(
      fc.property(fc.integer({ min: MIN_TIME, max: MAX_TIME }), (time) => {
        const text = new Date(time).toISOString()
        expect(parseTime(text)).toBe(time)
        expect(v.parse(Timestamp, text)).toBe(text)
      }),
      RUNS,
    )
  })

  test('an offset moves the time by itself', () => {
    const minutes = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 })
    const times = fc.integer({ min: MIN_TIME + 86_400_000, max: MAX_TIME - 86_400_000 })
    fc.assert(
      fc.property(times, minutes, fc.constantFrom(':', ''), (time, offset, colon) => {
        const local = new Date(time + offset * 60_000).toISOString().slice(0, -1)
        const [hour, minute] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((part) =>
          String(part).padStart(2, '0'),
        )
        expect(parseTime(`${local}${offset < 0 ? '-' : '+'}${hour}${colon}${minute}`)).toBe(time)
      }),
      RUNS,
    )
  })

  test('whatever is read once reads the same again, in 24 characters', () => {
    const loose = fc
      .tuple(fc.date({ min: new Date(MIN_TIME), max: new Date(MAX_TIME), noInvalidDate: true }), fc.nat(25))
      .map(([date, length]) => date.toISOString().slice(0, length))
    fc.assert(
      fc.property(fc.oneof(loose, fc.string()), (text) => {
        const result = v.safeParse(Timestamp, text)
        if (!result.success) return
        expect(result.output).toHaveLength(24)
        expect(v.parse(Timestamp, result.output)).toBe(result.output)
      }),
      RUNS,
    )
  })
})

describe('cron expressions', () => {
  function valuesOf(expression: string): number[][] | undefined {
    const cron = parseCron(expression)
    return cron && [cron.minutes, cron.hours, cron.days, cron.months, cron.weekdays].map((set) => [...set])
  }
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

  test('a star is every value', () => {
    expect(valuesOf('* * * * *')).toEqual([range(0, 59), range(0, 23), range(1, 31), range(1, 12), range(0, 7)])
  })

  test.each([
    ['1,5-7,*/20 0 1 1 0', [1, 5, 6, 7, 0, 20, 40]],
    ['5/15 0 1 1 0', [5, 20, 35, 50]],
    ['10-20/5 0 1 1 0', [10, 15, 20]],
    ['*/59 0 1 1 0', [0, 59]],
    ['07 0 1 1 0', [7]],
  ])('the minutes of %j are %j', (expression, expected) => {
    expect(valuesOf(expression)?.[0]).toEqual(expected)
  })

  test('months and days of the week have English names', () => {
    expect(valuesOf('0 0 1 JAN-mar,dec Sun,tue-thu')?.slice(3)).toEqual([
      [1, 2, 3, 12],
      [0, 2, 3, 4],
    ])
  })

  test('either day field may fit where both are restricted', () => {
    expect(parseCron('0 0 1 * *')?.eitherDay).toBe(false)
    expect(parseCron('0 0 * * 1')?.eitherDay).toBe(false)
    expect(parseCron('0 0 */2 * 1')?.eitherDay).toBe(false)
    expect(parseCron('0 0 1 * 1')?.eitherDay).toBe(true)
  })

  describeValue('a frequency', CronExpression, {
    accepted: ['', '* * * * *', '0 0 1 1 *', ' 0  0\t1 1 7 ', '59 23 31 12 7', '0 0 1 jan sun'],
    refused: [
      ...NO_TEXT,
      ' ',
      '* * * *',
      '* * * * * *',
      '@daily',
      '60 * * * *',
      '* 24 * * *',
      '* * 0 * *',
      '* * 32 * *',
      '* * * 0 *',
      '* * * 13 *',
      '* * * * 8',
      '-1 * * * *',
      '1.5 * * * *',
      '5-1 * * * *',
      '*/0 * * * *',
      '1- * * * *',
      '-5 * * * *',
      '1,, * * * *',
      ', * * * *',
      '*-5 * * * *',
      '1/ * * * *',
      '1-2-3 * * * *',
      'jan * * * *',
      '* * * january *',
      '* * * mon *',
      '* * * * fri-mon',
      '? * * * *',
      '0 0 L * *',
      '0 0 1 1 *\n0 0 1 1 *',
      `${' '.repeat(256)}* * * * *`,
    ],
  })
})

describe('fold', () => {
  const TRICKY = [...'aZiIéÉßıİǅσςΣ日 \u0301\u0307\u0323']

  test.each([
    ['École', 'ÉCOLE'],
    ['École', 'E\u0301cole'],
    ['ΟΔΟΣ', 'οδος'],
    ['İzmir', 'izmir'],
    ['IZMIR', 'izmir'],
    ['straße', 'STRAßE'],
    ['\u212A', 'k'],
  ])('%j and %j are the same without case', (a, b) => {
    expect(fold(a)).toBe(fold(b))
  })

  test('a part of a text is found in it, wherever it ends', () => {
    expect(fold('ΟΔΟΣ ΑΘΗΝΑ')).toContain(fold('οδοσ'))
    expect(fold('ΟΔΟΣΑ')).toContain(fold('ΟΔΟΣ'))
  })

  test('folding again changes nothing', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), fc.string({ unit: fc.constantFrom(...TRICKY) })), (text) => {
        expect(fold(fold(text))).toBe(fold(text))
      }),
      { numRuns: 1000 },
    )
  })

  test('case makes no difference', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...TRICKY) }), (text) => {
        expect(fold(text.toLowerCase())).toBe(fold(text))
      }),
      RUNS,
    )
  })
})
