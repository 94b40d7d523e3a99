import type Koa from 'koa'
import type { Route } from './route.ts'

/** Where the log goes: the part of pino that is used. */
export type Log = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** What is known of a request while it is served. */
export type State = {
  requestId: string
  /** What follows `?` in the request's URL, or `""`. */
  search: string
  route?: Route
  /** The caller's id, once they are authenticated. */
  user?: string
  /** How the request spells query parameters, by the names of the domain. */
  spelling?: ReadonlyMap<string, string>
  /** What went wrong that is no refusal. */
  failure?: unknown
}

export type Context = Koa.ParameterizedContext<State>
export type Middleware = Koa.Middleware<State>
