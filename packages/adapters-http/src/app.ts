import Router, { type RouterContext } from '@koa/router'
import { checkInvitation, invalid, type Ports } from '@security-management/domain'
import Koa from 'koa'
import { secretOf, tokenReader } from './authentication.ts'
import type { Context, Log, Middleware, State } from './context.ts'
import { sendDocument } from './download.ts'
import { errorEnvelope, failure, isAbort, send, success, whenClosed } from './errors.ts'
import { readInput } from './input.ts'
import { pairsOf, paramsReader, queryReader } from './parameters.ts'
import { EXACTLY, methodsAt, patternOf, splitTarget } from './paths.ts'
import type { Limits, Route } from './route.ts'
import { routes } from './routes/index.ts'

const MIB = 1024 * 1024

/** The limits that hold unless a server is told otherwise, in bytes (decisions.md §2). */
export const DEFAULT_LIMITS: Limits = { json: MIB, framework: 8 * MIB, document: 50 * MIB, traffic: 256 * MIB }

export type AppOptions = {
  log: Log
  /** In bytes; those left out are the defaults. */
  limits?: Partial<Limits>
  /** Whether a token may be sent in the query; true unless said otherwise. */
  tokenInQuery?: boolean
}

/** The whole interface as a Koa application: every operation of `routes`, on these ports. */
export function createApp(ports: Ports, options: AppOptions): Koa {
  const app = new Koa<State>()
  const router = new Router<State>(EXACTLY)
  const serve = handlers(ports, options)
  for (const route of routes) router.register(patternOf(route.path), [route.method], serve(route))
  app.use(errorEnvelope(options.log))
  app.use(readTarget)
  app.use(router.routes())
  app.use(refusePath)
  // What reaches Koa itself came after the answer had begun; most of it is the client's going away.
  app.on('error', (err, ctx?: Context) => {
    if (!isAbort(err) && err !== ctx?.state.failure) options.log.error({ err }, 'error beside a request')
  })
  return app
}

/** Checks what HTTP itself asks of every request, and shows the router the bare path, which it decodes nothing of. */
const readTarget: Middleware = async (ctx, next) => {
  const { path, search } = splitTarget(ctx.originalUrl)
  ctx.url = path
  ctx.state.search = search
  const { host, expect } = ctx.headers
  if (ctx.req.httpVersion === '1.1') {
    if (host === undefined) throw invalid('Host', 'The header is required')
    if (expect !== undefined && expect.toLowerCase() !== '100-continue') return send(ctx, 417, failure([]))
  }
  await next()
}

const refusePath: Middleware = (ctx) => {
  const allowed = methodsAt(ctx.url)
  if (allowed.length === 0) return send(ctx, 404, failure([]))
  ctx.set('Allow', allowed.join(', '))
  send(ctx, 405, failure([]))
}

/** Makes what serves a route: token, path, rights, query, body, use case, in this order (decisions.md §1). */
function handlers(ports: Ports, { log, limits: own, tokenInQuery = true }: AppOptions) {
  const limits = { ...DEFAULT_LIMITS, ...own }
  const callerOf = tokenReader(ports, log)

  /** Who sent the request: a caller with a token, or somebody with the code of an invitation. */
  async function identify(ctx: Context, { authentication }: Route, secret: string) {
    if (authentication === 'invitation') {
      await checkInvitation(ports, secret)
      return { code: secret }
    }
    const caller = await callerOf(secret, (work) => whenClosed(ctx.res, work))
    ctx.state.user = caller.user
    return { caller }
  }

  return (route: Route) => {
    const readParams = paramsReader(route)
    const readQuery = queryReader(route)

    return async (ctx: RouterContext<State>): Promise<void> => {
      ctx.state.route = route
      const pairs = pairsOf(ctx.state.search)
      const who = await identify(ctx, route, secretOf(ctx.headers, pairs, tokenInQuery))
      const params = readParams(ctx.captures ?? [])
      if (who.caller) await route.permit?.(ports, who.caller, params)
      const { query, spelling } = readQuery(pairs)
      ctx.state.spelling = spelling
      const input = await readInput(ctx, route, limits)
      const setHeader = (name: string, value: string) => ctx.set(name, value)
      const request = { ports, params, query, ...input, limits, setHeader, ...who }
      if (route.answer === 'document') return sendDocument(ctx, await route.handle(request))
      const result: { [name: string]: unknown } = await route.handle(request)
      const answer = Object.fromEntries(Object.keys(route.answer).map((name) => [name, result[name]]))
      send(ctx, route.status, success(answer))
    }
  }
}
