import Router from '@koa/router'
import { OPENAPI_PATH } from './openapi.ts'
import { routes } from './routes/index.ts'

/** What every path of the interface begins with. */
export const BASE_PATH = '/api/v1/'

/** Paths are exact: case counts, and a slash at the end makes another path. */
export const EXACTLY = { sensitive: true, strict: true } as const

/** A path of a declaration as the router writes it. */
export function patternOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

const table = new Router(EXACTLY)
table.register(OPENAPI_PATH, ['get'], () => {})
for (const { path, method } of routes) table.register(patternOf(path), [method], () => {})

/** Methods of a path, sorted; none where there is no such path. */
export function methodsAt(path: string): string[] {
  const methods = table.match(path, '').path.flatMap((layer) => layer.methods)
  return [...new Set(methods)].sort()
}

/**
 * Splits a request's target into its path, still encoded, and what follows `?`. What is no path of HTTP is `""`, which
 * exists nowhere: `*`, a target of CONNECT, characters that a URL cannot hold.
 */
export function splitTarget(target: string): { path: string; search: string } {
  const relative = target.replace(/^https?:\/\/[^/?#]*/i, '')
  const end = relative.indexOf('?')
  const path = end < 0 ? relative : relative.slice(0, end)
  const search = end < 0 ? '' : relative.slice(end + 1)
  return { path: /^\/[!"$-~]*$/.test(path) ? path : '', search }
}
