import * as v from 'valibot'
import { array, custom } from './parse.ts'
import { pattern } from './pattern.ts'
import { createAddress, readAddress } from './traffic/line-addresses.ts'

/** Greatest integer that every store and every JSON reader keeps exactly: 2^53 − 1. */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER

/** Items that an array may hold, evidences aside (decisions.md §2). */
export const MAX_ITEMS = 1000

/** Levels of nesting that a JSON body may have (decisions.md §2). */
export const MAX_DEPTH = 32

// Every control character but tab and newline; stores treat NUL in particular each in its own way.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/

function isStorableText(value: string): boolean {
  return !CONTROL.test(value) && value.isWellFormed()
}

/** Length in characters (code points), which is what JSON Schema's `maxLength` counts, too. */
function characters(value: string): number {
  let count = 0
  for (const _ of value) count += 1
  return count
}

// What a schema of ours cannot say in valibot's own actions stands beside them as JSON Schema, for the API document.
// Its patterns keep to what every language's regular expressions understand.
const EMPTY = { type: 'string', const: '' }
/** Pattern of texts without control characters other than newline and tab, as any language's regular expressions read it. */
export const NO_CONTROL = '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$'

const storable = v.check(
  isStorableText,
  'Text must be well-formed Unicode without control characters other than newline and tab',
)

function atMost(limit: number) {
  return v.check<string, string>(
    // A character has two code units at the most; none is counted of a text that is far too long.
    (value) => value.length <= limit || (value.length <= 2 * limit && characters(value) <= limit),
    `Text must have at most ${limit} characters`,
  )
}

function text(limit: number) {
  return v.pipe(v.string(), storable, atMost(limit), v.metadata({ maxLength: limit, pattern: NO_CONTROL }))
}

/** Free text (descriptions, evidence details): at most 10,000 characters, kept as sent. */
export const FreeText = text(10_000)

/** Any other text: at most 255 characters, kept as sent. */
export const ShortText = text(255)

/** A title, role or phone: at most 255 characters, trimmed, may be empty. */
export const Label = v.pipe(
  v.string(),
  v.trim(),
  storable,
  atMost(255),
  v.metadata({ maxLength: 255, pattern: NO_CONTROL }),
)

/** A name that must be there: 1 to 255 characters after trimming. */
export const Name = v.pipe(Label, v.nonEmpty('Must not be empty'), v.metadata({ allOf: [{ pattern: '\\S' }] }))

// A text like any other: its wording is not part of the type.
const WHOLE: string = 'Must be a whole number'

/** Identifier of a record: an integer from 1 to 2^53 − 1. */
export const Id = v.pipe(v.number(WHOLE), v.safeInteger(), v.minValue(1))

/** A count: an integer from 0 to 2^53 − 1. */
export const Count = v.pipe(v.number(WHOLE), v.safeInteger(), v.minValue(0))

/** A finite number from 0 up. */
export const Weight = v.pipe(v.number(), v.finite(), v.minValue(0))

/** Identifier of a person or key of a blocker: a UUID, in lower case. */
export const Uuid = v.pipe(v.string(), v.uuid(), v.toLowerCase())

