import { utimes, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { FetchedFeed } from '@security-management/domain'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createFeedFetcher } from '../src/feed-fetcher.ts'
import { temporaryDirectory } from './support/program.ts'
import { startWebServer } from './support/web-server.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const LIST = '192.0.2.1\n192.0.2.2\n'

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let web: Awaited<ReturnType<typeof startWebServer>> | undefined

beforeAll(async () => {
  directory = await temporaryDirectory()
})
afterAll(() => directory.remove())
afterEach(() => web?.stop())

const fetcher = createFeedFetcher({ timeout: 2000, now: () => NOW })

function fetchFrom(source: string, known: { etag?: string; last_modified?: string } = {}) {
  return fetcher.fetch({ source, etag: null, last_modified: null, ...known })
}

async function fetchAnswered(answer: RequestListener, known = {}, path = '/list.txt') {
  web = await startWebServer(answer)
  return fetchFrom(`${web.url}${path}`, known)
}

async function textOf(fetched: FetchedFeed): Promise<string> {
  if (fetched.outcome !== 'fetched') throw new Error(`Nothing was fetched: ${JSON.stringify(fetched)}`)
  const pieces: Uint8Array[] = []
  for await (const piece of fetched.content) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

describe('a feed on the web', () => {
  test('is fetched with what identifies it, and asked for by that the next time', async () => {
    const answer: RequestListener = (request, response) => {
      response.setHeader('ETag', '"v1"').setHeader('Last-Modified', 'Sun, 01 Mar 2026 11:00:00 GMT')
      if (request.headers['if-none-match'] === '"v1"') response.writeHead(304).end()
      else response.end(LIST)
    }
    const first = await fetchAnswered(answer)
    const known = { etag: '"v1"', last_modified: 'Sun, 01 Mar 2026 11:00:00 GMT' }
    expect(first).toMatchObject({ outcome: 'fetched', earliest_refresh_at: null, ...known })
    expect(await textOf(first)).toBe(LIST)
    const source = `${web?.url}/list.txt`
    expect(await fetchFrom(source, known)).toEqual({ outcome: 'unchanged', earliest_refresh_at: null })
    expect(web?.requests.map(({ headers }) => [headers['if-none-match'], headers['if-modified-since']])).toEqual([
      [undefined, undefined],
      ['"v1"', 'Sun, 01 Mar 2026 11:00:00 GMT'],
    ])
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('is given uncompressed when it is sent with Content-Encoding %s', async (encoding, compress) => {
    const answer: RequestListener = (_request, response) => {
      response.setHeader('Content-Encoding', encoding).end(compress(LIST))
    }
    expect(await textOf(await fetchAnswered(answer))).toBe(LIST)
  })

  test.each([
    ['a gzip file', gzipSync(LIST)],
    ['a gzip file of two parts', Buffer.concat([gzipSync('192.0.2.1\n'), gzipSync('192.0.2.2\n')])],
  ])('is given uncompressed when it is %s, with and without an encoding around it', async (_case, file) => {
    expect(await textOf(await fetchAnswered((_request, response) => void response.end(file)))).toBe(LIST)
    await web?.stop()
    const twice: RequestListener = (_request, response) => {
      response.setHeader('Content-Encoding', 'gzip').end(gzipSync(file))
    }
    expect(await textOf(await fetchAnswered(twice))).toBe(LIST)
  })

  test.each([
    ['', ''],
    ['\x1f', '\x1f'],
    ['a', 'a'],
  ])('of less than two bytes is given as it is: "%s"', async (sent, text) => {
    expect(await textOf(await fetchAnswered((_request, response) => void response.end(sent)))).toBe(text)
  })

  test('that is a gzip bomb can be left in the middle, and the connection is closed', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const fetched = await fetchAnswered((_request, response) => void response.end(bomb))
    let seen = 0
    if (fetched.outcome === 'fetched') {
      for await (const piece of fetched.content) {
        seen += piece.length
        if (seen > 100_000) break
      }
    }
    expect(seen).toBeLessThan(1_000_000)
  })

  test('that breaks off, or is broken gzip, fails while it is read', async () => {
    const torn = await fetchAnswered((_request, response) => {
      response.setHeader('Content-Length', '1000').write(LIST)
      setTimeout(() => response.destroy(), 50)
    })
    await expect(textOf(torn)).rejects.toThrow()
    await web?.stop()
    const cut = await fetchAnswered((_request, response) => void response.end(gzipSync(LIST).subarray(0, 20)))
    await expect(textOf(cut)).rejects.toThrow('unexpected end of file')
  })

  test.each([
    ['Cache-Control', 'max-age=3600', '2026-03-01T13:00:00.000Z'],
    ['Cache-Control', 'public, max-age="60", immutable', '2026-03-01T12:01:00.000Z'],
    ['Cache-Control', 'max-age=99999999999999999999', '2027-03-02T12:00:00.000Z'],
    ['Cache-Control', 'no-cache, max-age=3600', null],
    ['Cache-Control', 'max-age=0', null],
    ['Expires', 'Sun, 01 Mar 2026 12:30:00 GMT', '2026-03-01T12:30:00.000Z'],
    ['Expires', '0', null],
    ['Retry-After', '120', '2026-03-01T12:02:00.000Z'],
  ])('that says %s: %s is not asked before %s', async (header, value, earliest_refresh_at) => {
    const fetched = await fetchAnswered((_request, response) => void response.setHeader(header, value).end(LIST))
    expect(fetched).toMatchObject({ outcome: 'fetched', earliest_refresh_at })
    await textOf(fetched)
  })

  test('that lay in a cache for a while may be asked that much earlier', async () => {
    const fetched = await fetchAnswered((_request, response) => {
      response.setHeader('Cache-Control', 'max-age=3600').setHeader('Age', '600').end(LIST)
    })
    expect(fetched.earliest_refresh_at).toBe('2026-03-01T12:50:00.000Z')
    await textOf(fetched)
  })

  test.each([
    [404, {}, null],
    [500, { 'Cache-Control': 'max-age=3600' }, null],
    [429, { 'Retry-After': '600' }, '2026-03-01T12:10:00.000Z'],
    [503, { 'Retry-After': 'Sun, 01 Mar 2026 14:00:00 GMT' }, '2026-03-01T14:00:00.000Z'],
    [304, {}, null],
  ])('that answers %d fails, and says when to come again if it does', async (status, headers, earliest_refresh_at) => {
    const fetched = await fetchAnswered((_request, response) => void response.writeHead(status, headers).end())
    expect(fetched).toEqual({ outcome: 'failed', reason: `the source answered ${status}`, earliest_refresh_at })
  })

  test('is followed through five redirects, relative ones too, and no further', async () => {
    const answer: RequestListener = ({ url = '' }, response) => {
      const left = Number(url.slice(1))
      if (left > 0) response.writeHead(302, { Location: `./${left - 1}` }).end('moved')
      else response.end(LIST)
    }
    expect(await textOf(await fetchAnswered(answer, {}, '/5'))).toBe(LIST)
    await web?.stop()
    expect(await fetchAnswered(answer, {}, '/6')).toMatchObject({ outcome: 'failed', reason: 'more than 5 redirects' })
  })

  test.each(['file:///etc/passwd', 'ftp://feeds.example/', 'http://me:secret@127.0.0.1/', 'http://['])(
    'is not followed to %s',
    async (location) => {
      const fetched = await fetchAnswered((_request, response) => {
        response.writeHead(302, { Location: location }).end()
      })
      expect(fetched).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/^a redirect to /) })
    },
  )

  test('that does not answer, or not to its end, is given up', async () => {
    const impatient = createFeedFetcher({ timeout: 200 })
    web = await startWebServer(({ url }, response) => {
      if (url === '/half') response.write('192.0.2.1\n')
    })
    const request = { etag: null, last_modified: null }
    const reason = 'the source took longer than 0.2 s'
    const silent = await impatient.fetch({ ...request, source: `${web.url}/silent` })
    expect(silent).toEqual({ outcome: 'failed', reason, earliest_refresh_at: null })
    const half = await impatient.fetch({ ...request, source: `${web.url}/half` })
    await expect(textOf(half)).rejects.toThrow(reason)
  })

  test('on a server that is not there fails with one line', async () => {
    const { outcome, ...rest } = await fetchFrom('http://127.0.0.1:1/list.txt')
    expect({ outcome, ...rest }).toMatchObject({ outcome: 'failed', reason: expect.any(String) })
  })
})

describe('a feed in a file', () => {
  async function fileOf(name: string, content: string | Buffer): Promise<string> {
    const path = join(directory.path, name)
    await writeFile(path, content)
    return path
  }

  test('is read, compressed or not, and again once it has changed', async () => {
    const path = await fileOf('list.txt', LIST)
    const first = await fetchFrom(path)
    expect(await textOf(first)).toBe(LIST)
    const etag = first.outcome === 'fetched' ? (first.etag ?? '') : ''
    expect(await fetchFrom(path, { etag })).toEqual({ outcome: 'unchanged', earliest_refresh_at: null })
    await utimes(path, new Date(), new Date(0))
    expect(await textOf(await fetchFrom(path, { etag }))).toBe(LIST)
    expect(await textOf(await fetchFrom(await fileOf('list.gz', gzipSync(LIST))))).toBe(LIST)
  })

  test('that is not there, or is no file, fails with one line', async () => {
    const missing = await fetchFrom(join(directory.path, 'missing.txt'))
    expect(missing).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/^ENOENT/) })
    expect(await fetchFrom(directory.path)).toMatchObject({ outcome: 'failed', reason: 'not a file' })
  })
})
