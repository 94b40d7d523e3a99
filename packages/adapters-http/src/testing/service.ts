import { once } from 'node:events'
import { type ClientRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Ports } from '@security-management/domain'
import { type MemoryPorts, memoryPorts } from '@security-management/domain/memory'
import * as v from 'valibot'
import { afterEach, expect } from 'vitest'
import { type AppOptions, createApp } from '../app.ts'
import { paramNames } from '../parameters.ts'
import type { Route } from '../route.ts'
import { routes } from '../routes/index.ts'
import { Failure, successOf } from '../schemas.ts'
import { createHttpServer, type ServerOptions } from '../server.ts'

/** One line of the log. */
export type Line = { level: 'info' | 'warn' | 'error'; message: string; fields: { [name: string]: unknown } }

export type Service<P extends Ports = MemoryPorts> = { ports: P; server: Server; port: number; log: Line[] }

const running: Server[] = []

afterEach(async () => {
  for (const server of running.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

/** Starts the whole interface on ports in memory; it ends with the test. */
export async function startService(options: Partial<AppOptions> & ServerOptions = {}): Promise<Service> {
  return startServiceOn(memoryPorts(), options)
}

export async function startServiceOn<P extends Ports>(
  ports: P,
  options: Partial<AppOptions> & ServerOptions = {},
): Promise<Service<P>> {
  const log: Line[] = []
  const write = (level: Line['level']) => (fields: object, message: string) =>
    void log.push({ level, message, fields: { ...fields } })
  const app = createApp(ports, { log: { info: write('info'), warn: write('warn'), error: write('error') }, ...options })
  const server = createHttpServer(app, options)
  running.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { ports, server, port: (server.address() as AddressInfo).port, log }
}

export type Sent = {
  token?: string
  headers?: OutgoingHttpHeaders
  /** A body that is sent as JSON. */
  json?: unknown
  /** A body that is sent as it is; an iterable comes in chunks. */
  body?: string | Uint8Array | AsyncIterable<Uint8Array>
}

export type Answer = {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  /** The envelope, as `JSON.parse` gives it: its shape is checked, so tests look right into it. Empty for a document. */
  json: ReturnType<typeof JSON.parse>
}

/**
 * Sends a request as it stands, and checks what holds for every answer: the headers, the envelope, and that a success
 * holds just what the route declares.
 */
export async function call(service: Service<Ports>, method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const { token, json, body } = sent
  const headers: OutgoingHttpHeaders = { ...sent.headers }
  if (token !== undefined) headers['X-Service-Token'] = token
  if (json !== undefined) headers['Content-Type'] ??= 'application/json'
  const content = json === undefined ? body : JSON.stringify(json)
  const req = request({ port: service.port, host: '127.0.0.1', method, path, headers, agent: false })
  const answered = readAnswer(req)
  if (content === undefined || typeof content === 'string' || content instanceof Uint8Array) req.end(content)
  else await sendUntil(answered, req, content)
  const answer = await answered
  checkAnswer(method, path, answer)
  return answer
}

function readAnswer(req: ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    req.on('error', reject)
    req.on('response', async (res) => {
      const chunks: Buffer[] = []
      try {
        for await (const bytes of res) chunks.push(bytes)
        resolve(answerOf(res.statusCode ?? 0, res.headers, Buffer.concat(chunks)))
      } catch (error) {
        reject(error)
      }
    })
  })
}

/** Sends the content, and no more of it once there is an answer. */
async function sendUntil(answered: Promise<unknown>, req: ClientRequest, content: AsyncIterable<Uint8Array>) {
  let over = false
  const end = answered
    .catch(() => {})
    .then(() => {
      over = true
    })
  for await (const bytes of content) {
    if (over) return
    if (!req.write(bytes)) await Promise.race([once(req, 'drain').catch(() => {}), end])
  }
  if (!over) req.end()
}

export function answerOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  const isJson = headers['content-type'] === 'application/json; charset=utf-8' && bytes.length > 0
  return { status, headers, bytes, json: isJson ? JSON.parse(bytes.toString()) : {} }
}

export function checkAnswer(method: string, path: string, { status, headers, json, bytes }: Answer): void {
  expect(headers).toMatchObject({
    'x-request-id': expect.stringMatching(/^[\w.-]{1,64}$/),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  const route = routeAt(method, path)
  if (method === 'HEAD' || status === 304 || (route?.answer === 'document' && status < 300)) return
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(Number(headers['content-length'])).toBe(bytes.length)
  expect(Object.keys(json).slice(0, 2)).toEqual(['error', 'messages'])
  if (status >= 400) {
    expect(v.parse(Failure, json)).toEqual(json)
    expect(json.messages).toEqual(MESSAGES[status] ?? [route?.invalidInput ?? 'Invalid data provided'])
    expect('details' in json).toBe(status === 400)
    return
  }
  if (!route || route.answer === 'document') throw new Error(`No route gives ${status} for ${method} ${path}`)
  expect(status).toBe(route.status)
  // What the schema does not name would be dropped by it, at every depth.
  expect(v.parse(successOf(route.answer), json)).toEqual(json)
}

/** Messages of each status but 400, whose text belongs to the route. */
const MESSAGES: { [status: number]: unknown[] } = {
  401: [9153],
  404: [],
  405: [],
  408: [],
  413: ['Payload too large'],
  416: [],
  417: [],
  431: [],
  500: [],
  503: [],
}

const patterns = routes.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`),
}))

function routeAt(method: string, path: string): Route | undefined {
  const [bare = ''] = path.replace(/^http:\/\/[^/]*/, '').split('?')
  return patterns.find(({ route, pattern }) => route.method === method.toLowerCase() && pattern.test(bare))?.route
}

/** The path of a route with its parameters filled in, in their order. */
export function pathOf(route: Route, ...values: (string | number)[]): string {
  return paramNames(route.path).reduce<string>(
    (path, name, index) => path.replace(`{${name}}`, encodeURIComponent(values[index] ?? '')),
    route.path,
  )
}

/** A body of multipart/form-data made of these parts. */
export function formOf(parts: { name?: string; headers?: string[]; content: string | Uint8Array }[]): {
  headers: OutgoingHttpHeaders
  body: Buffer
} {
  const boundary = 'a-boundary'
  const pieces = parts.flatMap(({ name, headers = [], content }) => [
    `--${boundary}\r\n`,
    ...(name === undefined ? [] : [`Content-Disposition: form-data; name="${name}"\r\n`]),
    ...headers.map((header) => `${header}\r\n`),
    '\r\n',
    content,
    '\r\n',
  ])
  const body = Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)))
  return { headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` }, body }
}

/** Waits until something holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error('It did not come to hold within 2.5 seconds')
}
