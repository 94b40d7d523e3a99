import { once } from 'node:events'
import { type ClientRequest, type OutgoingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Ports } from '@security-management/domain'
import { type MemoryPorts, memoryPorts } from '@security-management/domain/memory'
import { afterEach, expect } from 'vitest'
import { type AppOptions, createApp } from '../app.ts'
import type { Served } from '../context.ts'
import { createHttpServer, type HttpServer, type ServerOptions } from '../server.ts'
import { type Answer, answerOf, faultsOf } from './answers.ts'
import { checkDocumented } from './documented.ts'
import type { Sent } from './requests.ts'

/** One line of the log. */
export type Line = { level: 'info' | 'warn' | 'error'; message: string; fields: { [name: string]: unknown } }

export type Service<P extends Ports = MemoryPorts> = {
  ports: P
  server: HttpServer
  port: number
  log: Line[]
  refused: Served[]
}

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
  const refused: Served[] = []
  const server = createHttpServer(app, { onRefused: (served) => void refused.push(served), ...options })
  running.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { ports, server, port: (server.address() as AddressInfo).port, log, refused }
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

export function checkAnswer(method: string, path: string, answer: Answer): void {
  expect(faultsOf(method, path, answer)).toEqual([])
  if (method !== 'HEAD') checkDocumented(method, path, { ...answer, body: answer.json })
}

/** Waits until something holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error('It did not come to hold within 2.5 seconds')
}
