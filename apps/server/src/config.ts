import { EmailAddress, MAX_DOCUMENT_BYTES, MAX_TRAFFIC_BYTES } from '@security-management/domain'
import * as v from 'valibot'

/** What the environment says about how the service runs. */
export type Config = v.InferOutput<typeof Environment>

/** Levels of the log, the quietest first. */
const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

// Every message says what the variable takes and never what was found, which may hold a password.
const PORT_TAKES = 'takes a whole number from 0 to 65535 (0 means any free port)'
const DATABASE_TAKES = 'takes sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE'
const PUBLIC_TAKES = 'takes an http or https URL without user, query and fragment, such as https://security.example.com'
const SMTP_TAKES = 'takes smtp://USER:PASSWORD@HOST:PORT or smtps://…'
const BYTES_TAKES = 'takes a whole number of bytes from 1 up'

const RETENTION_TAKES = 'takes a number of days or hours such as 30d or 12h'

const MIB = 1024 * 1024
const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR

function bytes(byDefault: number) {
  return v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,14}$/, BYTES_TAKES), v.transform(Number)), String(byDefault))
}

const Environment = v.object({
  HOST: v.optional(
    v.pipe(v.string(), v.regex(/^[\w.:%-]{1,253}$/, 'takes the address to listen on, such as 127.0.0.1 or 0.0.0.0')),
    '127.0.0.1',
  ),
  PORT: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,5}$/, PORT_TAKES), v.transform(Number), v.maxValue(65_535, PORT_TAKES)),
    '8080',
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
  /** Milliseconds. */
  TRAFFIC_RETENTION: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,5}[hd]$/, RETENTION_TAKES),
      v.transform((text) => Number.parseInt(text, 10) * (text.endsWith('d') ? DAY : HOUR)),
    ),
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