// One bare address: a dot-atom of at most 64 characters, `@`, a host name (the address form of the HTML standard,
// without empty atoms). ASCII alone, so that "without case" means the same everywhere.
const EMAIL =
  /^(?=.{1,64}@)[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

/** One bare e-mail address of at most 254 characters, kept as sent and compared without case. */
export const EmailAddress = v.pipe(
  v.string(),
  v.maxLength(254, 'An e-mail address has at most 254 characters'),
  v.regex(EMAIL, 'Must be one e-mail address'),
  v.metadata({ format: 'email' }),
)

// valibot's `url` takes every scheme, `javascript:` among them, and drops white space before it looks.
const HTTP_URL = /^https?:\/\/[^\s/?#\\][^\s\\]*$/i

/** An absolute http(s) URL of at most 255 characters, or `""`. Never fetched by the service. */
export const HttpUrl = v.pipe(
  ShortText,
  v.check(
    (value) => value === '' || (HTTP_URL.test(value) && v.is(Url, value)),
    'Must be an http or https URL, or empty',
  ),
  v.metadata({
    anyOf: [EMPTY, { type: 'string', format: 'iri', pattern: '^[hH][tT][tT][pP][sS]?://[^\\s/?#\\\\][^\\s\\\\]*$' }],
  }),
)
const Url = v.pipe(v.string(), v.url())

const HOST_LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?`
const hostName = pattern(String.raw`^(?=.{1,253}$)(?:${HOST_LABEL}\.)*${HOST_LABEL}$`, 'u')

// Beyond ASCII the shape takes more than letters and digits, which other languages' expressions cannot tell.
const LABEL = '[^\\u0000-/:-@\\[-`{-\\u007f](?:[^\\u0000-,./:-@\\[-`{-\\u007f]{0,61}[^\\u0000-/:-@\\[-`{-\\u007f])?'
const HOST_NAME_SHAPE = `^(?!(?:.*\\.)?[0-9]+$)${LABEL}(?:\\.${LABEL})*$`

/** A host name, internationalised ones included, kept as given. An address is not a name. */
export const HostName = v.pipe(
  v.string(),
  v.check(
    (value) => hostName().test(value) && !/(?:^|\.)[0-9]+$/.test(value),
    'Must be a host name such as www.example.com',
  ),
  v.metadata({ format: 'idn-hostname', maxLength: 253, pattern: HOST_NAME_SHAPE }),
)

const IP_FORMATS = {
  anyOf: [
    { type: 'string', format: 'ipv4' },
    { type: 'string', format: 'ipv6' },
  ],
}

/** Whether it is an address and nothing else: a zone (`fe80::1%eth0`) means something on one machine alone. */
function isBareAddress(value: string): boolean {
  if (!/^[\da-f:.]+$/i.test(value)) return false
  const hasPort = value.includes(':') && value.indexOf(':') === value.lastIndexOf(':')
  const bytes = Uint8Array.from(value, (character) => character.charCodeAt(0))
  return !hasPort && readAddress(bytes, 0, bytes.length, createAddress())
}

/** An IPv4 or IPv6 address. */
export const IpAddress = v.pipe(
  v.string(),
  v.maxLength(45),
  v.check(isBareAddress, 'Must be an IPv4 or IPv6 address'),
  v.metadata(IP_FORMATS),
)

/** An IPv4 or IPv6 address, or `""` for none yet. */
export const OptionalIpAddress = v.pipe(
  v.string(),
  v.check((value) => value === '' || v.is(IpAddress, value), 'Must be an IPv4 or IPv6 address, or empty'),
  v.metadata({ maxLength: 45, anyOf: [EMPTY, ...IP_FORMATS.anyOf] }),
)

/** An array of at most 1,000 items. */
export function list<const Item extends v.GenericSchema>(item: Item) {
  return v.pipe(array(item), v.maxLength(MAX_ITEMS, `An array has at most ${MAX_ITEMS} items`))
}

/** A JSON object that the service keeps and does not read, for instance a plugin's configuration. */
export type JsonObject = { [key: string]: unknown }

/** See the type `JsonObject`. Its texts keep the rules of every text, its depth is bounded. */
export const JsonObject = v.pipe(
  custom<JsonObject>(function* (value) {
    return isPlainObject(value) && (yield* isStorableJson(value, MAX_DEPTH))
  }, 'Must be a JSON object of well-formed texts and finite numbers'),
  v.metadata({ type: 'object', additionalProperties: true }),
)

function isPlainObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Yields after each value. */
function* isStorableJson(value: unknown, depth: number): Generator<void, boolean> {
  yield
  if (depth < 0) return false
  if (value === null || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string') return isStorableText(value)
  if (Array.isArray(value)) {
    if (value.length > MAX_ITEMS) return false
    for (const item of value) if (!(yield* isStorableJson(item, depth - 1))) return false
    return true
  }
  if (!isPlainObject(value)) return false
  for (const [key, item] of Object.entries(value)) {
    if (!isStorableText(key) || !(yield* isStorableJson(item, depth - 1))) return false
  }
  return true
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/i

/**
 * Milliseconds since 1970 of an ISO 8601 date or timestamp, a missing zone read as UTC; undefined when it is none.
 * 31 February is none, though `Date` would roll it over.
 */
export function parseTime(value: string): number | undefined {
  if (!ISO_TIME.test(value)) return undefined
  const day = value.slice(0, 10)
  const midnight = Date.parse(`${day}T00:00:00.000Z`)
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined
  const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(value.slice(10))
  const time = Date.parse(
    value.length === 10 ? `${day}T00:00:00.000Z` : `${value.replace(' ', 'T')}${zoned ? '' : 'Z'}`,
  )
  // Years past 9999, which an offset can still reach, have another length and would break the order of texts.
  return Number.isNaN(time) || time < MIN_TIME || time > MAX_TIME ? undefined : time
}

/** Times that have the 24-character form of `toISOString`: years 0000 to 9999. */
export const MIN_TIME = Date.parse('0000-01-01T00:00:00.000Z')
/** The last time that can be told, in milliseconds since 1970: the end of the year 9999. */
export const MAX_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** An ISO 8601 timestamp, returned in UTC with milliseconds and `Z`, so that texts sort as times do. */
export const Timestamp = v.pipe(
  v.string(),
  v.check((value) => parseTime(value) !== undefined, 'Must be an ISO 8601 date or timestamp'),
  v.metadata({ format: 'date-time' }),
  v.transform((value) => new Date(parseTime(value) ?? 0).toISOString()),
)

const DAY = 24 * 60 * 60 * 1000

/** A bound of a period: a timestamp, or a date, which as the end of a period means all of that day. */
function periodBound(side: 'from' | 'to') {
  return v.pipe(
    v.string(),
    v.check((value) => parseTime(value) !== undefined, 'Must be an ISO 8601 date or timestamp'),
    v.metadata({
      anyOf: [
        { type: 'string', format: 'date-time' },
        { type: 'string', format: 'date' },
      ],
      description: `${side === 'from' ? 'Start' : 'End'} of the period, inclusive: a timestamp, or a date for ${side === 'from' ? 'its first' : 'its last'} moment.`,
    }),
    v.transform((value) => {
      const time = parseTime(value) ?? 0
      return new Date(side === 'to' && value.length === 10 ? time + DAY - 1 : time).toISOString()
    }),
  )
}

/** Entries of a query for a period, both bounds inclusive and both optional, under these names. */
export function periodEntries<From extends string, To extends string>(from: From, to: To) {
  return { [from]: v.optional(periodBound('from')), [to]: v.optional(periodBound('to')) } as {
    [Name in From | To]: v.OptionalSchema<ReturnType<typeof periodBound>, undefined>
  }
}

// Field by field: minute, hour, day of month, month, day of week (0 and 7 are Sunday).
const CRON_FIELDS = [
  { from: 0, to: 59, names: [] },
  { from: 0, to: 23, names: [] },
  { from: 1, to: 31, names: [] },
  { from: 1, to: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { from: 0, to: 7, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
] as const satisfies CronBounds[]

/** The values that each field of a cron expression allows. */
export type Cron = {
  minutes: Set<number>
  hours: Set<number>
  days: Set<number>
  months: Set<number>
  /** 0 and 7 are Sunday. */
  weekdays: Set<number>
  /** Whether both day fields are restricted, so that a day that fits either is meant. */
  eitherDay: boolean
}

/**
 * Reads a five-field cron expression; undefined when it is none. Lists, ranges, steps and English names as in POSIX and
 * Vixie cron; macros (`@daily`) are not five fields.
 */
export function parseCron(expression: string): Cron | undefined {
  const fields = expression.trim().split(/[ \t]+/)
  if (fields.length !== CRON_FIELDS.length) return undefined
  const [minutes, hours, days, months, weekdays] = CRON_FIELDS.map((bounds, index) =>
    cronField(fields[index] ?? '', bounds),
  )
  if (!minutes || !hours || !days || !months || !weekdays) return undefined
  const eitherDay = !fields[2]?.startsWith('*') && !fields[4]?.startsWith('*')
  return { minutes, hours, days, months, weekdays, eitherDay }
}

type CronBounds = { from: number; to: number; names: readonly string[] }

function cronField(field: string, bounds: CronBounds): Set<number> | undefined {
  const values = new Set<number>()
  for (const part of field.split(',')) {
    const match = /^(?:\*|([0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?)(?:\/([0-9]{1,2}))?$/i.exec(part)
    if (!match) return undefined
    const [, first, last, every] = match
    const step = every === undefined ? 1 : Number(every)
    const from = first === undefined ? bounds.from : cronValue(first, bounds)
    // `5/15` runs from 5 to the end of the field, as Vixie cron reads it.
    const open = first === undefined || (last === undefined && every !== undefined)
    const to = open ? bounds.to : last === undefined ? from : cronValue(last, bounds)
    if (from === undefined || to === undefined || step < 1 || from > to) return undefined
    for (let value = from; value <= to; value += step) values.add(value)
  }
  return values
}

function cronValue(text: string, { from, to, names }: CronBounds) {
  const named = names.indexOf(text.toLowerCase())
  const value = named >= 0 ? named + (from === 1 ? 1 : 0) : /^\d+$/.test(text) ? Number(text) : Number.NaN
  return value >= from && value <= to ? value : undefined
}

const CRON_SHAPE = '^\\s*(?:[0-9*,/a-zA-Z-]+[ \\t]+){4}[0-9*,/a-zA-Z-]+\\s*$'

/** A five-field cron expression, or `""` for no schedule. */
export const CronExpression = v.pipe(
  ShortText,
  v.check((value) => value === '' || parseCron(value) !== undefined, 'Must be a five-field cron expression, or empty'),
  v.metadata({ anyOf: [EMPTY, { type: 'string', format: 'cron', pattern: CRON_SHAPE }] }),
)

/**
 * A text folded for a comparison without case: composed Unicode, in lower case. Stores keep it beside the text, since
 * their own lower-casing differs beyond ASCII.
 */
export function fold(value: string): string {
  const lower = value.normalize('NFC').toLowerCase()
  // What JavaScript's lower-casing keeps apart though only case does: the final sigma, whose form depends on what
  // follows, so that a part of a word would not be found in it; and İ, which it spells as an i with a second dot.
  return lower
    .replaceAll('ς', 'σ')
    .replaceAll(/i\u0307+/g, 'i')
    .normalize('NFC')
}
