/** Told how far work is. */
export type OnProgress = (done: number, total: number) => void

/** Work that takes less, in milliseconds, shows nothing. */
const QUIET = 1000
const SHOW_EVERY = 100

/**
 * Shows on a terminal, on one line that is erased at the end, how far work is that takes more than a second. Where
 * `stream` is no terminal nothing is shown.
 */
export function showProgress(
  stream: { isTTY?: boolean; write(text: string): unknown },
  what: string,
  now: () => number = Date.now,
): OnProgress {
  if (!stream.isTTY) return () => {}
  const started = now()
  let shown = 0
  return (done, total) => {
    const time = now()
    if (done >= total) {
      if (shown) stream.write('\r\u001b[K')
    } else if (time - started >= QUIET && time - shown >= SHOW_EVERY) {
      shown = time
      stream.write(`\r${what}: ${done} of ${total}\u001b[K`)
    }
  }
}
