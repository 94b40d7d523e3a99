import type { ThreatFeed } from './threat-feed.ts'

/** Where to fetch from, and what is here already. */
export type FeedRequest = Pick<ThreatFeed, 'source' | 'etag' | 'last_modified'>

/** What a source answered. */
export type FetchedFeed = {
  /** When the source may be asked again, ISO 8601; null where it does not say. */
  earliest_refresh_at: string | null
} & (
  | { outcome: 'unchanged' }
  | { outcome: 'failed'; reason: string }
  | {
      outcome: 'fetched'
      etag: string | null
      last_modified: string | null
      /** The bytes, uncompressed, as they come. Fails where the transfer does; must be read or ended by `return`. */
      content: AsyncIterable<Uint8Array>
    }
)

/** Reads feeds from the files and the web. */
export type FeedFetcher = {
  /** Never rejects: what goes wrong before the first byte is an outcome. */
  fetch(request: FeedRequest): Promise<FetchedFeed>
}
