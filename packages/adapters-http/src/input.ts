import type { IncomingMessage } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { bounded, DomainError, invalid } from '@security-management/domain'
import { parse as parseContentDisposition } from 'content-disposition'
import type Koa from 'koa'
import { koaBody } from 'koa-body'
import { clientGone, close, end, ending } from './close.ts'
import type { Context } from './context.ts'
import { parseJson } from './json.ts'
import { arriving, deadline, keeping } from './pace.ts'
import { PIECE, release } from './pieces.ts'
import type { Limits, Route, Upload, UploadKind } from './route.ts'

/** What a request carries beside its path and query. */
export type Input = {
  /** JSON, as it came; none where there is no body. */
  text?: Uint8Array
  upload?: Upload
}

/** Bounds of a body: bytes, inflated, and milliseconds for all of it where it is no file. */
export type Bounds = { limits: Limits; requestTimeout: number }

/**
 * Reads the body that a route asks for: JSON as its text, a file as a stream that is read later.
 *
 * @throws DomainError `invalid` (type, encoding, form), `too_large`, `too_slow`, `too_many_requests` (see `Hold`).
 */
export async function readInput(ctx: Context, route: Route, { limits, requestTimeout }: Bounds): Promise<Input> {
  if (route.upload) return { upload: readUpload(ctx, route.upload, limits[route.upload]) }
  if (!route.body || (route.bodyMayBeMissing && !hasBody(ctx.req))) return {}
  const bounds = { limit: limits[route.limit ?? 'json'], requestTimeout }
  const isForm = route.formats === 'json+multipart' && mediaTypeOf(ctx) === 'multipart/form-data'
  return { text: isForm ? await readDataPart(ctx, bounds) : await readJson(ctx, route, bounds) }
}

/**
 * The value of the JSON that came; an empty object where none came and that is allowed.
 *
 * @throws DomainError `invalid`.
 */
export async function bodyOf(route: Route, { text }: Input): Promise<unknown> {
  if (!route.body) return undefined
  return text ? parseJson(text, MAX_VALUES[route.limit ?? 'json']) : {}
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Of one JSON body: bytes, inflated, and milliseconds. */
type JsonBounds = { limit: number; requestTimeout: number }

async function readJson(ctx: Context, { formats }: Route, bounds: JsonBounds): Promise<Uint8Array> {
  if (!isJson(mediaTypeOf(ctx))) {
    const alternative = formats === 'json+multipart' ? ', or multipart/form-data with a part named data' : ''
    throw invalid('Content-Type', `Must be application/json or another +json type${alternative}`)
  }
  requireUtf8(ctx)
  return collect(contentOf(ctx, bounds))
}

async function collect(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const bytes of content) chunks.push(bytes)
  return Buffer.concat(chunks)
}

function mediaTypeOf(ctx: Context): string {
  return (ctx.get('Content-Type').split(';')[0] ?? '').trim().toLowerCase()
}

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+\+json$/.test(mediaType)
}

function requireUtf8(ctx: Context): void {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(ctx.get('Content-Type')) ?? []
  if (!/^utf-?8$/i.test(charset)) throw invalid('Content-Type', 'The charset must be UTF-8')
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * JSON values that a body may hold: as many as fit for every list of the contract to be full, and few enough to be looked
 * at in a moment.
 */
const MAX_VALUES = { json: 20_000, framework: 500_000 }

/** The bytes of the body, inflated, and no more than `limit` of them. */
function contentOf(ctx: Context, { limit, requestTimeout }: JsonBounds): AsyncIterable<Uint8Array> {
  const encoding = contentEncodingOf(ctx)
  if (encoding === 'identity') refuseDeclared(ctx, limit)
  const content = arriving(received(ctx), deadline(requestTimeout))
  return held(ctx, bounded(encoding === 'identity' ? content : inflated(content, encoding, PIECE), limit))
}

/** The same bytes, which whoever reads them keeps until the request is over. */
async function* held({ req, res, state }: Context, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const bytes of content) {
    // What came may be all, and inflate to more, also once its client is gone.
    if (req.socket.destroyed) throw clientGone()
    state.hold.body(res, state.user, bytes.length)
    yield bytes
  }
}

/** Refuses from the headers what says itself that it is too large. */
function refuseDeclared(ctx: Context, limit: number): void {
  if (Number(ctx.get('Content-Length') || 0) > limit) throw new DomainError('too_large')
}

/** The bytes of the body as they were sent. Throws when the client goes away before their end. */
async function* received({ req, res }: Context): AsyncGenerator<Uint8Array> {
  if (req.httpVersion === '1.1' && req.headers.expect !== undefined) res.writeContinue()
  // To stop reading must not end the connection, on which the refusal is still to be sent.
  yield* req.iterator({ destroyOnReturn: false })
}

/** The same bytes, of which the memory of a piece is given back once the next one is asked for. */
async function* released(content: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const bytes of content) {
    yield bytes
    release(bytes)
  }
}

const INFLATERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const

type Encoding = keyof typeof INFLATERS | 'identity'

function contentEncodingOf(ctx: Context): Encoding {
  const encoding = ctx.get('Content-Encoding').trim().toLowerCase() || 'identity'
  if (encoding === 'identity' || Object.hasOwn(INFLATERS, encoding)) return encoding as Encoding
  throw invalid('Content-Encoding', 'Must be gzip, deflate, br or identity')
}

/** Bytes of a file that are inflated at a time: each piece costs a trip to another thread, as much as to inflate 64 KiB. */
const FILE_PIECE = 256 * 1024

