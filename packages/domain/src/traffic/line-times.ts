import { MAX_TIME, MIN_TIME } from '../values.ts'

/** Numbers from here up are milliseconds: in seconds they would lie past the year 5000. */
const MILLISECONDS_FROM = 1e11

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/**
 * Makes a reader of the times of log lines: epoch seconds, milliseconds and fractions, ISO 8601 with any offset, and the
 * time of web server logs, `17/May/2015:10:05:03 +0000`. A time without a zone is UTC.
 *
 * @returns a function of the bytes that gives milliseconds since 1970, or NaN for what is no time or lies outside of the
 *   years 0 to 9999.
 */
export function createTimeReader(): (bytes: Uint8Array, from: number, to: number) => number {
  // Lines that follow each other are mostly of one day.
  let lastDay = -1
  let lastMidnight = 0

  function midnight(year: number, month: number, day: number): number {
    const key = (year * 100 + month) * 100 + day
    if (key === lastDay) return lastMidnight
    const date = new Date(0)
    date.setUTCFullYear(year, month - 1, day)
    // 31 February is no day, though `Date` would take it for one of March.
    if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return Number.NaN
    lastDay = key
    lastMidnight = date.getTime()
    return lastMidnight
  }

  function clock(bytes: Uint8Array, at: number): number {
    const hour = two(bytes, at)
    const minute = two(bytes, at + 3)
    const second = two(bytes, at + 6)
    // A leap second counts to the next minute.
    return hour <= 23 && minute <= 59 && second <= 60 ? hour * HOUR + minute * MINUTE + second * SECOND : Number.NaN
  }

  function readIso(bytes: Uint8Array, from: number, to: number): number {
    if (bytes[from + 4] !== 0x2d || bytes[from + 7] !== 0x2d) return Number.NaN
    const day = midnight(four(bytes, from), two(bytes, from + 5), two(bytes, from + 8))
    if (to - from === 10) return day
    const separator = bytes[from + 10]
    if (separator !== 0x54 && separator !== 0x74 && separator !== 0x20) return Number.NaN
    if (to - from < 16 || bytes[from + 13] !== 0x3a) return Number.NaN
    if (to - from === 16 || bytes[from + 16] !== 0x3a) {
      // Hours and minutes alone.
      const hour = two(bytes, from + 11)
      const minute = two(bytes, from + 14)
      if (!(hour <= 23 && minute <= 59)) return Number.NaN
      return day + hour * HOUR + minute * MINUTE - zone(bytes, from + 16, to)
    }
    if (to - from < 19) return Number.NaN
    const time = day + clock(bytes, from + 11)
    let at = from + 19
    let fraction = 0
    if (at < to && (bytes[at] === 0x2e || bytes[at] === 0x2c)) {
      at += 1
      const first = at
      for (; at < to && isDigit(bytes[at] as number); at += 1) {
        if (at < first + 3) fraction = fraction * 10 + (bytes[at] as number) - 0x30
      }
      if (at === first) return Number.NaN
      if (at < first + 3) fraction *= at === first + 1 ? 100 : 10
    }
    return time + fraction - zone(bytes, at, to)
  }

  function readLogTime(bytes: Uint8Array, from: number, to: number): number {
    if (to - from < 20 || bytes[from + 2] !== 0x2f || bytes[from + 6] !== 0x2f || bytes[from + 11] !== 0x3a) {
      return Number.NaN
    }
    if (bytes[from + 14] !== 0x3a || bytes[from + 17] !== 0x3a) return Number.NaN
    const month = MONTHS.indexOf(threeLetters(bytes, from + 3)) + 1
    if (month === 0) return Number.NaN
    const day = midnight(four(bytes, from + 7), month, two(bytes, from))
    const at = bytes[from + 20] === 0x20 ? from + 21 : from + 20
    return day + clock(bytes, from + 12) - zone(bytes, at, to)
  }

  return (bytes, from, to) => {
    const length = to - from
    let time = Number.NaN
    if (length >= 10 && bytes[from + 4] === 0x2d && isDigit(bytes[from] as number)) time = readIso(bytes, from, to)
    else if (length >= 20 && bytes[from + 2] === 0x2f) time = readLogTime(bytes, from, to)
    else if (length > 0 && length <= 25) time = readEpoch(bytes, from, to)
    return time >= MIN_TIME && time <= MAX_TIME ? time : Number.NaN
  }
}

/** Three letters as one number, whatever their case. */
function threeLetters(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number) | 0x202020
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'].map((month) =>
  threeLetters(
    Uint8Array.from(month, (letter) => letter.charCodeAt(0)),
    0,
  ),
)

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

/** Greater than any part of a time. */
const NO_NUMBER = 1e6

/** The number that two digits make; `NO_NUMBER` where one is none. */
function two(bytes: Uint8Array, at: number): number {
  const tens = bytes[at] as number
  const ones = bytes[at + 1] as number
  return isDigit(tens) && isDigit(ones) ? (tens - 0x30) * 10 + ones - 0x30 : NO_NUMBER
}

/** The number that four digits make; `NO_NUMBER` or more where one is none. */
function four(bytes: Uint8Array, at: number): number {
  return two(bytes, at) * 100 + two(bytes, at + 2)
}

/** Milliseconds to the east of UTC: nothing or `Z` is none, else `+hh:mm`, `+hhmm` or `+hh`. */
function zone(bytes: Uint8Array, at: number, to: number): number {
  if (at === to) return 0
  const sign = bytes[at]
  if (sign === 0x5a || sign === 0x7a) return at + 1 === to ? 0 : Number.NaN
  if (sign !== 0x2b && sign !== 0x2d) return Number.NaN
  const hours = two(bytes, at + 1)
  const rest = to - at - 3
  const minutes = rest === 0 ? 0 : two(bytes, rest === 2 ? at + 3 : at + 4)
  if (rest !== 0 && rest !== 2 && !(rest === 3 && bytes[at + 3] === 0x3a)) return Number.NaN
  if (!(hours <= 23 && minutes <= 59)) return Number.NaN
  return (sign === 0x2d ? -1 : 1) * (hours * HOUR + minutes * MINUTE)
}

/** Seconds or milliseconds since 1970, with a fraction or an exponent or without. */
function readEpoch(bytes: Uint8Array, from: number, to: number): number {
  let text = ''
  for (let index = from; index < to; index += 1) text += String.fromCharCode(bytes[index] as number)
  if (!/^-?\d+(?:\.\d+)?(?:e[+-]?\d{1,2})?$/i.test(text)) return Number.NaN
  const value = Number(text)
  return Math.floor(Math.abs(value) >= MILLISECONDS_FROM ? value : value * SECOND)
}
