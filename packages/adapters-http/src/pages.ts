import { createHash } from 'node:crypto'
import type { Context, Middleware } from './context.ts'
import { matches } from './download.ts'
import { failure, send } from './errors.ts'

/** A file that is served as it is, to everybody, outside of the interface. */
export type Page = {
  content_type: string
  body: Buffer
  /** What its answer carries beside the common headers, or in their place; `Cache-Control` has to be among them. */
  headers: { 'Cache-Control': string; [name: string]: string }
}

/** Pages by their path, which a request must name to the letter: nothing is looked up in a file system. */
export type Pages = ReadonlyMap<string, Page>

/** Serves pages, each sent once to a client that keeps it. */
export function servePages(pages: Pages): Middleware {
  const etags = new Map([...pages].map(([path, { body }]) => [path, etagOfContent(body)]))
  return async (ctx, next) => {
    const page = pages.get(ctx.url)
    if (!page) return next()
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD')
      return send(ctx, 405, failure([]))
    }
    sendKept(ctx, page, etags.get(ctx.url) ?? '')
  }
}

export function etagOfContent(content: Buffer | string): string {
  return `"${createHash('sha256').update(content).digest('hex')}"`
}

/** Answers with content that a client may keep, or with word that it has it. */
export function sendKept(ctx: Context, { content_type, body, headers }: Page, etag: string): void {
  ctx.set({ ...headers, ETag: etag })
  if (matches(ctx.get('If-None-Match'), etag)) {
    ctx.status = 304
    return
  }
  ctx.set('Content-Type', content_type)
  ctx.body = body
}
