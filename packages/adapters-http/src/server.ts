import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type Koa from 'koa'
import type { Served } from './context.ts'
import { commonHeaders, failure, INVALID, refusedBeside, whenClosed } from './errors.ts'
import { methodsAt, splitTarget } from './paths.ts'

/** How patient the server is. */
export type ServerOptions = {
  /** Milliseconds in which the headers of a request must have come; 10 seconds unless said otherwise. */
  headersTimeout?: number
  /** Milliseconds in which any request must have come, one that carries a file; 5 minutes unless said otherwise. */
  uploadTimeout?: number
  /** Milliseconds that a connection stays open without a request; 5 seconds unless said otherwise. */
  keepAliveTimeout?: number
  /** Connections of this process at the same time; one more is closed as it comes. 1000 unless said otherwise. */
  maxConnections?: number
  /** Requests on one connection, which is closed after the last; 1000 unless said otherwise. */
  maxRequestsPerConnection?: number
  /** Told of what Node refused before there was a request. */
  onRefused?: (refused: Served) => void
}

/** A server of HTTP that can come to its end without breaking off an answer. */
export type HttpServer = Server & {
  /** From now on every answer that has not begun is the last one on its connection. */
  drain(): void
  /** Resolves once nothing works on a request any more, not even on one whose client is gone. */
  idle(): Promise<void>
}

/** Bytes of a request's line and headers. */
const MAX_HEADER_BYTES = 16 * 1024

/** Milliseconds in which nothing moves on a connection, either way, before it is closed. */
const IDLE = 120_000

/**
 * The server of an application, which does not listen yet. What Node refuses by itself, before there is a request, is
 * answered with the envelope as well.
 */
export function createHttpServer(app: Koa, options: ServerOptions = {}): HttpServer {
  const { headersTimeout = 10_000, uploadTimeout = 300_000, keepAliveTimeout = 5000 } = options
  const { maxConnections = 1000, maxRequestsPerConnection = 1000, onRefused = () => {} } = options
  const respond = app.callback()
  const latest = new WeakMap<Duplex, ServerResponse>()
  const refused = new WeakSet<Duplex>()
  const handling = new Map<ServerResponse, Promise<void>>()
  const served = new WeakMap<Duplex, number>()
  const ending = new WeakSet<Duplex>()
  let draining = false

  /** Makes this answer the last one on its connection. */
  const endWith = (res: ServerResponse) => {
    ending.add(res.req.socket)
    res.shouldKeepAlive = false
  }

  const serve = (req: IncomingMessage, res: ServerResponse) => {
    // What comes after the last one is not begun: its answer could not be sent.
    if (ending.has(req.socket)) return
    const count = (served.get(req.socket) ?? 0) + 1
    served.set(req.socket, count)
    latest.set(req.socket, res)
    if (draining || count === maxRequestsPerConnection) endWith(res)
    handling.set(
      res,
      respond(req, res).finally(() => handling.delete(res)),
    )
  }

  const server = createServer(
    {
      // Node refuses to start where headers may take longer than the whole request.
      headersTimeout: Math.min(headersTimeout, uploadTimeout),
      // The application knows which request carries no file, and gives it less.
      requestTimeout: uploadTimeout,
      keepAliveTimeout,
      maxHeaderSize: MAX_HEADER_BYTES,
      // How soon a timeout is noticed: so often that of clients that came together few are told at a time.
      connectionsCheckingInterval: Math.min(25, headersTimeout),
      // The application asks for the header, and answers with the envelope.
      requireHostHeader: false,
    },
    serve,
  )

  // None is left out unseen; the application counts them.
  server.maxHeadersCount = 0
  server.maxConnections = maxConnections
  // Else a worker of a cluster hands one more back, to be given to the next, round and round for as long as all are full.
  Object.assign(server, { dropMaxConnection: true })
  server.timeout = IDLE

  // The application says 417 itself, and `100 Continue` when it begins to read a body: one that it refuses is not sent.
  server.on('checkContinue', serve)
  server.on('checkExpectation', serve)

  server.on('connect', (req, socket) => {
    socket.on('error', () => socket.destroy())
    if (!(socket instanceof Socket)) return socket.destroy()
    const begin = () => {
      if (!socket.writable) return socket.destroy()
      const res = new ServerResponse(req)
      res.shouldKeepAlive = false
      res.assignSocket(socket)
      res.once('finish', () => close(socket))
      serve(req, res)
    }
    // Node has let go of the connection, but not of the answers to the requests before, which come first.
    const before = latest.get(socket)
    if (before) whenClosed(before, begin)
    else begin()
  })

  server.on('clientError', (error: ClientError, socket) => {
    if (refused.has(socket)) return
    refused.add(socket)
    const res = latest.get(socket)
    const finish = () => {
      if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy()
      const served = refuse(error, socket)
      // A request that had begun has its own line in the log.
      if (!res || res.req.complete) onRefused(served)
      else if (error.code !== CLIENT_ENDED) refusedBeside.set(res, served.status)
    }
    // The answers to the requests before come first. If it is the body of the latest request that is wrong, this is its
    // answer, unless it has one.
    if (!res) finish()
    else if (res.req.complete) whenClosed(res, finish)
    else if (res.closed) socket.destroy()
    else whenItsTurn(res, () => (res.headersSent ? whenClosed(res, () => close(socket)) : finish()))
  })

  return Object.assign(server, {
    drain() {
      draining = true
      for (const res of handling.keys()) {
        if (latest.get(res.req.socket) === res && !res.headersSent) endWith(res)
      }
    },
    async idle() {
      while (handling.size > 0) await Promise.all(handling.values())
    },
  })
}

