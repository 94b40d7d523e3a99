import Router, { type RouterContext } from '@koa/router'
import {
  checkInParts,
  checkInvitation,
  DomainError,
  hasAnswer,
  INVITATION_PREFIX,
  invalid,
  isSecret,
  jsonInParts,
  type Ports,
  sealOfCall,
  TOKEN_PREFIX,
  versionOf,
} from '@security-management/domain'
import Koa from 'koa'
import compose from 'koa-compose'
import { secretOf, tokenReader } from './authentication.ts'
import { clientGone, whenClosed } from './close.ts'
import { expectedVersions } from './conditions.ts'
import type { Context, Log, Middleware, OnServed, State } from './context.ts'
import { sendDocument } from './download.ts'
import { errorEnvelope, failure, isAbort, send, sendText, success } from './errors.ts'
import { type Answer, answerOnce, idempotencyKeyOf, type Run } from './idempotency.ts'
import { bodyOf, readInput } from './input.ts'
import { OPENAPI_PATH, servedOpenApi } from './openapi.ts'
import type { Pace } from './pace.ts'
import { etagOfContent, type Pages, sendKept, servePages } from './pages.ts'
import { pairsOf, paramsReader, queryReader } from './parameters.ts'
import { BASE_PATH, EXACTLY, methodsAt, patternOf, splitTarget } from './paths.ts'
import type { AnswerHeader, Limits, Route, TermsOf } from './route.ts'
import { routes } from './routes/index.ts'
import { createThrottle, type Throttle } from './throttle.ts'
import { createTurns } from './turns.ts'

const MIB = 1024 * 1024

/** The limits that hold unless a server is told otherwise, in bytes (decisions.md §2). */
export const DEFAULT_LIMITS: Limits = { json: MIB, framework: 8 * MIB, document: 50 * MIB, traffic: 256 * MIB }

/** What the application is told beside its ports. */
export type AppOptions = {
  log: Log
  /** In bytes; those left out are the defaults. */
  limits?: Partial<Limits>
  /** Bytes that an organization may store; not bounded unless said otherwise. */
  storageQuota?: number | undefined
  /** Bytes of bodies and answers that all requests together may have in memory; 128 MiB unless said otherwise. */
  memory?: number
  /** Milliseconds in which the body of a request must have come, unless it is a file; 30 seconds unless said otherwise. */
  requestTimeout?: number
  /** How fast files must come, and long answers must be taken. */
  pace?: Pace
  /** Who is kept away for a while; nobody unless said otherwise. */
  throttle?: Throttle
  /** Whether a token may be sent in the query; true unless said otherwise. */
  tokenInQuery?: boolean
  onServed?: OnServed
  /** What is served beside the interface, to everybody. */
  pages?: Pages
}

/** The whole interface as a Koa application of its own: every operation of `routes`, on these ports, and `options.pages`. */
export function createApp(ports: Ports, options: AppOptions): Koa {
  const app = new Koa<State>()
  app.use(middlewareOf(ports, options))
  // What reaches Koa itself came after the answer had begun; most of it is the client's going away.
  app.on('error', (err, ctx?: Context) => {
    if (!isAbort(err) && err !== ctx?.state.failure) options.log.error({ err }, 'error beside a request')
  })
  return app
}

/**
 * The whole interface as a middleware for a Koa application that is there already: it answers every path below
 * `/api/v1/`, and `options.pages`, and passes all others on. What fails after an answer has begun reaches the
 * application's `error` event, like all else in Koa.
 */
export function createApi(ports: Ports, options: AppOptions): Koa.Middleware {
  const serve = middlewareOf(ports, options) as Koa.Middleware
  const isOurs = (path: string) => path.startsWith(BASE_PATH) || options.pages?.has(path)
  return (ctx, next) => (isOurs(ctx.path) ? serve(ctx, next) : next())
}

function middlewareOf(ports: Ports, options: AppOptions): Middleware {
  const router = new Router<State>(EXACTLY)
  const serve = handlers(ports, options)
  for (const route of routes) router.register(patternOf(route.path), [route.method], serve(route))
  router.get(OPENAPI_PATH, sendOpenApi())
  const pages = options.pages ? [servePages(options.pages)] : []
  return compose([errorEnvelope(options), readTarget, router.routes() as Middleware, ...pages, refusePath])
}

/** Header lines of a request; more are no request of a client that means well. */
const MAX_HEADERS = 200

/** Shows the router the bare path, which it decodes nothing of, and refuses what is no request that could be served. */
const readTarget: Middleware = async (ctx, next) => {
  const { path, search } = splitTarget(ctx.originalUrl)
  ctx.url = path
  ctx.state.search = search
  const { headers, httpVersion, rawHeaders } = ctx.req
  if (rawHeaders.length > 2 * MAX_HEADERS) return send(ctx, 431, failure([]))
  const { expect } = headers
  if (httpVersion === '1.1' && expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return send(ctx, 417, failure([]))
  }
  await next()
}

/** HTTP itself asks for the header; checked once the route is known, whose text a 400 has. */
function requireHost({ req }: Context): void {
  const {
    headersDistinct: { host = [] },
    httpVersion,
  } = req
  if (host.length > 1) throw invalid('Host', 'Given more than once')
  if (host.length === 0 && httpVersion === '1.1') throw invalid('Host', 'The header is required')
}

let openApi: Buffer | undefined

/** Answers with the API document, which is the same for everybody; printed once. */
function sendOpenApi(): Middleware {
  openApi ??= Buffer.from(servedOpenApi(routes))
  const page = {
    content_type: 'application/json; charset=utf-8',
    body: openApi,
    headers: { 'Cache-Control': 'no-cache' },
  }
  const etag = etagOfContent(page.body)
  return (ctx) => {
    requireHost(ctx)
    sendKept(ctx, page, etag)
  }
}

