import type { OnTimed } from './database.ts'

/** Runs `work` and tells how long it took, also if it fails. */
export async function timed<Result>(
  onTimed: OnTimed | undefined,
  what: Parameters<OnTimed>[0],
  work: () => Promise<Result>,
): Promise<Result> {
  if (!onTimed) return work()
  const started = performance.now()
  try {
    return await work()
  } finally {
    onTimed(what, performance.now() - started)
  }
}
