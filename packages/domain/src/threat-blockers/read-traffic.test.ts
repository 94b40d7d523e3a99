import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { systemSurroundings } from '../memory/index.ts'
import { readTraffic } from './read-traffic.ts'
import { readTrafficLine, type TrafficLine, type UnreadableLine } from './traffic-line.ts'

type Line = TrafficLine | UnreadableLine

async function* inPieces(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0
  for (let turn = 0; from < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    yield bytes.subarray(from, from + size)
    from += size
  }
}

async function linesOf(file: string | Uint8Array, sizes: readonly number[] = [65_536]): Promise<Line[]> {
  const bytes = typeof file === 'string' ? Buffer.from(file) : file
  const lines: Line[] = []
  for await (const line of readTraffic(systemSurroundings().newUtf8Decoder(), inPieces(bytes, sizes))) lines.push(line)
  return lines
}

/** What became of a file: its lines, or that it was refused. */
async function outcomeOf(file: string | Uint8Array, sizes?: readonly number[]): Promise<Line[] | 'refused'> {
  try {
    return await linesOf(file, sizes)
  } catch (error) {
    expect(error).toMatchObject({ name: 'DomainError', code: 'invalid' })
    return 'refused'
  }
}

const CLF = '192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a?b=\\"c\\" HTTP/1.1" 200 12'
const LINES = [
  { timestamp: '2026-02-01T00:00:00Z', verdict: 'blocked', path: '/[{"\\' },
  { timestamp: 'never' },
  CLF,
  42,
  null,
  [],
  [1, [2], { data: [3] }],
  { ts: 1431857103, data: { lines: [] }, nested: { records: [1, 2] } },
  'é日本🛡️ "quoted" \\ back',
]
const READ = LINES.map(readTrafficLine)

describe('the shapes of a traffic file', () => {
  test.each([
    ['an array', JSON.stringify(LINES)],
    ['an array over several rows', JSON.stringify(LINES, null, 2)],
    ['an array after a byte order mark and white space', `\uFEFF \r\n\t${JSON.stringify(LINES)}\r\n`],
    ...['lines', 'logs', 'events', 'entries', 'records', 'data'].map((key): [string, string] => [
      `an object around “${key}”`,
      JSON.stringify({ version: 1, note: 'lines": [', [key]: LINES, total: 9, more: { data: [1] } }),
    ]),
    [
      'an object around “lines” over several rows',
      JSON.stringify({ a: [1, { b: [] }], lines: LINES, z: '}]' }, null, 2),
    ],
    ['one value a row', LINES.map((line) => JSON.stringify(line)).join('\n')],
    [
      'one value a row, with carriage returns and empty rows',
      LINES.map((line) => `${JSON.stringify(line)}\r\n\r\n`).join(''),
    ],
  ])('%s', async (_, file) => {
    expect(await linesOf(file)).toEqual(READ)
  })

  test('one line alone', async () => {
    expect(await linesOf(JSON.stringify(LINES[0]))).toEqual([READ[0]])
    expect(await linesOf(`${JSON.stringify(LINES[0], null, 2)}\n\n`)).toEqual([READ[0]])
    expect(await linesOf('{}')).toEqual([{ reason: 'no time' }])
  })

  test('no lines at all', async () => {
    expect(await linesOf('[]')).toEqual([])
    expect(await linesOf(' [ \n ] ')).toEqual([])
    expect(await linesOf('{"lines":[]}')).toEqual([])
  })

  test('an object whose array lies deeper, or has another name, is a line', async () => {
    expect(await linesOf('{"ts":1431857103,"items":[1,2]}')).toHaveLength(1)
    expect(await linesOf('{"ts":1431857103,"a":{"lines":[1,2]}}')).toHaveLength(1)
    expect(await linesOf('{"ts":1431857103,"a":"lines","b":[1,2]}')).toHaveLength(1)
    expect(await linesOf('{"ts":1431857103,"lines":"none"}')).toHaveLength(1)
  })

  test('a row that is no JSON is a line that cannot be read; the others are', async () => {
    expect(await linesOf('{"ts":1431857103}\n{"ts":\nnot json\n{"ts":1431857103}')).toEqual([
      { time: 1431857103000, malicious: false },
      { reason: 'no JSON' },
      { reason: 'no JSON' },
      { time: 1431857103000, malicious: false },
    ])
  })

  test('a row that is too long is a line that cannot be read; the others are', async () => {
    const long = JSON.stringify({ ts: 1431857103, pad: 'x'.repeat(1024 * 1024) })
    const file = ['{"ts":1431857103}', long, '{"ts":1431857104}'].join('\n')
    const expected = [
      { time: 1431857103000, malicious: false },
      { reason: 'longer than 1048576 characters' },
      { time: 1431857104000, malicious: false },
    ]
    expect(await linesOf(file)).toEqual(expected)
    expect(await linesOf(file, [100_000])).toEqual(expected)
  })
})

