import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type FeedFetcher, type FeedRequest, type FetchedFeed, isWebAddress } from '@security-management/domain'

/** How long a source may take for all that it sends, in milliseconds. */
const TIMEOUT = 60_000

const MAX_REDIRECTS = 5
const REDIRECTS = [301, 302, 303, 307, 308]

/** The longest wish to be left alone that is believed, in milliseconds: a year. */
const MAX_WAIT = 366 * 24 * 60 * 60 * 1000

/** Fetches feeds: files from their paths, all else over HTTP. What is compressed with gzip is given uncompressed. */
export function createFeedFetcher({ timeout = TIMEOUT, now = Date.now } = {}): FeedFetcher {
  return {
    async fetch(request) {
      try {
        return await (isWebAddress(request.source) ? fetchFromWeb(request, timeout, now) : fetchFile(request))
      } catch (error) {
        return { outcome: 'failed', reason: reasonOf(error, timeout), earliest_refresh_at: null }
      }
    },
  }
}

/** A file is asked for like a page: its size and time of change stand for an entity tag. */
async function fetchFile({ source, etag: known }: FeedRequest): Promise<FetchedFeed> {
  const stats = await stat(source)
  if (!stats.isFile()) throw new Error('not a file')
  const etag = `"${stats.size}-${stats.mtimeMs}"`
  if (etag === known) return { outcome: 'unchanged', earliest_refresh_at: null }
  const content = uncompressed(createReadStream(source))
  return { outcome: 'fetched', etag, last_modified: stats.mtime.toUTCString(), earliest_refresh_at: null, content }
}

async function fetchFromWeb(request: FeedRequest, timeout: number, now: () => number): Promise<FetchedFeed> {
  const signal = AbortSignal.timeout(timeout)
  const response = await follow(request, signal)
  const { status, headers, body } = response
  const earliest_refresh_at = earliestRefresh(response, now())
  const isAsked = request.etag !== null || request.last_modified !== null
  if (status === 200) {
    const [etag, last_modified] = [headers.get('etag'), headers.get('last-modified')]
    const content = explained(uncompressed(body ?? []), timeout)
    return { outcome: 'fetched', etag, last_modified, earliest_refresh_at, content }
  }
  await body?.cancel()
  if (status === 304 && isAsked) return { outcome: 'unchanged', earliest_refresh_at }
  return { outcome: 'failed', reason: `the source answered ${status}`, earliest_refresh_at }
}

async function follow({ source, etag, last_modified }: FeedRequest, signal: AbortSignal): Promise<Response> {
  const headers = {
    'User-Agent': 'security-management',
    ...(etag !== null && { 'If-None-Match': etag }),
    ...(last_modified !== null && { 'If-Modified-Since': last_modified }),
  }
  let url = source
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetch(url, { headers, signal, redirect: 'manual' })
    const location = response.headers.get('location')
    if (!REDIRECTS.includes(response.status) || location === null) return response
    await response.body?.cancel()
    if (redirects === MAX_REDIRECTS) throw new Error(`more than ${MAX_REDIRECTS} redirects`)
    if (!URL.canParse(location, url)) throw new Error('a redirect to no URL')
    const next = new URL(location, url)
    if (!isWebAddress(next.href)) throw new Error('a redirect to what is neither http nor https')
    url = next.href
  }
}

/** When the source may be asked again by its own headers, ISO 8601; null for at once. */
function earliestRefresh({ status, headers }: Response, now: number): string | null {
  const wait = Math.min(MAX_WAIT, Math.max(retryAfter(headers, now), status < 400 ? freshFor(headers, now) : 0))
  return wait > 0 ? new Date(now + wait).toISOString() : null
}

function retryAfter(headers: Headers, now: number): number {
  const value = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1000
  return (Date.parse(value) || 0) - now
}

function freshFor(headers: Headers, now: number): number {
  const control = headers.get('cache-control') ?? ''
  if (/\bno-(?:cache|store)\b/i.test(control)) return 0
  const maxAge = /\bmax-age="?(\d+)/i.exec(control)?.[1]
  if (maxAge === undefined) return (Date.parse(headers.get('expires') ?? '') || 0) - now
  const age = /^\d+$/.exec(headers.get('age') ?? '')?.[0] ?? 0
  return (Number(maxAge) - Number(age)) * 1000
}

/** The bytes, uncompressed if they begin as gzip does. */
async function* uncompressed(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pieces = iterated(content)
  let start: Buffer = Buffer.alloc(0)
  while (start.length < 2) {
    const { done, value } = await pieces.next()
    if (done) break
    start = Buffer.concat([start, value])
  }
  async function* whole() {
    yield start
    yield* pieces
  }
  if (start[0] !== 0x1f || start[1] !== 0x8b) return yield* whole()
  const gunzip = createGunzip()
  // What fails on the way ends the stream that is read, with the error.
  pipeline(Readable.from(whole()), gunzip, () => {})
  yield* gunzip
}

async function* iterated(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  yield* content
}

async function* explained(content: AsyncIterable<Uint8Array>, timeout: number): AsyncGenerator<Uint8Array> {
  try {
    yield* content
  } catch (error) {
    throw new Error(reasonOf(error, timeout), { cause: error })
  }
}

/** What went wrong, in one line: the innermost message, which is the one that says something. */
function reasonOf(error: unknown, timeout: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `the source took longer than ${timeout / 1000} s`
  if (error instanceof AggregateError) return error.errors.map((inner) => reasonOf(inner, timeout)).join(', ')
  return error.cause instanceof Error ? reasonOf(error.cause, timeout) : error.message
}
