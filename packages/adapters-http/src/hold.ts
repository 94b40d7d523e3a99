import type { ServerResponse } from 'node:http'
import { tooManyRequests } from '@security-management/domain'
import { whenClosed } from './close.ts'

/** Notes that a request, or its answer, has so many more bytes in memory, until it is over. */
export type Hold = {
  /** @throws DomainError `too_many_requests` where there is no room, and nobody has more than this caller. */
  body(res: ServerResponse, caller: string | undefined, bytes: number): void
  answer(res: ServerResponse, caller: string | undefined, bytes: number): void
}

type Held = { caller: string | undefined; bytes: number }

/** When a body that was refused may find room, in milliseconds: most are in memory for less. */
const RETRY_AFTER = 1000

/**
 * Bounds the bytes that all requests together have in memory: bodies that come, answers that are not taken. Past `most`,
 * a body of the caller who has the most bytes there is refused, so that those before it get done; else the oldest
 * connection of that caller is closed. It is never the one that bytes are noted for: one alone may have more.
 */
export function createHold(most: number): Hold {
  // In the order in which they came.
  const held = new Map<ServerResponse, Held>()
  let total = 0

  const letGo = (res: ServerResponse) => {
    total -= held.get(res)?.bytes ?? 0
    held.delete(res)
  }

  const noting =
    (mayBeRefused: boolean): Hold['body'] =>
    (res, caller, bytes) => {
      while (total + bytes > most) {
        const holders = holdersOf(held, res)
        const late = holders.find(({ oldest }) => oldest)?.oldest
        if (!late) break
        if (mayBeRefused && holders[0]?.caller === caller) {
          letGo(res)
          throw tooManyRequests(RETRY_AFTER)
        }
        letGo(late)
        late.req.socket.destroy()
      }
      total += bytes
      const known = held.get(res)
      if (known) {
        known.bytes += bytes
        return
      }
      held.set(res, { caller, bytes })
      whenClosed(res, () => letGo(res))
    }

  return { body: noting(true), answer: noting(false) }
}

type Holder = { caller: string | undefined; bytes: number; oldest?: ServerResponse }

/** The callers, who has the most bytes first, each with the oldest request but for one. */
function holdersOf(held: Map<ServerResponse, Held>, except: ServerResponse): Holder[] {
  const callers = new Map<string | undefined, Holder>()
  for (const [res, { caller, bytes }] of held) {
    const known = callers.get(caller) ?? { caller, bytes: 0 }
    known.bytes += bytes
    if (res !== except) known.oldest ??= res
    callers.set(caller, known)
  }
  return [...callers.values()].toSorted((a, b) => b.bytes - a.bytes)
}
