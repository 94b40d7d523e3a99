import { EmailAddress, MAX_DOCUMENT_BYTES, MAX_TRAFFIC_BYTES } from '@security-management/domain'
import * as v from 'valibot'
import { DURATION, DURATION_TAKES, millisecondsOf } from './duration.ts'

/** What the environment says about how the service runs. */
export type Config = v.InferOutput<typeof Environment>

/** Levels of the log, the quietest first. */
const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

// Every message says what the variable takes and never what was found, which may hold a password.
const PORT_TAKES = 'takes a whole number from 0 to 65535 (0 means any free port)'
const DATABASE_TAKES = 'takes sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE'
const ADMIN_PORT_TAKES = 'takes a whole number from 0 to 65535 (0 means no second listener)'
const HOST_TAKES = 'takes the address to listen on, such as 127.0.0.1 or 0.0.0.0'
const WORKERS_TAKES = 'takes a number of processes from 1 to 64'
const DELAY_TAKES = 'takes a whole number of seconds from 0 to 99'
const PUBLIC_TAKES = 'takes an http or https URL without user, query and fragment, such as https://security.example.com'
const SMTP_TAKES = 'takes smtp://USER:PASSWORD@HOST:PORT or smtps://…'
const BYTES_TAKES = 'takes a whole number of bytes from 1 up'
const TIME_TAKES = 'takes a time such as 30s or 5m, up to an hour'
const COUNT_TAKES = 'takes a whole number from 1 up'
const RATE_TAKES = 'takes a number in a minute or an hour, such as 600/min or 10000/h, or off'
const PROXIES_TAKES = 'takes the number of proxies in front of the service, from 0 to 9'

const MIB = 1024 * 1024
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

function bytes(byDefault: number) {
  return v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,14}$/, BYTES_TAKES), v.transform(Number)), String(byDefault))
}

function wholeNumber(byDefault: number) {
  return v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,8}$/, COUNT_TAKES), v.transform(Number)), String(byDefault))
}

/** Milliseconds. */
function time(byDefault: string) {
  return v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[1-9]\d{0,3}[sm]$/, TIME_TAKES),
      v.transform((text) => Number.parseInt(text, 10) * (text.endsWith('m') ? MINUTE : SECOND)),
      v.maxValue(HOUR, TIME_TAKES),
    ),
    byDefault,
  )
}

/** Undefined for `off`. */
function rate(byDefault: string) {
  return v.optional(
    v.pipe(
      v.string(),
      v.regex(/^(?:off|[1-9]\d{0,8}\/(?:min|h))$/, RATE_TAKES),
      v.transform((text) =>
        text === 'off' ? undefined : { limit: Number.parseInt(text, 10), window: text.endsWith('h') ? HOUR : MINUTE },
      ),
    ),
    byDefault,
  )
}

function host(byDefault: string) {
  return v.optional(v.pipe(v.string(), v.regex(/^[\w.:%-]{1,253}$/, HOST_TAKES)), byDefault)
}

function port(byDefault: string, takes: string) {
  return v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,5}$/, takes), v.transform(Number), v.maxValue(65_535, takes)),
    byDefault,
  )
}

const Environment = v.object({
  HOST: host('127.0.0.1'),
  PORT: port('8080', PORT_TAKES),
  ADMIN_HOST: host('127.0.0.1'),
  ADMIN_PORT: port('9090', ADMIN_PORT_TAKES),
  WORKERS: v.optional(
    v.pipe(v.string(), v.regex(/^[1-9]\d?$/, WORKERS_TAKES), v.transform(Number), v.maxValue(64, WORKERS_TAKES)),
    '1',
  ),
  /** Milliseconds. */
  STOP_DELAY: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,2}$/, DELAY_TAKES),
      v.transform((text) => Number(text) * 1000),
    ),
    '0',
  ),
  DATABASE_URL: v.optional(v.pipe(v.string(), v.check(isDatabaseUrl, DATABASE_TAKES)), 'sqlite:data/service.sqlite'),
  PUBLIC_URL: v.optional(v.pipe(v.string(), v.check(isPublicUrl, PUBLIC_TAKES), v.transform(withoutEndingSlash))),
  SMTP_URL: v.optional(v.pipe(v.string(), v.check(isSmtpUrl, SMTP_TAKES))),
  MAIL_FROM: v.optional(
    v.pipe(
      v.string(),
      v.check((value) => v.is(EmailAddress, value), 'takes one e-mail address'),
    ),
    'security-management@localhost',
  ),
  LOG_LEVEL: v.optional(v.picklist(LOG_LEVELS, `takes one of ${LOG_LEVELS.join(', ')}`), 'info'),
  TOKEN_IN_QUERY: v.optional(v.picklist(['allow', 'refuse'], 'takes allow or refuse'), 'allow'),
  MAX_JSON_BYTES: bytes(MIB),
  MAX_FRAMEWORK_BYTES: bytes(8 * MIB),
  MAX_DOCUMENT_BYTES: bytes(MAX_DOCUMENT_BYTES),
  MAX_TRAFFIC_BYTES: bytes(MAX_TRAFFIC_BYTES),
  STORAGE_QUOTA: v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,14}$/, BYTES_TAKES), v.transform(Number))),
  REQUEST_TIMEOUT: time('30s'),
  UPLOAD_TIMEOUT: time('5m'),
  KEEP_ALIVE_TIMEOUT: time('5s'),
  MAX_CONNECTIONS: wholeNumber(1000),
  MAX_REQUESTS_PER_CONNECTION: wholeNumber(1000),
  MAX_FAILED_AUTHENTICATIONS: rate('120/min'),
  RATE_LIMIT: rate('off'),
  TRUST_PROXY: v.optional(v.pipe(v.string(), v.regex(/^\d$/, PROXIES_TAKES), v.transform(Number)), '0'),
  /** Milliseconds. */
  TRAFFIC_RETENTION: v.optional(
    v.pipe(v.string(), v.regex(DURATION, DURATION_TAKES), v.transform(millisecondsOf)),
    '30d',
  ),
})

/**
 * Reads the configuration from the environment. A variable that is empty counts as not set.
 *
 * @throws Error with one line that names each wrong variable and what it takes.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const result = v.safeParse(Environment, set)
  if (result.success) return result.output
  const problems = new Map(result.issues.map((issue) => [v.getDotPath(issue), issue.message]))
  throw new Error([...problems].map(([variable, message]) => `${variable} ${message}`).join('; '))
}

function isDatabaseUrl(value: string): boolean {
  if (value.startsWith('sqlite:')) return value.length > 'sqlite:'.length && !value.includes('\0')
  return URL.canParse(value) && ['postgres:', 'postgresql:'].includes(new URL(value).protocol)
}

function isPublicUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, password, search, hash } = new URL(value)
  return ['http:', 'https:'].includes(protocol) && username + password + search + hash === ''
}

function isSmtpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, hostname } = new URL(value)
  return ['smtp:', 'smtps:'].includes(protocol) && hostname !== ''
}

function withoutEndingSlash(url: string): string {
  return new URL(url).href.replace(/\/+$/, '')
}
