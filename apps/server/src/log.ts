import { destination, type Logger, pino, stdTimeFunctions } from 'pino'
import type { Config } from './config.ts'

export type Log = Logger

/** A log that is written while the process goes on. */
export type ServingLog = {
  log: Log
  /** Lines that were lost so far, because whoever reads the log was too slow. */
  dropped(): number
}

/** Bytes of the log that wait for a slow reader at the most. What comes beyond is dropped, and counted. */
const MAX_WAITING = 16 * 1024 * 1024

/** As many bytes as a pipe takes in one piece, so that the lines of several processes do not mix. */
const MAX_WRITE = 4096

// API tokens and invitation codes, also where some of their characters are percent-encoded, once or several times. Who
// logs does not log them; this is for what quotes what it was given, such as the message of an error.
const PERCENT = '%(?:25)*'
const LETTER_OR_DIGIT = `(?:[0-9a-z]|${PERCENT}(?:3[0-9]|[46][1-9a-f]|[57][0-9a]))`
const PREFIX = `(?:s|${PERCENT}[57]3)(?:m|${PERCENT}[46]d)(?:[si]|${PERCENT}(?:[57]3|[46]9))(?:_|${PERCENT}5f)`
const SECRET = new RegExp(`(${PREFIX})${LETTER_OR_DIGIT}{20,}`, 'gi')

/**
 * A log that is written at once: one JSON object a line, to standard error, so that standard output is for what a person
 * or script asked for.
 */
export function createLog(level: Config['LOG_LEVEL']): Log {
  return logTo(destination({ dest: 2, sync: true }), level)
}

/**
 * The log of a process that serves requests. Its lines are written by a thread of Node's pool: a reader that is slow, or
 * has stopped, must not stop requests. What waits is written before the process ends, also at a fatal error.
 *
 * @param maxWaiting bytes, see `MAX_WAITING`.
 */
export function createServingLog(level: Config['LOG_LEVEL'], maxWaiting = MAX_WAITING): ServingLog {
  const stderr = destination({ dest: 2, sync: false, minLength: 0, maxLength: maxWaiting, maxWrite: MAX_WRITE })
  const log = logTo(stderr, level)
  let dropped = 0
  let told = 0
  stderr.on('drop', () => {
    dropped += 1
  })
  stderr.on('drain', () => {
    if (dropped === told) return
    log.warn({ dropped: dropped - told }, 'lines of this log were dropped, since its reader is too slow')
    told = dropped
  })
  return { log, dropped: () => dropped }
}

/** The text without tokens and codes. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRET, '$1[hidden]')
}

function logTo(stderr: { write(line: string): unknown }, level: Config['LOG_LEVEL']): Log {
  const options = { level, base: { pid: process.pid }, timestamp: stdTimeFunctions.isoTime }
  return pino(options, { write: (line: string) => stderr.write(withoutSecrets(line)) })
}
