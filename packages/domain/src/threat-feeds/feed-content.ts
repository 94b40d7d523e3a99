import { createDomainSet, type DomainSet } from './domain-index.ts'
import { domainReader, type FeedReading, networkReader } from './feed-lines.ts'
import {
  countNetworks,
  countNewNetworks,
  createNetworks,
  type Networks,
  networkText,
  sortNetworks,
  V4_WIDTH,
  V6_WIDTH,
  type Words,
} from './networks.ts'
import type { FeedKind } from './threat-feed.ts'

/** The entries of a feed, each once. */
export type FeedContent = { networks: Networks } | { domains: DomainSet }

/** Reads a feed of this kind to its end. */
export async function readFeedContent(
  kind: FeedKind,
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ content: FeedContent; reading: FeedReading }> {
  const networks = createNetworks()
  const domains = createDomainSet()
  const isOfNetworks = kind === 'ip' || kind === 'allow-ip'
  const reader = isOfNetworks ? networkReader(networks) : domainReader(domains)
  for await (const piece of bytes) reader.push(piece)
  const reading = reader.end()
  return { content: isOfNetworks ? { networks: sortNetworks(networks) } : { domains }, reading }
}

/** How many entries there are. */
export function countContent(content: FeedContent): number {
  if ('domains' in content) return content.domains.size
  const { v4, v6 } = countNetworks(content.networks)
  return v4 + v6
}

/** How many entries of `after` are not in `before`, which is of the same kind. */
export function countNewEntries(before: FeedContent, after: FeedContent): number {
  if ('networks' in before && 'networks' in after) return countNewNetworks(before.networks, after.networks)
  if (!('domains' in before && 'domains' in after)) return countContent(after)
  let count = 0
  after.domains.each((names, from, to) => {
    if (!before.domains.has(names, from, to)) count += 1
  })
  return count
}

const PIECE = 64 * 1024
const [LINE_FEED, DOT] = [0x0a, 0x2e]

/** The entries as the bytes of a feed, one a line, that is read into the same entries again. */
export function* feedLines(content: FeedContent): Generator<Uint8Array> {
  if ('domains' in content) return yield* domainLines(content.domains)
  yield* networkLines(content.networks.v4, V4_WIDTH)
  yield* networkLines(content.networks.v6, V6_WIDTH)
}

function* networkLines({ words, length }: Words, width: number): Generator<Uint8Array> {
  let lines = ''
  for (let at = 0; at < length; at += width) {
    lines += `${networkText(words, at, width)}\n`
    if (lines.length < PIECE && at + width < length) continue
    yield Uint8Array.from(lines, (character) => character.charCodeAt(0))
    lines = ''
  }
}

function* domainLines(domains: DomainSet): Generator<Uint8Array> {
  const pieces: Uint8Array[] = []
  let piece = new Uint8Array(PIECE)
  let length = 0
  domains.each((names, from, to) => {
    if (length + to - from + 2 > PIECE) {
      pieces.push(piece.subarray(0, length))
      piece = new Uint8Array(PIECE)
      length = 0
    }
    const name = names.subarray(from, to)
    // A name of one label is read with a dot before it alone.
    if (!name.includes(DOT)) piece[length++] = DOT
    piece.set(name, length)
    length += name.length
    piece[length++] = LINE_FEED
  })
  if (length > 0) pieces.push(piece.subarray(0, length))
  yield* pieces
}