describe('a file that is none of the shapes is refused', () => {
  const line = '{"ts":1431857103}'
  test.each([
    [''],
    ['   \n\t '],
    ['\uFEFF'],
    ['null'],
    ['42'],
    ['true'],
    ['"text"'],
    [`"${'x'.repeat(100)}"\n`],
    ['not json'],
    ['not json\nnot json either'],
    ['<html></html>'],
    ['['],
    [']'],
    ['{'],
    ['}'],
    ['[,]'],
    ['[1,]'],
    ['[,1]'],
    ['[1,,2]'],
    ['[1 2]'],
    ['[1}'],
    ['[1]]'],
    ['[1],'],
    ['[1] [2]'],
    ['[1]\n[2]'],
    ['[tru]'],
    ["['a']"],
    ['["a]'],
    ['[{"a":1]'],
    ['[{"a":[}]]'],
    ['[{"a":1},'],
    ['[{"a":1}'],
    ['[// comment\n1]'],
    ['{"a":1'],
    ['{"a":"1}'],
    ['{"a":1,}'],
    ['{a:1}'],
    ['{"a":1} {"b":2}'],
    ['{"a":1} x'],
    ['{"lines":[1,2}'],
    ['{"lines":[1,2]'],
    ['{"lines":[1,2],'],
    ['{"lines":[1,2]]'],
    ['{"lines":[1,2]}}'],
    ['{"lines":[1,2]} x'],
    ['{"lines":[1,2],"records":[3]}'],
    ['{"lines":[1,2],"lines":[3]}'],
    ['{"lines":[1,2],}'],
    ['{"lines":[1,2] "a":1}'],
    ['{"lines":[1,2],"a":tru}'],
    ['{"lines":[1,2],@@@}'],
    ['{"a":tru,"lines":[1,2]}'],
    ['{"a" 1,"lines":[1,2]}'],
    ['{,"lines":[1,2]}'],
    ['{"a":[1,"lines":[1,2]}'],
    [`{"lines":[${line}],"a":{"b":]}`],
  ])('%j', async (file) => {
    expect(await outcomeOf(file)).toBe('refused')
    expect(await outcomeOf(file, [1])).toBe('refused')
  })

  test('a value that is too long for one line', async () => {
    const long = 'x'.repeat(1024 * 1024 + 1)
    expect(await outcomeOf(`["${long}"]`)).toBe('refused')
    expect(await outcomeOf(`["${long}"]`, [65_536])).toBe('refused')
    expect(await outcomeOf(`{"ts":"${long}"}`, [65_536])).toBe('refused')
    expect(await outcomeOf(long, [65_536])).toBe('refused')
    expect(await outcomeOf(`"${long}"\n{"ts":1431857103}`, [2_000_000])).toBe('refused')
  })
})

