import { once } from 'node:events'
import type { Server } from 'node:http'
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
  try {
    const listening = once(server, 'listening')
    server.listen(PORT, HOST)
    await listening
  } catch (error) {
    throw new Error(explain(error, HOST, PORT), { cause: error })
  }
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : PORT
  return `http://${hostOf(HOST)}:${port}`
}

/** Stops listening, lets what is in flight come to its end for so many milliseconds, then closes what is left. */
export async function stopListening(server: Server, patience: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY)
  const impatient = setTimeout(() => server.closeAllConnections(), patience)
  await closed
  clearInterval(idle)
  clearTimeout(impatient)
}

/** The host as a client on this machine names it. */
function hostOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function explain(error: unknown, host: string, port: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return `Port ${port} of ${host} is in use; set PORT to another one`
  if (code === 'EACCES') return `This user may not listen on port ${port}; set PORT to one from 1024 up`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `${host} is no address of this machine; set HOST to one`
  return `Cannot listen on port ${port} of ${host}: ${error instanceof Error ? error.message : error}`
}
