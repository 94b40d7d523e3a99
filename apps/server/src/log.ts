import { destination, type Logger, pino, stdTimeFunctions } from 'pino'
import type { Config } from './config.ts'

export type Log = Logger

// API tokens and invitation codes, also with the underscore percent-encoded. Who logs does not log them; this is for
// the message of an error that quotes what it was given.
const SECRET = /(sm[si])(?:_|%5f)[0-9a-z]{20,}/gi

/** The log: one JSON object a line, to standard error, so that standard output is for what a person or script asked for. */
export function createLog(level: Config['LOG_LEVEL']): Log {
  // Written at once: what was logged last before the process ends is what one wants to read.
  const stderr = destination({ dest: 2, sync: true })
  const options = { level, base: { pid: process.pid }, timestamp: stdTimeFunctions.isoTime }
  return pino(options, { write: (line: string) => stderr.write(withoutSecrets(line)) })
}

/** The text without tokens and codes. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRET, '$1_[hidden]')
}
