import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type Koa from 'koa'
import { close, ending, whenClosed } from './close.ts'
import type { Served } from './context.ts'
import { commonHeaders, failure, INVALID, refusedBeside } from './errors.ts'
import { methodsAt, splitTarget } from './paths.ts'
import { itsTurn } from './pieces.ts'

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

/** What came on a connection. */
type Connection = {
  /** Requests that were taken on, and that were left because they came behind the last one. */
  taken: number
  left: number
  /** The answer to the request that was taken on last. */
  latest?: ServerResponse
  /** The answers that are not sent yet. */
  open: Set<ServerResponse>
  /** Whether Node refused what came. */
  isRefused: boolean
}

/** Bytes of a request's line and headers. */
const MAX_HEADER_BYTES = 16 * 1024

/** Requests that may have come behind the last one of a connection. */
const MAX_LEFT = 1000

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
  const connections = new WeakMap<Duplex, Connection>()
  const handling = new Map<ServerResponse, Promise<void>>()
  const detached = new Set<Duplex>()
  let draining = false

  const connectionOf = (socket: Duplex): Connection => {
    const known = connections.get(socket)
    if (known) return known
    const made: Connection = { taken: 0, left: 0, open: new Set(), isRefused: false }
    connections.set(socket, made)
    return made
  }

  /** Makes this answer the last one on its connection. */
  const endWith = (res: ServerResponse) => {
    ending.add(res.req.socket)
    res.shouldKeepAlive = false
  }

  /**
   * What comes after the last one is not begun: its answer could not be sent. Nor is more of it read, since Node keeps each
   * request until the connection ends; what is read by then is bounded.
   */
  const leave = (connection: Connection, socket: Socket) => {
    connection.left += 1
    if (connection.left > MAX_LEFT) socket.destroy()
    else socket.pause()
  }

  /**
   * One request of a connection is worked on at a time: as many fit into one packet as would keep everybody else waiting,
   * and their answers would all wait for the first to be taken.
   */
  const respondInTurn = async (req: IncomingMessage, res: ServerResponse) => {
    if (!res.socket) await itsTurn(res)
    const isBroken = connectionOf(req.socket).isRefused && !req.complete
    if (!req.socket.destroyed && !isBroken) await respond(req, res)
  }

  const serve = (req: IncomingMessage, res: ServerResponse) => {
    const connection = connectionOf(req.socket)
    // Behind headers that came too late Node reads on.
    if (ending.has(req.socket) || connection.isRefused) return leave(connection, req.socket)
    connection.taken += 1
    connection.latest = res
    connection.open.add(res)
    whenClosed(res, () => connection.open.delete(res))
    if (draining || connection.taken === maxRequestsPerConnection) endWith(res)
    handling.set(
      res,
      respondInTurn(req, res).finally(() => handling.delete(res)),
    )
  }

  const toldNext: (() => void)[] = []

  const tellNext = () => {
    const tell = toldNext.shift()
    if (toldNext.length > 0) setTimeout(tellNext, 1)
    tell?.()
  }

  /**
   * Refuses one connection in a turn of the event loop: those that came together are late together, and a thousand told at
   * once keep everybody else waiting. Nothing is begun on them in the meantime.
   */
  const tellInTurn = (tell: () => void) => {
    if (toldNext.push(tell) === 1) setImmediate(tellNext)
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

  // Every long answer looks at whether its connection is there, and one connection may have as many as it has requests.
  server.on('connection', (socket: Socket) => socket.setMaxListeners(0))

  /** Once all these answers are sent; with the connection they may also never be. */
  const whenAllClosed = (answers: Iterable<ServerResponse>, work: () => void) => {
    const waited = [...answers]
    let count = waited.length
    const next = () => {
      count -= 1
      if (count === 0) work()
    }
    if (count === 0) work()
    for (const res of waited) whenClosed(res, next)
  }

  server.on('connect', ({ url = '' }, socket) => {
    // Node lets go of the connection, with its timeout, what watches its errors, and the answers to the requests before.
    detached.add(socket)
    socket.once('close', () => detached.delete(socket)).on('error', () => socket.destroy())
    if ('setTimeout' in socket) (socket as Socket).setTimeout(IDLE, () => socket.destroy())
    whenAllClosed(connectionOf(socket).open, () => {
      if (ending.has(socket) || !socket.writable) close(socket)
      else onRefused(refuse(refusalAt(splitTarget(url).path), socket))
    })
  })

  server.on('clientError', (error: ClientError, socket) => {
    const connection = connectionOf(socket)
    if (connection.isRefused) return
    connection.isRefused = true
    const res = connection.latest
    // The latest request is the one that is wrong, in its body, unless it is complete.
    const isBody = res?.req.complete === false
    // One that still waits for its turn is not begun any more.
    const isBegun = isBody && res.socket !== null
    const finish = () => {
      if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy()
      // Behind the last answer there is no other.
      if (!isBody && ending.has(socket)) return close(socket)
      const served = refuse(refusalOf(error), socket)
      // A request that had begun has its own line in the log.
      if (!isBegun) onRefused(served)
      else if (error.code !== CLIENT_ENDED) refusedBeside.set(res, served.status)
    }
    const before = new Set(connection.open)
    if (isBody) before.delete(res)
    whenAllClosed(before, () => {
      if (!isBody) tellInTurn(finish)
      // This is its answer, unless it has one.
      else if (res.headersSent) whenClosed(res, () => close(socket))
      else finish()
    })
  })

  const closeAttached = server.closeAllConnections.bind(server)

  return Object.assign(server, {
    closeAllConnections() {
      closeAttached()
      for (const socket of detached) socket.destroy()
    },
    drain() {
      draining = true
      for (const res of handling.keys()) {
        if (connectionOf(res.req.socket).latest === res && !res.headersSent) endWith(res)
      }
    },
    async idle() {
      while (handling.size > 0) await Promise.all(handling.values())
    },
  })
}

/** The client closed its side in the middle of a request. */
const CLIENT_ENDED = 'HPE_INVALID_EOF_STATE'

type ClientError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number }

function refuse({ status, messages, details, headers }: Refusal, socket: Duplex): Served {
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
  if (path !== undefined) return refusalAt(path)
  return { status: 400, messages: [INVALID], details: [{ path: '', message: 'Not a well-formed HTTP request' }] }
}

/** For a method that no path has. */
function refusalAt(path: string): Refusal {
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
