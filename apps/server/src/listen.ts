import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { Config } from './config.ts'

/** How often connections that have fallen idle are closed while the server stops, in milliseconds. */
const CLOSE_IDLE_EVERY = 50

/**
 * Starts to listen.
 *
 * @returns where the server is reached on this machine, with the port that it was given.
 * @throws Error with one line that says why it cannot listen.
 */
export async function listen(server: Server, { HOST, PORT }: Pick<Config, 'HOST' | 'PORT'>): Promise<string> {
  return listenOn(server, HOST, PORT, { hostIs: 'HOST', portIs: 'PORT', otherwise: '' })
}

/** Like `listen`, on the address of the second listener. */
export async function listenAdmin(
  server: Server,
  { ADMIN_HOST, ADMIN_PORT }: Pick<Config, 'ADMIN_HOST' | 'ADMIN_PORT'>,
): Promise<string> {
  const words = { hostIs: 'ADMIN_HOST', portIs: 'ADMIN_PORT', otherwise: ', or to 0 for none' }
  return listenOn(server, ADMIN_HOST, ADMIN_PORT, words)
}

/**
 * Stops listening, lets what is in flight come to its end for `patience` milliseconds, then closes what is left.
 *
 * @param grace milliseconds in which idle connections stay open, so that a client that is just about to send on one gets
 *   an answer, its last one, instead of a broken connection.
 */
export async function stopListening(server: Server, patience: number, grace = 0): Promise<void> {
  const closed = once(server, 'close')
  // The close of a HTTP server cuts idle connections at once; this one leaves them.
  NetServer.prototype.close.call(server)
  const deadline = Date.now() + grace
  const closeIdle = () => {
    if (Date.now() >= deadline) server.closeIdleConnections()
  }
  closeIdle()
  const idle = setInterval(closeIdle, CLOSE_IDLE_EVERY)
  const impatient = setTimeout(() => server.closeAllConnections(), patience)
  await closed
  clearInterval(idle)
  clearTimeout(impatient)
}

/** How messages name the variables. */
type Words = { hostIs: string; portIs: string; otherwise: string }

async function listenOn(server: Server, host: string, port: number, words: Words): Promise<string> {
  try {
    const listening = once(server, 'listening')
    server.listen(port, host)
    await listening
  } catch (error) {
    throw new Error(explain(error, host, port, words), { cause: error })
  }
  const address = server.address()
  return `http://${hostOf(host)}:${typeof address === 'object' && address ? address.port : port}`
}

/** The host as a client on this machine names it. */
function hostOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function explain(error: unknown, host: string, port: number, { hostIs, portIs, otherwise }: Words): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return `Port ${port} of ${host} is in use; set ${portIs} to another one${otherwise}`
  if (code === 'EACCES')
    return `This user may not listen on port ${port}; set ${portIs} to one from 1024 up${otherwise}`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return `${host} is no address of this machine; set ${hostIs} to one`
  }
  return `Cannot listen on port ${port} of ${host}: ${error instanceof Error ? error.message : error}`
}
