import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { formOf } from '../packages/adapters-http/src/testing/requests.ts'
import { byLength, bytesOf, headerOf, inChunks, type Message, setHeader } from './hostile-message.ts'
import type { Random } from './random.ts'

/** Changes a request in one way. @returns false where there is nothing that it could change. */
type Mutation = (message: Message, random: Random) => unknown

const wide = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join()}]`
const deep = (levels: number, open = '[', close = ']') => open.repeat(levels) + close.repeat(levels)
const words = (text: string) => text.trim().split(/\s+/)

/** JSON that no field expects, as text, since much of it is no value of JavaScript. */
const ODD_JSON: readonly string[] = [
  ...words(String.raw`
    null true false "" [] {} [[]] [null] [{}] [""] {"a":null} {"length":1} {"":1} {"a":1,"a":2} {"a":{"a":{"a":{}}}}
    {"__proto__":{"a":1}} {"__proto__":null} {"constructor":{"prototype":{"a":1}}} {"toString":1} {"\u0000":1} {"\ud800":1}
    0 -0 -1 1 0.5 1e400 -1e400 1e-400 1E+2 1e21 1e1000000000 01 +1 .5 1. NaN Infinity 0x10 1_0
    2147483648 4294967296 9007199254740991 9007199254740992 9007199254740993 -9007199254740993 9223372036854775808
    "\ud800" "\udc00\ud800" "\u0000" "a\u0000b" "\u202e\u200f\u2066" "\ufeff" "\uffff" "\u0085\u009f" "e\u0301" "😀"
    "\u0130\u0131\u017f\u1e9e\u03a3\u03c2" "\ufdfa\ufdfa\ufdfa" "한글" "\r\n" "\x41" "\u12" "\\" "%" "_" "@" "~" "." ".." "/"
    "a@b" "a@b.example" "A@B.EXAMPLE" "a@b\r\nBcc:c@d.e" "http://a" "javascript:alert(1)" "https://" "http://[::1" "//a"
    "http://a\\b" "file:///etc/passwd" "../../etc/passwd" "%2e%2e" "con" "$(id)" "{{7*7}}" "<script>" "'or(1=1)--"
    "__proto__" "constructor" "toString" "hasOwnProperty" "owner" "OWNER" "root" "@daily" "now"
    "2025-02-30" "2025-01-01T25:00:00Z" "+275760-09-13" "9999-12-31T23:59:59-23:59" "0000-01-01"
    "::1" "::ffff:1.2.3.4" "1.2.3" "0177.0.0.1" "fe80::1%eth0" "256.1.1.1" "xn--a" "a..b" "-a"
    "00000000-0000-0000-0000-000000000000" "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF"`),
  ...['" "', '"\t"', '"\n"', '"; rm -rf /"', '"\\"a b\\"@c.d"', '"* * * * *"', '"*/0 * * * *"', '"60 * * * *"'],
  ...['"* * * * * *"', `"${'*/1,'.repeat(60)}* * * * *"`, '9'.repeat(400), `0.${'9'.repeat(400)}`],
  ...[`"${'a'.repeat(254)}"`, `"${'a'.repeat(256)}"`, `"${'a'.repeat(10_001)}"`, `"${'😀'.repeat(255)}"`],
  ...[`"${'a'.repeat(65)}@b.c"`, `"a${'\u0301'.repeat(300)}"`, `{"${'k'.repeat(5000)}":1}`],
  ...[deep(31), deep(33), deep(5000), deep(20_000, '{"a":', '}').replace(':}', ':1}')],
  ...[wide(1000, '1'), wide(1001, '"a"'), wide(1001, '{}'), wide(20_000, '0'), wide(3000, '"\\ud800"')],
]

/** Where values stand in a JSON text: keys and values, numbers, literals. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|\[\]|\{\}/g

/** What a piece of a path, or a query parameter, may be, percent-encoded or badly so. */
const ODD_TEXTS = [
  ...words(`
    0 -1 1 1.0 1e3 01 0x1 +1 %201 1%20 2147483648 9007199254740991 9007199254740992 NaN null undefined true false id -id
    --id ID 1000 1001 + [] : @ * ~ ' %22 . .. %2e%2e %2E %2f %5c ..%2f.. %252f %25 ;a=b a;b {id} _ 2025-01-01 2025-02-30
    %00 %0a %0d%0aX-Injected:%201 %ff %c0%ae %c0%af %e0%80%af %ed%a0%80 %f4%90%80%80 % %2 %zz
    %f0%9f%98%80 %e2%80%ae e%cc%81 %c4%b0 %ef%bc%91 %ef%b7%ba __proto__ constructor toString
    00000000-0000-0000-0000-000000000000 FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF '%20or%201=1-- 1;drop%20table%20user`),
  ...['', '9'.repeat(20), '9'.repeat(400), 'a'.repeat(255), 'a'.repeat(4000), '%61'.repeat(300)],
]