const refusePath: Middleware = (ctx) => {
  requireHost(ctx)
  const allowed = methodsAt(ctx.url)
  if (allowed.length === 0) return send(ctx, 404, failure([]))
  ctx.set('Allow', allowed.join(', '))
  send(ctx, 405, failure([]))
}

function sendAnswer(ctx: Context, { status, location, etag, text }: Answer): void {
  sendText(ctx, status, text)
  if (location !== undefined) ctx.set('Location', location)
  if (etag !== undefined) ctx.set('ETag', `"${etag}"`)
}

/**
 * Requests of one caller that are served at a time where body or answer may be large: each may take a hundred times the
 * memory of others, and of the time that all share.
 */
const LARGE_AT_ONCE = 4

/** Makes what serves a route: token, path, rights, query, body, use case, in this order (decisions.md §1). */
function handlers(ports: Ports, options: AppOptions) {
  const { log, storageQuota, requestTimeout = 30_000, tokenInQuery = true } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const throttle = options.throttle ?? createThrottle(ports, log, {})
  const callerOf = tokenReader(ports, log)
  const inTurn = createTurns(LARGE_AT_ONCE)

  /** Who sent the request: a caller with a token, or somebody with the code of an invitation. */
  async function identify(ctx: Context, { authentication }: Route, secret: string) {
    if (authentication === 'invitation') {
      await checkInvitation(ports, secret).catch(async (error) => {
        if (!(await isRepeated(ctx, secret))) throw error
      })
      return { code: secret, requestId: ctx.state.requestId }
    }
    const caller = await callerOf(secret, (work) => whenClosed(ctx.res, work))
    ctx.state.user = caller.user
    ctx.state.token = caller.token
    return { caller: { ...caller, request: ctx.state.requestId } }
  }

  /** Whether an answer is kept for whoever has this secret and the key of the request: a code is used up by then. */
  async function isRepeated(ctx: Context, secret: string): Promise<boolean> {
    if (!isSecret(ports, INVITATION_PREFIX, secret)) return false
    const key = idempotencyKeyOf(ctx)
    return key !== undefined && hasAnswer(ports, sealOfCall(ports, secret, key))
  }

  return (route: Route) => {
    const prefix = route.authentication === 'invitation' ? INVITATION_PREFIX : TOKEN_PREFIX
    const readParams = paramsReader(route)
    const readQuery = queryReader(route)

    return async (ctx: RouterContext<State>): Promise<void> => {
      ctx.state.route = route
      requireHost(ctx)
      const pairs = pairsOf(ctx.state.search)
      const secret = secretOf(ctx.headers, pairs, tokenInQuery)
      const who = await throttle.authenticated(
        ctx.req,
        secret,
        () => isSecret(ports, prefix, secret),
        () => identify(ctx, route, secret),
      )
      if (who.caller) throttle.admit(who.caller.token)
      const params = readParams(ctx.captures ?? [])
      if (who.caller) await route.permit?.(ports, who.caller, params)
      const { query, spelling } = readQuery(pairs)
      ctx.state.spelling = spelling
      const key = idempotencyKeyOf(ctx)
      const isChange = route.method === 'put' || route.method === 'delete'
      const expected = isChange ? expectedVersions(ctx) : undefined
      const input = await readInput(ctx, route, { limits, requestTimeout })

      const finish = async () => {
        let body = await bodyOf(route, input)
        // Before any unit is open, also where one keeps the answer.
        if (route.body && route.limit === 'framework') body = await checkInParts(ports, route.body, body)
        if (expected && !route.ifMatch) throw new DomainError('outdated')

        let location: string | undefined
        const setHeader = (_: AnswerHeader, value: string) => {
          location = value
        }
        const request = { params, query, ...input, body, limits, expected, setHeader, ...who }
        if (route.answer === 'document') {
          return sendDocument(ctx, await route.handle({ ...request, ports, termsOf: () => ({}) }))
        }
        const { answer: shape, etagOf, status } = route
        const rendered = async (result: { [name: string]: unknown }): Promise<Answer> => ({
          status,
          location,
          etag: etagOf && (await versionOf(ports, etagOf(result as never))),
          text: await jsonInParts(
            ports,
            success(Object.fromEntries(Object.keys(shape).map((name) => [name, result[name]]))),
          ),
        })
        const run: Run = async ({ ports, upload = input.upload, around }) => {
          const termsOf: TermsOf = (answerOf) => ({
            quota: storageQuota,
            around: around?.((kept) => rendered(answerOf(kept))),
          })
          return rendered(await route.handle({ ...request, ports, upload, termsOf }))
        }
        if (key === undefined) return sendAnswer(ctx, await run({ ports }))
        const sent = {
          seal: sealOfCall(ports, secret, key),
          parts: [route.id, params, query],
          text: input.text,
          upload: input.upload,
        }
        const permit = async (ports: Ports) => {
          if (!who.caller) return
          await route.permit?.(ports, who.caller, params)
          await route.permitBody?.(ports, who.caller, body)
        }
        sendAnswer(ctx, await answerOnce(ports, sent, run, permit))
      }
      const mayBeLarge = route.method === 'get' || route.limit === 'framework'
      if (!mayBeLarge || !who.caller) return finish()
      const whenGone = (giveUp: (error: Error) => void) => whenClosed(ctx.res, () => giveUp(clientGone()))
      await inTurn(who.caller.user, whenGone, finish)
    }
  }
}
