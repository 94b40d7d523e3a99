import { invalid } from '@security-management/domain'
import type { Context } from './context.ts'

/** One entity tag of a list. */
const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/y

/** The entity tags of a list, without their quotes. */
function* tagsOf(list: string): Generator<{ isWeak: boolean; tag: string }> {
  let at = 0
  for (;;) {
    while (at < list.length && ' \t,'.includes(list[at] ?? '')) at += 1
    TAG.lastIndex = at
    const [whole, weak, tag] = TAG.exec(list) ?? []
    if (at === list.length) return
    if (whole === undefined || tag === undefined) throw invalid('If-Match', 'Must be quoted, as the ETag was sent')
    yield { isWeak: weak !== undefined, tag }
    at += whole.length
  }
}

/**
 * The versions that `If-Match` lists; undefined where any will do: no such header, or `*`. A weak tag never fits (RFC
 * 9110, 13.1.1), and so is not among them.
 *
 * @throws DomainError `invalid` for what is no list of tags: one without its quotes would fit no version for good.
 */
export function expectedVersions(ctx: Context): string[] | undefined {
  const list = ctx.req.headers['if-match']
  if (list === undefined || list.trim() === '*') return undefined
  return [...tagsOf(list)].filter(({ isWeak }) => !isWeak).map(({ tag }) => tag)
}
