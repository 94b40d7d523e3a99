import { DomainError } from '@security-management/domain'

/** Bytes that the other side has to move within so many milliseconds of our waiting for it; our own time is not counted. */
export type Pace = { bytes: number; milliseconds: number }

/** 16 KiB a second, over ten seconds: a line of 1 Mbit/s carries seven times as much. */
export const SLOWEST: Pace = { bytes: 160 * 1024, milliseconds: 10_000 }

/** Tells how many milliseconds more may be waited. */
export type Clock = { left(): number; note(waited: number, bytes: number): void }

/** Until so many milliseconds from now. */
export function deadline(milliseconds: number): Clock {
  const end = performance.now() + milliseconds
  return { left: () => end - performance.now(), note() {} }
}

/** As long as the other side keeps the pace. */
export function keeping({ bytes: enough, milliseconds }: Pace): Clock {
  let left = milliseconds
  let moved = 0
  return {
    left: () => left,
    note(waited, bytes) {
      left -= waited
      moved += bytes
      if (moved < enough) return
      left = milliseconds
      moved = 0
    },
  }
}

/**
 * The bytes that a client sends, while they come in time.
 *
 * @throws DomainError `too_slow`.
 */
export async function* arriving(content: AsyncGenerator<Uint8Array>, clock: Clock): AsyncGenerator<Uint8Array> {
  let isLate = false
  try {
    for (;;) {
      const asked = performance.now()
      isLate = true
      const { done, value } = await inTime(content.next(), clock.left())
      isLate = false
      if (done) return
      clock.note(performance.now() - asked, value.length)
      yield value
    }
  } finally {
    const ended = content.return(undefined).catch(() => {})
    // Where the next bytes are still waited for, it would end only with them.
    if (!isLate) await ended
  }
}

async function inTime<Result>(result: Promise<Result>, milliseconds: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    // Where the body was refused before its end nobody waits for the rest, least of all a process that stops.
    timer = setTimeout(() => reject(new DomainError('too_slow')), milliseconds).unref()
  })
  try {
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}
