import type { ServerResponse } from 'node:http'
import { whenClosed } from './close.ts'

/** Notes that a request, or its answer, has so many more bytes in memory, until it is over. */
export type Hold = (res: ServerResponse, caller: string | undefined, bytes: number) => void

type Held = { caller: string | undefined; bytes: number }

/**
 * Bounds the bytes that all requests together have in memory: bodies that come, answers that are not taken. Past `most`,
 * connections are closed: of the caller who has the most bytes there, the oldest first; never the one that it is noted for.
 */
export function createHold(most: number): Hold {
  // In the order in which they came.
  const held = new Map<ServerResponse, Held>()
  let total = 0

  const letGo = (res: ServerResponse) => {
    total -= held.get(res)?.bytes ?? 0
    held.delete(res)
  }

  return (res, caller, bytes) => {
    while (total + bytes > most) {
      const late = oldestOfWhoHasMost(held, res)
      if (!late) break
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
}

function oldestOfWhoHasMost(held: Map<ServerResponse, Held>, except: ServerResponse): ServerResponse | undefined {
  const callers = new Map<string | undefined, { oldest?: ServerResponse; bytes: number }>()
  for (const [res, { caller, bytes }] of held) {
    const known = callers.get(caller) ?? { bytes: 0 }
    known.bytes += bytes
    if (res !== except) known.oldest ??= res
    callers.set(caller, known)
  }
  const sorted = [...callers.values()].toSorted((a, b) => b.bytes - a.bytes)
  return sorted.find(({ oldest }) => oldest)?.oldest
}
