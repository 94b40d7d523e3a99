import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type Koa from 'koa'
import { commonHeaders, failure, INVALID } from './errors.ts'
import { methodsAt, splitTarget } from './paths.ts'

export type ServerOptions = {
  /** Milliseconds in which the headers of a request must have come; 10 seconds unless said otherwise. */
  headersTimeout?: number
  /** Milliseconds in which a request must have come; 5 minutes unless said otherwise. */
  requestTimeout?: number
}

/**
 * The server of an application, which does not listen yet. What Node refuses by itself, before there is a request, is
 * answered with the envelope as well.
 */
export function createHttpServer(app: Koa, options: ServerOptions = {}): Server {
  const { headersTimeout = 10_000, requestTimeout = 300_000 } = options
  const respond = app.callback()
  const latest = new WeakMap<Duplex, ServerResponse>()
  const refused = new WeakSet<Duplex>()

  const serve = (req: IncomingMessage, res: ServerResponse) => {
    latest.set(req.socket, res)
    void respond(req, res)
  }

  const server = createServer(
    {
      headersTimeout,
      requestTimeout,
      // How soon a timeout is noticed.
      connectionsCheckingInterval: Math.min(1000, headersTimeout),
      // The application asks for the header, and answers with the envelope.
      requireHostHeader: false,
    },
    serve,
  )

  // The application says 417 itself, and `100 Continue` when it begins to read a body: one that it refuses is not sent.
  server.on('checkContinue', serve)
  server.on('checkExpectation', serve)

  server.on('connect', (req, socket) => {
    socket.on('error', () => socket.destroy())
    if (!(socket instanceof Socket)) return socket.destroy()
    const res = new ServerResponse(req)
    res.shouldKeepAlive = false
    res.assignSocket(socket)
    res.once('finish', () => close(socket))
    serve(req, res)
  })

  server.on('clientError', (error: ClientError, socket) => {
    if (refused.has(socket)) return
    refused.add(socket)
    const res = latest.get(socket)
    const finish = () => (socket.writable && error.code !== 'ECONNRESET' ? refuse(error, socket) : socket.destroy())
    // If it is the body of the latest request that is wrong, this is its answer, unless it has one. Else the answers to
    // the requests before come first.
    if (res && !res.req.complete && res.headersSent) socket.destroy()
    else if (res?.req.complete && !res.closed) res.once('close', finish)
    else finish()
  })

  return server
}

type ClientError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number }

function refuse(error: ClientError, socket: Duplex): void {
  const { status, messages, details, headers } = refusalOf(error)
  const body = JSON.stringify(failure(messages, details))
  const lines = Object.entries({
    ...commonHeaders(randomUUID()),
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  close(socket)
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
