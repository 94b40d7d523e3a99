import type { IncomingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { OPENAPI_PATH } from '../openapi.ts'
import type { Route } from '../route.ts'
import { routes } from '../routes/index.ts'
import { Failure, successOf } from '../schemas.ts'

export type Answer = {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  /** The envelope, as `JSON.parse` gives it: its shape is checked, so tests look right into it. Empty for a document. */
  json: ReturnType<typeof JSON.parse>
}

export function answerOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  const isJson = headers['content-type'] === JSON_TYPE && bytes.length > 0
  return { status, headers, bytes, json: isJson ? JSON.parse(bytes.toString()) : {} }
}

const JSON_TYPE = 'application/json; charset=utf-8'

const COMMON_HEADERS: { [name: string]: string } = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Messages of each status but 400, whose text belongs to the route (decisions.md §1). */
const MESSAGES: { [status: number]: unknown[] } = {
  401: [9153],
  404: [],
  405: [],
  408: [],
  412: [],
  413: ['Payload too large'],
  416: [],
  417: [],
  429: ['Too many requests'],
  431: [],
  500: [],
  503: [],
}

/**
 * What is wrong with an answer, whatever was asked: it lacks a header that every answer has, is not the envelope, or is a
 * success that holds something else than the route declares. Empty when all is well.
 *
 * @param method and @param path of the request, or `''` where the bytes that were sent had none; a refusal is then of
 *   the form that every route shares.
 */
export function faultsOf(method: string, path: string, { status, headers, json, bytes }: Answer): string[] {
  const faults: string[] = []
  const demand = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault)
  }
  demand(/^[\w.-]{1,64}$/.test(String(headers['x-request-id'])), `X-Request-Id is ${headers['x-request-id']}`)
  // It is no envelope, and may be kept.
  const isApiDocument = path === OPENAPI_PATH && status < 400
  const common = isApiDocument ? { ...COMMON_HEADERS, 'cache-control': 'no-cache' } : COMMON_HEADERS
  for (const [name, value] of Object.entries(common)) {
    demand(headers[name] === value, `${name} is ${headers[name]}`)
  }
  if (isApiDocument) return faults
  const route = routeAt(method, path)
  if (method === 'HEAD' || status === 304 || (route?.answer === 'document' && status < 300)) return faults
  demand(headers['content-type'] === JSON_TYPE, `content-type is ${headers['content-type']}`)
  demand(Number(headers['content-length']) === bytes.length, `content-length is ${headers['content-length']}`)
  const keys = Object.keys(json)
  demand(keys[0] === 'error' && keys[1] === 'messages', `the keys are ${keys}`)
  if (status >= 400) {
    const expected = MESSAGES[status] ?? [route?.invalidInput ?? 'Invalid data provided']
    demand(isDeepStrictEqual(json.messages, expected), `messages of ${status}: ${JSON.stringify(json.messages)}`)
    demand('details' in json === (status === 400), `details of ${status}: ${JSON.stringify(json.details)}`)
    const { 'retry-after': wait } = headers
    demand(status !== 429 || /^[1-9]\d*$/.test(String(wait)), `retry-after of ${status}: ${wait}`)
    return [...faults, ...schemaFaults(Failure, json)]
  }
  if (!route || route.answer === 'document') return [...faults, `no route gives ${status}`]
  demand(status === route.status, `the status is ${status}, not ${route.status}`)
  return [...faults, ...schemaFaults(successOf(route.answer), json)]
}

/** What the schema refuses, or does not name and therefore would drop, at every depth. */
function schemaFaults(schema: v.GenericSchema, json: unknown): string[] {
  const result = v.safeParse(schema, json)
  if (!result.success) return result.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)
  return isDeepStrictEqual(result.output, json) ? [] : [`it holds more than is declared: ${JSON.stringify(json)}`]
}

const patterns = routes.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`),
}))

function routeAt(method: string, path: string): Route | undefined {
  const [bare = ''] = path.replace(/^https?:\/\/[^/?#]*/i, '').split('?')
  return patterns.find(({ route, pattern }) => route.method === method.toLowerCase() && pattern.test(bare))?.route
}
