import { DomainError } from '../errors.ts'
import type { StagedFile } from '../files/file-store.ts'
import type { Needs } from '../ports.ts'
import { bounded } from '../stream.ts'
import { countContent, type FeedContent, feedLines, readFeedContent } from './feed-content.ts'
import type { FeedFetcher, FeedRequest } from './feed-fetcher.ts'
import type { FeedReading } from './feed-lines.ts'
import { MAX_FEED_BYTES, type ThreatFeed } from './threat-feed.ts'

const HOUR = 60 * 60 * 1000

/** How often a feed is refreshed whose source does not ask for less, in milliseconds. */
export const REFRESH_EVERY = 6 * HOUR

/** How long after a failure a refresh is tried again, in milliseconds. */
export const RETRY_AFTER = HOUR / 2

/** A snapshot with more entries than that is not replaced by one with less than the tenth of them. */
const MANY_ENTRIES = 100
const SHRUNKEN = 0.1

/** Characters of an error that are kept. */
const MAX_ERROR = 300

/** What became of fetching a source and reading what it gave. */
export type ReadSource = Pick<ThreatFeed, 'earliest_refresh_at'> &
  (
    | { outcome: 'unchanged' }
    | { outcome: 'failed'; error: string }
    | (Pick<ThreatFeed, 'etag' | 'last_modified'> & {
        outcome: 'read'
        content: FeedContent
        entries: number
        reading: FeedReading
      })
  )

/**
 * Fetches a source and reads its entries.
 *
 * @param entriesBefore entries of the present snapshot: what has shrunk to almost nothing is not believed.
 */
export async function readSource(
  fetcher: FeedFetcher,
  { kind, ...request }: FeedRequest & Pick<ThreatFeed, 'kind'>,
  entriesBefore: number,
): Promise<ReadSource> {
  const fetched = await fetcher.fetch(request)
  const { earliest_refresh_at } = fetched
  const failed = (error: string, earliest_refresh_at: string | null = null) =>
    ({ outcome: 'failed', earliest_refresh_at, error: error.slice(0, MAX_ERROR) }) as const
  if (fetched.outcome === 'failed') return failed(fetched.reason, earliest_refresh_at)
  if (fetched.outcome === 'unchanged') return { outcome: 'unchanged', earliest_refresh_at }
  const { etag, last_modified } = fetched
  // How long an answer may be kept says nothing where the answer is not believed.
  let read: Awaited<ReturnType<typeof readFeedContent>>
  try {
    read = await readFeedContent(kind, bounded(fetched.content, MAX_FEED_BYTES))
  } catch (error) {
    const isTooLarge = error instanceof DomainError && error.code === 'too_large'
    if (isTooLarge) return failed(`larger than ${MAX_FEED_BYTES / 1024 / 1024} MiB`)
    return failed(error instanceof Error ? error.message : String(error))
  }
  const { content, reading } = read
  const entries = countContent(content)
  if (entries === 0) return failed(`none of its ${reading.lines} lines is an entry${firstSample(reading)}`)
  if (entriesBefore > MANY_ENTRIES && entries < entriesBefore * SHRUNKEN) {
    return failed(`shrunken from ${entriesBefore} entries to ${entries}`)
  }
  return { outcome: 'read', earliest_refresh_at, etag, last_modified, content, entries, reading }
}

function firstSample({ samples: [sample] }: FeedReading): string {
  return sample ? `; line ${sample.line} is ${sample.reason}` : ''
}

/** Stores the entries of a snapshot, which nobody names yet. */
export async function stageSnapshot(ports: Needs<'files'>, content: FeedContent): Promise<StagedFile> {
  async function* lines() {
    yield* feedLines(content)
  }
  return ports.files.stage(lines(), Number.MAX_SAFE_INTEGER)
}

/** When to refresh next: after `wait` milliseconds, or later where the source wants it so. ISO 8601. */
export function nextRefresh(now: Date, earliest: string | null, wait = REFRESH_EVERY): string {
  const next = new Date(now.getTime() + wait).toISOString()
  return earliest !== null && earliest > next ? earliest : next
}