const ODD_TYPES = [
  ...[
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'APPLICATION/JSON',
    'text/json',
  ],
  ...[
    'application/json; charset=utf-16',
    'application/json; charset=',
    'application/json;;;',
    'application/json, text/html',
  ],
  ...['application/x+json', '+json', 'a/b+json+json', 'text/plain', 'application/x-www-form-urlencoded', 'x', '/', ''],
  ...[
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="a',
  ],
  ...[
    `multipart/form-data; boundary=${'b'.repeat(5000)}`,
    'multipart/form-data; boundary=a; boundary=b',
    'multipart/mixed; boundary=a',
  ],
  ...[
    'application/x-ndjson',
    'application/jsonl',
    'multipart/form-data; boundary=a-boundary',
    'image/png',
    '\xff\xfe',
    'a'.repeat(9000),
  ],
]

const ODD_DISPOSITIONS = [
  ...[
    '',
    'attachment',
    'inline; filename=a',
    'form-data; name=a; filename=b',
    'attachment; filename=',
    'attachment; filename=""',
  ],
  ...[
    'attachment; filename="../../etc/passwd"',
    'attachment; filename="a\\"b"',
    'attachment; filename="',
    'attachment; filename=a b',
  ],
  ...[
    "attachment; filename*=UTF-8''%e2%82%ac",
    "attachment; filename*=UTF-8''%ff",
    "attachment; filename*=x''a",
    'attachment; filename*=a',
  ],
  ...[
    'attachment; filename="\xe2\x80\xaetxt.exe"',
    'attachment; filename="\xff\xfe"',
    `attachment; filename="${'n'.repeat(6000)}"`,
  ],
  ...[
    'ATTACHMENT; FILENAME=a',
    'attachment; filename=a; filename=b',
    'attachment; filename=".."',
    'attachment; filename="\t"',
    ';',
    '"',
  ],
  ...[
    "attachment; filename*=UTF-8''a%00b",
    "attachment; filename*=UTF-8''%0d%0aX-Injected%3a%201",
    'attachment; filename="con.txt"',
  ],
]

const ODD_RANGES = [
  '',
  '*',
  ...words('bytes=0-0 bytes=-1 bytes=5-1 bytes=0-999999999999 bytes=-0 bytes=a-b bytes=0-1,3-4'),
]