/** @param piece bytes that are inflated at a time, for which memory is taken even where there are fewer. */
async function* inflated(
  content: AsyncGenerator<Uint8Array>,
  encoding: keyof typeof INFLATERS,
  piece: number,
): AsyncGenerator<Uint8Array> {
  const inflater = INFLATERS[encoding]({ chunkSize: piece })
  pipeline(content, inflater, () => {})
  try {
    yield* inflater
  } catch (error) {
    if (error instanceof DomainError) throw error
    throw invalid('', `The body is not well-formed ${encoding}: ${error instanceof Error ? error.message : error}`)
  }
}

/**
 * Reads multipart/form-data, once for the whole service. Every part is taken as a field, whatever its headers say: a
 * part with a type of its own would become a file, and some transfer encodings end the process.
 */
const readForm = koaBody({
  multipart: true,
  json: false,
  urlencoded: false,
  text: false,
  formidable: {
    // The bytes are counted before they come here.
    maxFields: Number.POSITIVE_INFINITY,
    maxFieldsSize: Number.POSITIVE_INFINITY,
    onPart(part, take) {
      // Latin-1 keeps every byte as it is, so that the JSON reader sees what was sent.
      take(Object.assign(part, { mimetype: null, transferEncoding: 'latin1' }))
    },
  },
})

/** The JSON text that the part named `data` carries. */
async function readDataPart(ctx: Context, bounds: JsonBounds): Promise<Uint8Array> {
  const body = Readable.from(contentOf(ctx, bounds), { objectMode: false })
  // koa-body reads the request it finds in its context: here the bounded, inflated one.
  const request: { body?: { [part: string]: string | string[] } } = Object.create(ctx.request)
  const form: Koa.Context = Object.create(ctx, {
    req: { value: Object.assign(body, { headers: ctx.req.headers }) },
    request: { value: request },
  })
  try {
    await readForm(form, async () => {})
    // The form may end before the body does.
    await finished(body.resume())
  } catch (error) {
    if (error instanceof Error && 'httpCode' in error) throw invalid('', 'The body is not well-formed multipart')
    throw error
  } finally {
    body.destroy()
  }
  const { data, ...others } = request.body ?? {}
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalid(other.slice(0, 100), 'Only the part data is accepted')
  if (data === undefined) throw invalid('data', 'The part is missing')
  if (typeof data !== 'string') throw invalid('data', 'The part must be given once')
  return Buffer.from(data, 'latin1')
}

function readUpload(ctx: Context, kind: UploadKind, limit: number): Upload {
  const file_name = fileNameOf(ctx)
  const content_type = ctx.get('Content-Type') || 'application/octet-stream'
  if (kind === 'traffic') requireTrafficType(ctx)
  const encoding = contentEncodingOf(ctx)
  if (encoding === 'identity') refuseDeclared(ctx, limit)
  else if (kind === 'document') throw invalid('Content-Encoding', 'A document is kept byte for byte: must be identity')
  const sent = arriving(received(ctx), keeping(ctx.state.pace))
  const content = released(encoding === 'identity' ? sent : inflated(sent, encoding, FILE_PIECE))
  return { file_name, content_type, content: bounded(content, limit) }
}

function requireTrafficType(ctx: Context): void {
  const type = mediaTypeOf(ctx)
  if (!isJson(type) && type !== 'application/x-ndjson' && type !== 'application/jsonl') {
    throw invalid(
      'Content-Type',
      'Must be application/json or another +json type, application/x-ndjson or application/jsonl',
    )
  }
  requireUtf8(ctx)
}

/** The name that `Content-Disposition` gives; a text of the sender, which the domain makes safe. */
function fileNameOf(ctx: Context): string {
  const header = ctx.get('Content-Disposition')
  const { type, parameters } = parseContentDisposition(asUtf8(header))
  if (type === 'attachment' && parameters.filename) return parameters.filename
  throw invalid('Content-Disposition', 'Must be attachment with a file name')
}

/** Header bytes arrive as Latin-1, while most clients send names as UTF-8. */
function asUtf8(header: string): string {
  try {
    return UTF8.decode(Buffer.from(header, 'latin1'))
  } catch {
    return header
  }
}

/** How long a client may go on sending what nobody reads, in milliseconds, and one that was too slow before. */
const PATIENCE = 10_000
const PATIENCE_WITH_SLOW = 1000

/**
 * Sees to what a client is still sending when its answer is ready: it is taken in and thrown away, so that the client
 * gets to read the answer, and the connection serves the next request. A client that does not come to an end is cut off.
 */
export function drain({ req, res }: Context): void {
  if (req.complete) return
  const waits = isUntold(res)
  const isLast = waits || !res.shouldKeepAlive
  // Node would close the connection with the answer, and what still comes in would make the client lose it.
  res.shouldKeepAlive = true
  // By these marks Node still says in the answer that it is the last one, or the client would use the connection again.
  if (isLast) {
    Object.assign(res, { maxRequestsOnConnectionReached: true, _expect_continue: false })
    ending.add(req.socket)
  }
  res.once('finish', () => {
    // Who read the body may let go of it only later, which would end a mere `resume`.
    req.on('data', () => {}).resume()
    // One that waits to be told to go on does not send its body any more; one that did not wait does.
    if (waits) return close(req.socket)
    if (isLast) req.once('end', () => end(req.socket))
    const patience = res.statusCode === 408 ? PATIENCE_WITH_SLOW : PATIENCE
    setTimeout(() => {
      if (!req.complete) req.socket.destroy()
    }, patience).unref()
  })
}

/** Whether the client said that it waits to be told to go on, and was not. */
function isUntold(res: Context['res']): boolean {
  return Reflect.get(res, '_expect_continue') === true && Reflect.get(res, '_sent100') !== true
}
