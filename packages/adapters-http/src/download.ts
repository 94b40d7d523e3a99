import type { ReadableDocument } from '@security-management/domain'
import { create as createContentDisposition } from 'content-disposition'
import type { Context } from './context.ts'
import { failure, send, sendPieces } from './errors.ts'

/** Answers with the bytes of a document, or with the part that is asked for, or with word that the client has them. */
export async function sendDocument(ctx: Context, document: ReadableDocument): Promise<void> {
  const { size } = document
  const etag = `"${document.sha256}"`
  if (matches(ctx.get('If-None-Match'), etag)) {
    ctx.status = 304
    ctx.set('ETag', etag)
    return
  }
  const range = rangeOf(ctx, size, etag)
  if (range === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${size}`)
    return send(ctx, 416, failure([]))
  }
  const { from, to } = range ?? { from: 0, to: size - 1 }
  const length = to - from + 1
  const disposition = createContentDisposition(document.file_name)
  const content = ctx.method === 'HEAD' || length === 0 ? [] : await begun(exactly(document.read(from, to), length))
  // From here on the answer is the document, so nothing that can fail comes after.
  ctx.status = range ? 206 : 200
  if (range) ctx.set('Content-Range', `bytes ${from}-${to}/${size}`)
  ctx.set({
    'Content-Type': document.content_type,
    'Content-Disposition': disposition,
    'Accept-Ranges': 'bytes',
    ETag: etag,
  })
  sendPieces(ctx, content, length)
}

/** Waits for the first bytes, so that a store that cannot give them is still told of in an envelope. */
async function begun(content: AsyncGenerator<Uint8Array>): Promise<AsyncGenerator<Uint8Array>> {
  const ahead = [await content.next()]
  async function* all() {
    try {
      for (;;) {
        const { done, value } = ahead.pop() ?? (await content.next())
        if (done) return
        yield value
      }
    } finally {
      await content.return(undefined)
    }
  }
  return all()
}

/** Fails where bytes are missing: an answer that is shorter than it says would keep the client waiting. */
async function* exactly(content: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  let left = length
  for await (const bytes of content) {
    left -= bytes.length
    yield bytes
  }
  if (left !== 0) throw new Error(`A document differs from its length by ${left} bytes`)
}

export function matches(ifNoneMatch: string, etag: string): boolean {
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(etag)
}

/** The one range that is asked for; undefined for the whole: no range, several, or one of another version. */
function rangeOf(ctx: Context, size: number, etag: string): { from: number; to: number } | 'unsatisfiable' | undefined {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(ctx.get('Range'))
  const ifRange = ctx.get('If-Range')
  const [, first = '', last = ''] = match ?? []
  if (ctx.method !== 'GET' || (first === '' && last === '') || (ifRange !== '' && ifRange !== etag)) return undefined
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(first) > Number(last)) return undefined
  return from > to ? 'unsatisfiable' : { from, to }
}