describe('a file in pieces', () => {
  const json = fc.jsonValue({ maxDepth: 3 })
  const rows = fc.array(json, { maxLength: 6 })
  const spaces = fc.constantFrom('', ' ', '\n', '\r\n\t')
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
  const RUNS = { numRuns: 100 }

  test('an array has the lines of the whole text, whatever the pieces', async () => {
    await fc.assert(
      fc.asyncProperty(rows, spaces, fc.constantFrom(0, 2), sizes, async (values, space, indent, pieces) => {
        const file = space + JSON.stringify(values, null, indent) + space
        const expected = (JSON.parse(file) as unknown[]).map(readTrafficLine)
        expect(await linesOf(file)).toEqual(expected)
        expect(await linesOf(file, pieces)).toEqual(expected)
      }),
      RUNS,
    )
  })

  test('so has an object around an array', async () => {
    // Another key of the wrappers' names would make a second array of lines.
    const others = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'line', 'Lines', '"', '\\'), json, {
      maxKeys: 3,
    })
    await fc.assert(
      fc.asyncProperty(
        rows,
        others,
        others,
        fc.constantFrom(0, 2),
        sizes,
        async (lines, before, after, indent, pieces) => {
          const file = JSON.stringify({ ...before, data: lines, ...after }, null, indent)
          expect(await linesOf(file, pieces)).toEqual(
            (JSON.parse(file) as { data: unknown[] }).data.map(readTrafficLine),
          )
        },
      ),
      RUNS,
    )
  })

  test('so has one value a row', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(fc.string(), json), { minLength: 2, maxLength: 6 }),
        spaces,
        sizes,
        async (values, space, pieces) => {
          fc.pre(!Object.entries(values[0] ?? {}).some(([, value]) => Array.isArray(value)))
          const file = values.map((value) => JSON.stringify(value) + space).join('\n')
          expect(await linesOf(file, pieces)).toEqual(values.map(readTrafficLine))
        },
      ),
      RUNS,
    )
  })

  test('a text that is no JSON at all is no array either, and pieces make no difference', async () => {
    const tokens = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"',
      '\\',
      '1',
      'true',
      '"a"',
      '"lines"',
      '{"ts":1}',
      ' ',
      '\n',
      'x',
    )
    const texts = fc.array(tokens, { maxLength: 12 }).map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          texts,
          texts.map((text) => `[${text}]`),
          texts.map((text) => `{"lines":[1],${text}`),
        ),
        sizes,
        async (file, pieces) => {
          const whole = await outcomeOf(file)
          expect(await outcomeOf(file, pieces)).toEqual(whole)
          if (whole === 'refused' || !/^\s*(?:\[|\{"lines":)/.test(file)) return
          const value: unknown = JSON.parse(file)
          const lines = Array.isArray(value) ? value : (value as { lines: unknown[] }).lines
          expect(whole).toEqual(lines.map(readTrafficLine))
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('characters of several bytes may be cut anywhere', async () => {
    const file = JSON.stringify(LINES)
    for (const size of [1, 2, 3, 5, 7]) expect(await linesOf(file, [size])).toEqual(READ)
  })

  test('bytes that are no UTF-8 do not fail the file', async () => {
    const bytes = Buffer.concat([Buffer.from('[{"ts":1431857103,"a":"'), Buffer.from([0xff, 0xc3]), Buffer.from('"}]')])
    expect(await linesOf(bytes, [1])).toEqual([{ time: 1431857103000, malicious: false }])
  })

  test('a large file is read in pieces, its lines as they come', async () => {
    const count = 20_000
    async function* endless() {
      yield Buffer.from('[{"ts":1431857103}')
      const piece = Buffer.from(',{"ts":1431857103,"verdict":"blocked"}'.repeat(100))
      for (let sent = 0; sent < count; sent += 100) yield piece
      yield Buffer.from(']')
    }
    let lines = 0
    for await (const line of readTraffic(systemSurroundings().newUtf8Decoder(), endless())) {
      expect('time' in line).toBe(true)
      lines += 1
    }
    expect(lines).toBe(count + 1)
  })
})