const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ...[...ODD_RANGES, `bytes=${'9'.repeat(400)}-`].map((value) => ['Range', value] as const),
  ...['*', '"", W/"a",,'].map((value) => ['If-None-Match', value] as const),
  ...['"nothing"', '*', '\xff'].map((value) => ['If-Match', value] as const),
  ...['a'.repeat(65), '<script>', `sms_${'A'.repeat(49)}`, '\xff\xfe'].map((value) => ['X-Request-Id', value] as const),
  ...['k'.repeat(5000), '\xff', ''].map((value) => ['Idempotency-Key', value] as const),
  ...['close', 'X-Service-Token', 'keep-alive, close'].map((value) => ['Connection', value] as const),
  ...['a'.repeat(15_000), 'a'.repeat(70_000), ''].map((value) => ['X-Long', value] as const),
  ['If-Range', '"a"'],
  ['If-Modified-Since', 'never'],
  ['Accept', 'text/html;q=1'],
  ['Accept-Encoding', 'gzip;q=0, *;q=0'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Forwarded-For', '127.0.0.1, \xff'],
  ['X-Forwarded-Host', 'evil.example'],
  ['X-Forwarded-Proto', 'gopher'],
  ['Forwarded', 'for="_secret";host=evil.example'],
  ['Host', 'other.example'],
  ['Origin', 'null'],
  ['Cookie', `a=${'b'.repeat(3000)}`],
  ['Authorization', 'Basic Og=='],
  ['Keep-Alive', 'timeout=0, max=0'],
  ['TE', 'trailers'],
  ['Trailer', 'X-Service-Token'],
  ['Upgrade', 'h2c'],
  ['HTTP2-Settings', 'AAMAAABkAARAAAAAAAIAAAAA'],
  ['Expect', '200-ok'],
  ['__proto__', 'x'],
  ['constructor', 'x'],
]

