import type Koa from 'koa'
import type { Hold } from './hold.ts'
import type { Pace } from './pace.ts'
import type { Pieces } from './pieces.ts'
import type { Route } from './route.ts'

/** Where the log goes: the part of pino that is used. */
export type Log = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** A request that is over, as the log tells of it. */
export type Served = {
  request_id: string
  /** Null for what was not even a request. */
  method: string | null
  /** Id of the route's declaration; null where there is none. */
  route: string | null
  /** The caller's id; null for who is not authenticated. */
  caller: string | null
  /** Id of the token it came with; null where no valid one did. */
  token: number | null
  /** As it was sent; 499 where the client did not wait for it. */
  status: number
  duration_ms: number
}

/** Told of every request that is over, after its line was logged. */
export type OnServed = (served: Served) => void

/** What is known of a request while it is served. */
export type State = {
  requestId: string
  /** How fast a client has to take a long answer. */
  pace: Pace
  /** Told of what is kept in memory for the request. */
  hold: Hold
  /** What follows `?` in the request's URL, or `""`. */
  search: string
  route?: Route
  /** The caller's id, once they are authenticated. */
  user?: string
  /** Id of the token they were authenticated with. */
  token?: number
  /** The bytes of an answer that is written piece by piece. */
  pieces?: Pieces | undefined
  /** How the request spells query parameters, by the names of the domain. */
  spelling?: ReadonlyMap<string, string>
  /** Why the request was not permitted; noted in the log, since the audit trail holds what was done. */
  refused?: 'unauthenticated' | 'forbidden'
  /** What went wrong that is no refusal. */
  failure?: unknown
}

export type Context = Koa.ParameterizedContext<State>
export type Middleware = Koa.Middleware<State>
