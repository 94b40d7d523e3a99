import { MAX_TIME, MIN_TIME, parseTime } from '../values.ts'

/** One request, as a log line tells of it. */
export type TrafficLine = {
  /** Milliseconds since 1970. */
  time: number
  /** Whether the line says so itself: a verdict such as blocked, denied, dropped. */
  malicious: boolean
}

/** Why a line could not be read. */
export type UnreadableLine = { reason: string }

/** The names that logs use for what the service counts; dotted ones are nested. The first that is there wins. */
const NAMES = {
  time: [
    'timestamp',
    '@timestamp',
    'time',
    'datetime',
    'date',
    'ts',
    'time_local',
    'time_iso8601',
    'msec',
    'StartUTC',
    'StartLocal',
    'start_time',
    'event.created',
    'event.start',
  ],
  verdict: [
    'verdict',
    'action',
    'decision',
    'disposition',
    'event.action',
    'event.outcome',
    'event.type',
    'waf.action',
    'terminatingRuleAction',
    'status',
  ],
} as const

/** What a firewall, proxy or resolver says of a request that it did not let through. */
const MALICIOUS = new Set([
  'block',
  'blocked',
  'deny',
  'denied',
  'drop',
  'dropped',
  'reject',
  'rejected',
  'refuse',
  'refused',
  'malicious',
  'attack',
  'threat',
  'sinkhole',
  'sinkholed',
])

/** Reads one line of a traffic file: an object of any of the known forms, or a text in a log format of web servers. */
export function readTrafficLine(line: unknown): TrafficLine | UnreadableLine {
  if (typeof line === 'string') return readText(line)
  if (typeof line !== 'object' || line === null || Array.isArray(line))
    return { reason: 'neither a text nor an object' }
  const fields = line as { [key: string]: unknown }
  const sent = field(fields, NAMES.time)
  if (sent === undefined) return { reason: 'no time' }
  const time = timeOf(sent)
  if (time === undefined) return { reason: 'the time cannot be read' }
  return { time, malicious: NAMES.verdict.some((name) => isMalicious(field(fields, [name]))) }
}

function field(line: { [key: string]: unknown }, names: readonly string[]): unknown {
  for (const name of names) {
    const value = Object.hasOwn(line, name) ? line[name] : nested(line, name)
    if (value !== undefined && value !== null && value !== '') return value
  }
  return undefined
}

function nested(line: { [key: string]: unknown }, name: string): unknown {
  if (!name.includes('.')) return undefined
  let value: unknown = line
  for (const key of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as { [key: string]: unknown })[key]
  }
  return value
}

function isMalicious(verdict: unknown): boolean {
  if (Array.isArray(verdict)) return verdict.some(isMalicious)
  return typeof verdict === 'string' && MALICIOUS.has(verdict.trim().toLowerCase())
}

/** Numbers from here up are milliseconds: in seconds they would lie past the year 5000. */
const MILLISECONDS_FROM = 1e11

function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return epoch(value)
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (/^\d{9,13}(?:\.\d+)?$/.test(text)) return epoch(Number(text))
  return parseTime(text) ?? clfTime(text)
}

function epoch(value: number): number | undefined {
  const time = Math.abs(value) >= MILLISECONDS_FROM ? value : value * 1000
  return time >= MIN_TIME && time <= MAX_TIME ? time : undefined
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const CLF_TIME = /^\[?(\d{2})\/([a-z]{3})\/(\d{4}):(\d{2}):(\d{2}):(\d{2}) ([+-])(\d{2})(\d{2})\]?$/i

/** The time of web server logs: `17/May/2015:10:05:03 +0000`. */
function clfTime(text: string): number | undefined {
  const [, day, monthName, year, hour, minute, second, sign, offsetHours, offsetMinutes] = CLF_TIME.exec(text) ?? []
  const month = MONTHS.indexOf(monthName?.toLowerCase() ?? '') + 1
  if (month === 0) return undefined
  const pad = String(month).padStart(2, '0')
  return parseTime(`${year}-${pad}-${day}T${hour}:${minute}:${second}${sign}${offsetHours}:${offsetMinutes}`)
}

/**
 * Common and Combined Log Format, with or without the virtual host in front:
 * `[vhost[:port]] client ident user [time] "request" status …`
 */
const LOG_LINE = /^(?:\S+ )?\S+ \S+ .*?\[([^\]]{20,40})\] "(?:[^"\\]|\\.)*" (?:\d{3}|-)(?: |$)/

function readText(line: string): TrafficLine | UnreadableLine {
  const sent = LOG_LINE.exec(line)?.[1]
  if (sent === undefined) return { reason: 'no log format that is known' }
  const time = clfTime(sent)
  return time === undefined ? { reason: 'the time cannot be read' } : { time, malicious: false }
}
