import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Connections on which nothing more is begun, since their last answer is decided. */
export const ending = new WeakSet<Duplex>()

/** How long a client gets to take its last answer, in milliseconds. */
const PATIENCE = 2000

/** Ends the connection; what the client still sends is read, or it could lose the answer. */
export function close(socket: Duplex): void {
  end(socket)
  socket.resume()
}

/** Ends the connection; what the client still sends would be a further request. */
export function end(socket: Duplex): void {
  socket.end()
  setTimeout(() => socket.destroy(), PATIENCE).unref()
}

/** Runs `work` once the answer is sent, or the client is gone. */
export function whenClosed(res: ServerResponse, work: () => void): void {
  if (res.closed) work()
  else res.once('close', work)
}

/** Ends the work for a client that went away. */
export function clientGone(): Error {
  return Object.assign(new Error('The client went away'), { code: 'ECONNRESET' })
}