/** What ends the reading of a request, or makes it end elsewhere than its sender says. */
const ODD_FRAMES: readonly ((body: Buffer) => Buffer)[] = [
  ...[
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 5',
    'Content-Length: 3\r\nContent-Length: 4',
    'Content-Length: 3, 4',
    'Content-Length: -1',
    'Content-Length: +3',
    'Content-Length: 0x3',
    'Content-Length: 3.0',
    'Content-Length: 99999999999999999999',
    'Content-Length: 9007199254740993',
    'Content-Length: ',
    'Content-Length : 3',
    ' Content-Length: 3',
    'Content-Length: 3\nX: y',
    'Content_Length: 3',
    'Content-Length: 100000',
    'Content-Length: 1',
    'Transfer-Encoding: identity',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding:\x0bchunked',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'Transfer-Encoding: CHUNKED',
    'Transfer-Encoding: "chunked"',
    'X: a\r\n b',
    'X: a\rb',
    'X: a\0b',
    ': nothing',
    'no colon',
    '\xff\xfe: a',
  ].map((lines) => (body: Buffer) => Buffer.concat([Buffer.from(`${lines}\r\n\r\n`, 'latin1'), body])),
  ...[
    '-1',
    'zz',
    'ffffffffffffffffff',
    '7fffffffffffffff',
    '',
    ' 5',
    '5;x="',
    `5;${'e'.repeat(20_000)}`,
    '0x5',
    '+5',
  ].map(
    (size) => (body: Buffer) =>
      Buffer.concat([Buffer.from(`Transfer-Encoding: chunked\r\n\r\n${size}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]),
  ),
  (body) => Buffer.concat([Buffer.from('Transfer-Encoding: chunked\r\n\r\n'), body]),
  (body) => {
    const size = body.length.toString(16)
    const trailers = 'X-Service-Token: other\r\nContent-Length: 3\r\n'
    return Buffer.from(`Transfer-Encoding: chunked\r\n\r\n${size}\r\n${body}\r\n0\r\n${trailers}\r\n`)
  },
]

/** Another request in the body of one whose end is in doubt: its answer must not appear as that of somebody else. */
const SMUGGLED = 'GET /api/v1/me HTTP/1.1\r\nHost: a\r\n\r\n'

const METHODS = words('GET HEAD POST PUT DELETE PATCH OPTIONS TRACE PROPFIND LINK QUERY PURGE')
const ODD_METHODS = ['get', 'FROBNICATE', 'G\xcbT', 'GET\t', '', 'PRI', 'CONNECT', 'A'.repeat(3000), '{}']
const VERSIONS = ['', ...words('HTTP/1.0 HTTP/0.9 HTTP/2.0 HTTP/1.9 HTTP/1 http/1.1 HTTP/11 HTTPS/1.1 ICE/1.0')]

const ENCODERS: { [name: string]: (body: Buffer) => Buffer } = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
}

/** Few bytes that inflate to so many MiB of white space: members of gzip one after the other, as the format allows. */
function bomb(mib: number): Buffer {
  const member = gzipSync(Buffer.alloc(1024 * 1024, 0x20), { level: 9 })
  return Buffer.concat(Array.from({ length: mib }, () => member))
}
/** More than a JSON body may be, more than a framework may be, more than a traffic file may be. */
const BOMBS = [2, 24, 300].map(bomb)

/** Bytes exchanged, added, taken away, doubled or thrown into confusion. */
function scrambled(bytes: Buffer, random: Random): Buffer {
  const at = random.between(0, bytes.length)
  const end = Math.min(bytes.length, at + random.between(1, 16))
  const [before, piece, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)]
  const odd = Buffer.from(
    random.pick(['\xff\xfe', '\xc0\x80', '\xed\xa0\x80', '\0', '\r\n', '\r\n\r\n', '"', '}', '--', '\x1b']),
    'latin1',
  )
  switch (random.between(0, 4)) {
    case 0:
      return Buffer.concat([before, random.bytes(piece.length), after])
    case 1:
      return Buffer.concat([before, odd, piece, after])
    case 2:
      return Buffer.concat([before, after])
    case 3:
      return Buffer.concat([before, piece, piece, piece, after])
    default:
      return before
  }
}

function setBody(message: Message, body: Buffer): void {
  message.body = body
  message.json = undefined
}

const bodyOf = ({ json, body }: Message) => (json === undefined ? body : Buffer.from(json))

/** Every way to spoil a request, by the name under which it is counted. */
const MUTATIONS: { [name: string]: Mutation } = {
  'a value of the JSON'(message, random) {
    if (message.json === undefined) return false
    const places = [...message.json.matchAll(TOKEN)]
    if (places.length === 0) return false
    const { 0: text, index } = random.pick(places)
    message.json = message.json.slice(0, index) + random.pick(ODD_JSON) + message.json.slice(index + text.length)
  },
  'the whole JSON'(message, random) {
    if (message.json === undefined) return false
    message.json = random.pick([
      ...ODD_JSON,
      '',
      ' ',
      '{',
      '[1,',
      '"',
      '// a\n{}',
      '\ufeff{}',
      '{}{}',
      '{"a":1,}',
      "{'a':1}",
    ])
  },
  'a key more'(message, random) {
    if (!message.json?.includes('{')) return false
    const keys = [...message.json.matchAll(/"(?:[^"\\]|\\.)*"(?=\s*:)/g)].map(([key]) => key)
    const key = random.pick([
      ...keys,
      '"__proto__"',
      '"constructor"',
      '"id"',
      '"atb_key"',
      '"check"',
      '"removed_at"',
      '""',
    ])
    const place = random.pick([...message.json.matchAll(/\{/g)]).index + 1
    const rest = message.json.slice(place)
    const comma = rest.trimStart().startsWith('}') ? '' : ','
    message.json = `${message.json.slice(0, place)}${key}:${random.pick(ODD_JSON)}${comma}${rest}`
  },
  'an item many times'(message, random) {
    if (!message.json?.includes('[')) return false
    const place = random.pick([...message.json.matchAll(/\[/g)]).index + 1
    const rest = message.json.slice(place)
    const items = `${random.pick(ODD_JSON.filter((text) => text.length < 300))},`.repeat(random.pick([1, 1001, 5000]))
    message.json = message.json.slice(0, place) + (rest.trimStart().startsWith(']') ? items.slice(0, -1) : items) + rest
  },
  'bytes of the body'(message, random) {
    const body = bodyOf(message)
    if (body.length === 0) return false
    setBody(message, scrambled(body, random))
  },
  'a body where none belongs'(message, random) {
    if (bodyOf(message).length > 0) return false
    setBody(message, random.pick([Buffer.from('{}'), random.bytes(random.between(1, 5000)), Buffer.from(SMUGGLED)]))
  },
  'the content type': (message, random) => setHeader(message, 'Content-Type', random.pick(ODD_TYPES)),
  'no content type'(message) {
    message.headers = message.headers.filter(([name]) => name.toLowerCase() !== 'content-type')
  },
  'a content encoding'(message, random) {
    const [name, encode] = random.pick(Object.entries(ENCODERS))
    setHeader(message, 'Content-Encoding', name)
    setBody(message, encode(bodyOf(message)))
    if (random.between(0, 1)) setBody(message, scrambled(message.body, random))
  },
  'a wrong content encoding'(message, random) {
    const names = ['gzip', 'br', 'deflate', 'identity', 'gzip, gzip', 'zstd', 'compress', '*', '', 'GZIP', 'gzip;q=1']
    setHeader(message, 'Content-Encoding', random.pick(names))
    if (random.between(0, 1)) setBody(message, deflateRawSync(bodyOf(message)))
  },
  'a bomb'(message, random) {
    setHeader(message, 'Content-Encoding', 'gzip')
    setBody(message, random.pick(BOMBS))
  },
  'another form'(message, random) {
    if (!message.form) return false
    const content = bodyOf(message)
    const fieldName = random.pick(['data', 'data', 'other', '', '__proto__', 'data"; filename="x'])
    const headers = random.pick([
      [],
      ['Content-Type: application/json'],
      ['Content-Transfer-Encoding: base64'],
      ['Content-Transfer-Encoding: quoted-printable'],
      ['Content-Disposition: form-data; name="data"'],
      [': x'],
      ['x'],
      [`X: ${'a'.repeat(20_000)}`],
      Array.from({ length: 2000 }, (_, index) => `X-${index}: a`),
    ])
    const part = { name: fieldName, headers, content }
    const many = { name: 'data', content: '{}' }
    const parts = random.pick([[], [part], [part, part], Array.from({ length: 5000 }, () => many), [{ content }]])
    const { body } = formOf(parts)
    setHeader(message, 'Content-Type', 'multipart/form-data; boundary=a-boundary')
    setBody(message, random.between(0, 1) ? scrambled(body, random) : body)
  },
  'bytes of the form'(message, random) {
    if (!message.form) return false
    const { body } = formOf([{ name: 'data', content: bodyOf(message) }])
    setHeader(message, 'Content-Type', 'multipart/form-data; boundary=a-boundary')
    setBody(message, scrambled(body, random))
  },
  'a header': (message, random) => message.headers.push([...random.pick(ODD_HEADERS)]),
  'a header twice': (message, random) => message.headers.push([...random.pick(message.headers)]),
  'a thousand headers'(message, random) {
    const count = random.pick([100, 900, 3000])
    for (let index = 0; index < count; index += 1) message.headers.push([`X-${index}`, ''])
  },
  'the description of the file'(message, random) {
    if (headerOf(message, 'Content-Disposition') === undefined) return false
    setHeader(message, 'Content-Disposition', random.pick(ODD_DISPOSITIONS))
  },
  'the token'(message, random) {
    const token = headerOf(message, 'X-Service-Token') ?? ''
    const odd = [
      '',
      ' ',
      'sms_',
      `${token}, ${token}`,
      `${token}a`,
      token.slice(1),
      token.toUpperCase(),
      '\xff',
      'a'.repeat(5000),
    ]
    setHeader(message, 'X-Service-Token', random.pick(odd))
  },
  'the token in the query'(message, random) {
    const token = headerOf(message, 'X-Service-Token') ?? ''
    if (random.between(0, 1)) message.headers = message.headers.filter(([name]) => name !== 'X-Service-Token')
    const query = random.pick(['X-Service-Token', 'x-service-token', 'X%2dService%2dToken', 'X-Service-Token[]'])
    addToQuery(message, `${query}=${random.pick([token, `${token}%00`, '', '%ff', `${token}&${query}=${token}`])}`)
  },
  'the query'(message, random) {
    const count = random.pick([1, 1, 1, 2, 3, 500])
    for (let index = 0; index < count; index += 1) {
      const name = random.pick([...QUERY_NAMES, ...ODD_TEXTS])
      addToQuery(message, random.between(0, 5) ? `${name}=${random.pick(ODD_TEXTS)}` : name)
    }
  },
  'a piece of the path'(message, random) {
    const [path = '', ...query] = message.target.split('?')
    const pieces = path.split('/')
    const place = random.between(1, pieces.length - 1)
    pieces[place] = random.pick(ODD_TEXTS)
    message.target = [pieces.join('/'), ...query].join('?')
  },
  'the form of the path'(message, random) {
    const target = message.target
    message.target = random.pick([
      `${target}/`,
      `/${target}`,
      target.replaceAll('/', '//'),
      `http://localhost${target}`,
      `HTTPS://u:p@evil.example:1${target}`,
      target.replace('/api', '/./api'),
      target.replace('/v1', '/v1/../v1'),
      target.replace('/v1', '/v1/%2e%2e/v1'),
      target.toUpperCase(),
      encodeURIComponent(target),
      target.replace('a', '%61'),
      `${target}%00`,
      `${target};a=b`,
      `${target}#a`,
      `${target}?`,
      `${target}\\`,
      '*',
      '/',
      'localhost:80',
      'api/v1/me',
      `${target}\xe9`,
      `${target}/${'a/'.repeat(4000)}`,
    ])
  },
  'a target that is none'(message, random) {
    message.target = random.pick([
      '',
      `${message.target} `,
      `${message.target} x`,
      `${message.target}\t`,
      '\0',
      '"',
      '<>',
      '\x7f',
    ])
    message.expected = 'some'
  },
  'another method'(message, random) {
    message.method = random.pick(METHODS)
  },
  'a method that is none'(message, random) {
    message.method = random.pick(ODD_METHODS)
    message.expected = 'some'
  },
  'another version'(message, random) {
    message.version = random.pick(VERSIONS)
    message.expected = 'some'
  },
  chunks(message, random) {
    const chunks = random.fork()
    message.frame = (body) => inChunks(body, chunks)
  },
  'another end of the body'(message, random) {
    const frame = random.pick(ODD_FRAMES)
    const smuggled = random.between(0, 1) ? SMUGGLED : ''
    message.frame = (body) => Buffer.concat([frame(body), Buffer.from(smuggled)])
    message.expected = 'some'
  },
  'a body that waits'(message) {
    message.headers.push(['Expect', '100-continue'])
  },
  'the sender goes away'(message, random) {
    message.cut = random.between(0, bytesOf({ ...message, frame: byLength }).length)
    message.expected = 'some'
  },
  'bytes of all of it'(message, random) {
    message.raw = scrambled(bytesOf(message), random)
    message.expected = 'some'
  },
}

const QUERY_NAMES = [
  '',
  ...words(`
    limit offset order ordering organization organization_id service created_from created_to search read type name editable
    owned sectors sectors[] industries[] role from to value bucket kind limit[] limit[a] x __proto__ constructor`),
]

function addToQuery(message: Message, text: string): void {
  message.target += `${message.target.includes('?') ? '&' : '?'}${text}`
}

const NAMES = Object.keys(MUTATIONS)

/** Spoils a request in one to three ways. */
export function mutate(message: Message, random: Random): void {
  const count = random.pick([1, 1, 1, 2, 2, 3])
  for (let tries = 0; message.done.length < count && tries < 50; tries += 1) {
    // Of JSON there is more to spoil than of anything else.
    const name = random.between(0, 3) ? random.pick(NAMES) : 'a value of the JSON'
    if (message.done.includes(name) || message.done.includes('bytes of all of it')) continue
    // Rarely, since each keeps the server busy for long.
    if (name === 'a bomb' && random.between(0, 20) > 0) continue
    if (MUTATIONS[name]?.(message, random) !== false) message.done.push(name)
  }
}