/** Runs `work` once all answers before this one on its connection are sent: then it is given the socket. */
function whenItsTurn(res: ServerResponse, work: () => void): void {
  if (res.socket) work()
  else res.once('socket', work)
}

/** The client closed its side in the middle of a request. */
const CLIENT_ENDED = 'HPE_INVALID_EOF_STATE'

type ClientError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number }

function refuse(error: ClientError, socket: Duplex): Served {
  const { status, messages, details, headers } = refusalOf(error)
  const request_id = randomUUID()
  const body = JSON.stringify(failure(messages, details))
  const lines = Object.entries({
    ...commonHeaders(request_id),
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  close(socket)
  return { request_id, method: null, route: null, caller: null, token: null, status, duration_ms: 0 }
}

type Refusal = {
  status: number
  messages: string[]
  details?: { path: string; message: string }[]
  headers?: { [name: string]: string }
}

function refusalOf(error: ClientError): Refusal {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, messages: [] }
  if (error.code === 'HPE_HEADER_OVERFLOW') return { status: 431, messages: [] }
  const path = error.code === 'HPE_INVALID_METHOD' ? pathOf(error) : undefined
  if (path === undefined) {
    return { status: 400, messages: [INVALID], details: [{ path: '', message: 'Not a well-formed HTTP request' }] }
  }
  const allowed = methodsAt(path)
  if (allowed.length === 0) return { status: 404, messages: [] }
  return { status: 405, messages: [], headers: { Allow: allowed.join(', ') } }
}

/** The path of a request whose method Node does not know; undefined if that is not what the bytes are. */
function pathOf({ rawPacket, bytesParsed = 0 }: ClientError): string | undefined {
  const text = rawPacket?.toString('latin1') ?? ''
  const start = text.lastIndexOf('\n', bytesParsed - 1) + 1
  const [, target] = /^[!#$%&'*+.^`|~\w-]+ (\S+) HTTP\/1\.[01]\r?\n/.exec(text.slice(start)) ?? []
  return target === undefined ? undefined : splitTarget(target).path
}

/** How long a client gets to take its last answer, in milliseconds. */
const PATIENCE = 2000

/** Ends the connection; what the client still sends is read, or it could lose the answer. */
function close(socket: Duplex): void {
  socket.end()
  socket.resume()
  setTimeout(() => socket.destroy(), PATIENCE).unref()
}
