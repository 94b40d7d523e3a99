import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { DomainError, type ErrorCode, INVITATION_PREFIX, type Problem, TOKEN_PREFIX } from '@security-management/domain'
import type { Context, Log, Middleware, State } from './context.ts'
import { drain } from './input.ts'

/** Stands for a caller who is not authenticated or not permitted. */
const NOT_PERMITTED = 9153

export type Messages = readonly (string | number)[]

/** Text of a 400 where no route has one of its own. */
export const INVALID = 'Invalid data provided'

// Where there are no messages, it is the one text of the route's 400, with what is wrong in detail.
const WIRE: Record<ErrorCode, { status: number; messages?: Messages }> = {
  invalid: { status: 400 },
  conflict: { status: 400 },
  unauthenticated: { status: 401, messages: [NOT_PERMITTED] },
  forbidden: { status: 401, messages: [NOT_PERMITTED] },
  not_found: { status: 404, messages: [] },
  too_large: { status: 413, messages: ['Payload too large'] },
  unavailable: { status: 503, messages: [] },
}

/** Problems that one answer tells of: a body can have more of them than it has bytes in a hundred. */
const MAX_DETAILS = 100

/** The envelope of an operation that succeeded. */
export function success(answer: object): object {
  return { error: 0, messages: [], ...answer }
}

/** The envelope of an operation that failed. */
export function failure(messages: Messages, details?: readonly Problem[]): object {
  return { error: 1, messages, ...(details && { details: details.slice(0, MAX_DETAILS) }) }
}

/** Headers of every answer (decisions.md §2). */
export function commonHeaders(requestId: string): { [name: string]: string } {
  return {
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
}

/** Answers with an envelope; written out here, so that what cannot be written is an error like any other. */
export function send(ctx: Context, status: number, envelope: object): void {
  const text = JSON.stringify(envelope)
  ctx.status = status
  ctx.type = 'json'
  ctx.body = text
}

/**
 * The outermost middleware: whatever happens inside, the answer is an envelope. Writes one line to the log for each
 * request, which names the template of its path and never its URL, since that may hold a token.
 */
export function errorEnvelope(log: Log): Middleware {
  return async (ctx, next) => {
    const started = performance.now()
    const { state } = ctx
    state.requestId = requestIdOf(ctx.get('X-Request-Id'))
    ctx.set(commonHeaders(state.requestId))
    try {
      await next()
    } catch (error) {
      const { status, envelope } = refusalOf(error, state)
      send(ctx, status, envelope)
    }
    drain(ctx)
    whenClosed(ctx.res, () => write(log, ctx, Math.round(performance.now() - started)))
  }
}

/** Status and envelope of an error; what is no refusal of ours is noted for the log, and says nothing to the client. */
function refusalOf(error: unknown, state: State): { status: number; envelope: object } {
  if (!(error instanceof DomainError) || error.code === 'unavailable') state.failure = error
  if (!(error instanceof DomainError)) return { status: 500, envelope: failure([]) }
  const { status, messages } = WIRE[error.code]
  if (messages) return { status, envelope: failure(messages) }
  const details = error.details.map((problem) => respelled(problem, state))
  return { status, envelope: failure([state.route?.invalidInput ?? INVALID], details) }
}

/** The problem with its path as the request spells it: `ordering` where that was sent for `order`. */
function respelled({ path, message }: Problem, { spelling }: State): Problem {
  const [name = '', ...rest] = path.split('.')
  return { path: [spelling?.get(name) ?? name, ...rest].join('.'), message }
}

/** A sender's own id, unless it could be a secret, which no log may hold; else a new one. */
function requestIdOf(sent: string): string {
  const mayBeLogged = /^[\w.-]{1,64}$/.test(sent) && !sent.includes(TOKEN_PREFIX) && !sent.includes(INVITATION_PREFIX)
  return mayBeLogged ? sent : randomUUID()
}

/** Runs `work` once the answer is sent, or the client is gone. */
export function whenClosed(res: ServerResponse, work: () => void): void {
  if (res.closed) work()
  else res.once('close', work)
}

function write(log: Log, ctx: Context, milliseconds: number): void {
  const { requestId, route, user, failure: err } = ctx.state
  const gone = !ctx.res.writableFinished && (err === undefined || isAbort(err))
  const status = gone ? CLIENT_CLOSED_REQUEST : ctx.status
  const fields = { requestId, method: ctx.method, route: route?.path, status, milliseconds, user }
  if (gone) log.info(fields, 'client went away')
  else if (err === undefined) log.info(fields, 'request')
  else log.error({ ...fields, err }, 'request failed')
}

/** Stands in the log, and nowhere else, for a request whose client did not wait for the answer. */
const CLIENT_CLOSED_REQUEST = 499

const ABORTS = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])

/** Whether the error is what reading or writing throws when the other side goes away, also beneath another error. */
export function isAbort(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && typeof error.code === 'string' && ABORTS.has(error.code)) || isAbort(error.cause)
}
