const HOUR = 60 * 60 * 1000

/** What a duration looks like, for a message that asks for one. */
export const DURATION_TAKES = 'takes a number of days or hours such as 30d or 12h'

/** A number of days or hours. */
export const DURATION = /^\d{1,5}[hd]$/

/** Milliseconds of a text that `DURATION` describes. */
export function millisecondsOf(duration: string): number {
  return Number.parseInt(duration, 10) * (duration.endsWith('d') ? 24 * HOUR : HOUR)
}
