import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Config } from './config.ts'
import { listenAdmin, stopListening } from './listen.ts'
import { METRICS_TYPE } from './metrics.ts'

/** Whether one thing is well, in a few words. */
export type Check = { ok: boolean; says: string }
export type Checks = { [name: string]: Check }

/** The second listener, which says how the service is. It is not for clients: bind it where only an operator reaches it. */
export type Admin = {
  address: string
  /** From now on it is ready as far as these checks say. */
  serving(checks: () => Promise<Checks>): void
  /** From now on it is not ready. */
  stopping(): void
  close(): Promise<void>
}

/** How long an answer of `/ready` holds, in milliseconds, so that asking often costs the database nothing. */
const HOLDS = 1000

/**
 * Starts the second listener: `/live` (the process turns), `/ready` (it can serve; 503 where not), `/metrics`.
 *
 * @param metrics the text for Prometheus.
 * @throws Error with one line when it cannot listen.
 */
export async function startAdmin(
  config: Pick<Config, 'ADMIN_HOST' | 'ADMIN_PORT'>,
  metrics: () => Promise<string>,
): Promise<Admin> {
  let status: 'starting' | 'serving' | 'stopping' = 'starting'
  let look = async (): Promise<Checks> => ({})
  let latest: { at: number; checks: Promise<Checks> } | undefined

  function checks(): Promise<Checks> {
    if (!latest || performance.now() - latest.at >= HOLDS) latest = { at: performance.now(), checks: look() }
    return latest.checks
  }

  async function ready(): Promise<{ code: number; text: string }> {
    const found = status === 'serving' ? await checks() : {}
    // It may have begun to stop meanwhile.
    const isReady = status === 'serving' && Object.values(found).every(({ ok }) => ok)
    const says = Object.fromEntries(Object.entries(found).map(([name, check]) => [name, check.says]))
    const word = status === 'serving' ? (isReady ? 'ready' : 'not ready') : status
    return { code: isReady ? 200 : 503, text: JSON.stringify({ status: word, checks: says }) }
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.method !== 'GET' && req.method !== 'HEAD') return send(res, 405, JSON_TYPE, '{"status":"only GET"}')
    const path = req.url?.split('?')[0]
    if (path === '/live') return send(res, 200, JSON_TYPE, '{"status":"live"}')
    if (path === '/metrics') return send(res, 200, METRICS_TYPE, await metrics())
    if (path !== '/ready') return send(res, 404, JSON_TYPE, '{"status":"there are /live, /ready and /metrics"}')
    const { code, text } = await ready()
    send(res, code, JSON_TYPE, text)
  }

  const server = createServer({ headersTimeout: 5000, requestTimeout: 5000 }, (req, res) => {
    answer(req, res).catch(() => send(res, 500, JSON_TYPE, '{"status":"failed"}'))
  })
  const address = await listenAdmin(server, config)
  return {
    address,
    serving(ask) {
      look = ask
      status = 'serving'
    },
    stopping() {
      status = 'stopping'
    },
    close: () => stopListening(server, 0),
  }
}

const JSON_TYPE = 'application/json; charset=utf-8'

function send(res: ServerResponse, status: number, type: string, text: string): void {
  res.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  })
  res.end(text)
}
