import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { DomainError, type ErrorCode, INVITATION_PREFIX, type Problem, TOKEN_PREFIX } from '@security-management/domain'
import { whenClosed } from './close.ts'
import type { Context, Log, Middleware, OnServed, Served, State } from './context.ts'
import { createHold } from './hold.ts'
import { drain } from './input.ts'
import { type Pace, SLOWEST } from './pace.ts'
import { noteServed, PIECE, type Pieces, piecesOf, writePieces } from './pieces.ts'

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
  outdated: { status: 412, messages: [] },
  too_large: { status: 413, messages: ['Payload too large'] },
  too_slow: { status: 408, messages: [] },
  too_many_requests: { status: 429, messages: ['Too many requests'] },
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
  sendText(ctx, status, JSON.stringify(envelope))
}

/** Answers with the text of an envelope. */
export function sendText(ctx: Context, status: number, text: string): void {
  ctx.status = status
  ctx.type = 'json'
  if (text.length <= PIECE) {
    ctx.state.pieces = undefined
    ctx.body = text
    return
  }
  const bytes = Buffer.from(text)
  ctx.state.hold.answer(ctx.res, ctx.state.user, bytes.length)
  sendPieces(ctx, piecesOf(bytes), bytes.length)
}

/** Answers with bytes that are asked for as fast as the client takes them, and that are nobody else's. */
export function sendPieces(ctx: Context, content: Pieces, length: number): void {
  ctx.length = length
  if (ctx.method !== 'HEAD') ctx.state.pieces = content
}

/** As many bytes as two of the largest pages that there may be. */
const MEMORY = 128 * 1024 * 1024

/**
 * The outermost middleware: whatever happens inside, the answer is an envelope. Writes one line to the log for each
 * request, which names its route and never its URL, since that may hold a token.
 */
export function errorEnvelope({
  log,
  memory = MEMORY,
  pace = SLOWEST,
  onServed = () => {},
}: {
  log: Log
  memory?: number
  pace?: Pace
  onServed?: OnServed
}): Middleware {
  const hold = createHold(memory)
  return async (ctx, next) => {
    const started = performance.now()
    const { state } = ctx
    state.pace = pace
    state.hold = hold
    state.requestId = requestIdOf(ctx.get('X-Request-Id'))
    ctx.set(commonHeaders(state.requestId))
    try {
      await next()
    } catch (error) {
      const { status, envelope, retryAfter } = refusalOf(error, state)
      if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter))
      send(ctx, status, envelope)
    }
    // Who downloads one file after the other is not somebody else.
    if (!state.pieces) noteServed()
    drain(ctx)
    // Koa would take an answer that was still waiting for those before it as open, and fail to pipe into it.
    if (ctx.res.destroyed) ctx.respond = false
    whenClosed(ctx.res, () => onServed(write(log, ctx, performance.now() - started)))
    if (state.pieces) await sendRest(ctx, state.pieces)
  }
}

/** Koa would let a stream read ahead of the client, and leave to the garbage collector what was sent. */
async function sendRest(ctx: Context, pieces: Pieces): Promise<void> {
  ctx.respond = false
  try {
    await writePieces(ctx.res, pieces, ctx.state.pace)
  } catch (error) {
    // The answer has begun: the connection breaks, so that nobody takes a part for the whole.
    ctx.state.failure = error
    ctx.res.destroy()
  }
}

/** Status and envelope of an error; what is no refusal of ours is noted for the log, and says nothing to the client. */
function refusalOf(
  error: unknown,
  state: State,
): { status: number; envelope: object; retryAfter?: number | undefined } {
  if (!(error instanceof DomainError) || error.code === 'unavailable') state.failure = error
  if (!(error instanceof DomainError)) return { status: 500, envelope: failure([]) }
  if (error.code === 'unauthenticated' || error.code === 'forbidden') state.refused = error.code
  const { status, messages } = WIRE[error.code]
  if (messages) return { status, envelope: failure(messages), retryAfter: error.retryAfter }
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

/** Statuses of requests that Node refused while their bodies came, and was answered for beside the application. */
export const refusedBeside = new WeakMap<ServerResponse, number>()

function write(log: Log, ctx: Context, milliseconds: number): Served {
  const { requestId, route, user, token, refused, failure: err } = ctx.state
  const beside = refusedBeside.get(ctx.res)
  const gone = beside === undefined && !ctx.res.writableFinished && (err === undefined || isAbort(err))
  const served = {
    request_id: requestId,
    method: ctx.method,
    route: route?.id ?? null,
    caller: user ?? null,
    token: token ?? null,
    status: beside ?? (gone ? CLIENT_CLOSED_REQUEST : ctx.status),
    duration_ms: Math.round(milliseconds * 10) / 10,
  }
  const fields = { ...served, refused }
  if (gone) log.info(fields, 'client went away')
  else if (err === undefined || beside !== undefined) log.info(fields, 'request')
  else log.error({ ...fields, err }, 'request failed')
  return served
}

/** Stands in the log, and nowhere else, for a request whose client did not wait for the answer. */
const CLIENT_CLOSED_REQUEST = 499

const ABORTS = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])

/** Whether the error is what reading or writing throws when the other side goes away, also beneath another error. */
export function isAbort(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && typeof error.code === 'string' && ABORTS.has(error.code)) || isAbort(error.cause)
}
