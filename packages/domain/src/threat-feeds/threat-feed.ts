import * as v from 'valibot'
import { object } from '../parse.ts'
import { Timestamp } from '../values.ts'
import type { UnreadableLine } from './feed-lines.ts'

/** What the entries of a feed are, and whether they speak against somebody (`ip`, `domain`) or for them. */
export const FEED_KINDS = ['ip', 'domain', 'allow-ip', 'allow-domain'] as const
/** One of `FEED_KINDS`. */
export type FeedKind = (typeof FEED_KINDS)[number]

/** Bytes of a feed, uncompressed: 200 MiB. */
export const MAX_FEED_BYTES = 200 * 1024 * 1024

const FEED_NAME = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i
const WEB_ADDRESS = /^https?:\/\/[^\s/?#\\@]+(?:[/?#][^\s\\]*)?$/i
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** A feed is called by 1 to 64 lower-case letters, digits, `.`, `_` and `-`, with a letter or digit at both ends. */
export const FeedName = v.pipe(
  v.string(),
  v.regex(FEED_NAME, 'Must be 1 to 64 lower-case letters, digits, ".", "_" or "-", such as spamhaus-drop'),
)

/** Where a feed comes from: an http(s) URL without user and password, or the path of a file. */
export const FeedSource = v.pipe(
  v.string(),
  v.minLength(1, 'Must be the path of a file, or an http or https URL'),
  v.maxLength(2048, 'Must have at most 2048 characters'),
  v.check(
    (source) => !CONTROL.test(source) && (!SCHEME.test(source) || isWebAddress(source)),
    'Must be the path of a file, or an http or https URL without user and password',
  ),
)

/** Whether the source is fetched over HTTP; else it is a file. */
export function isWebAddress(source: string): boolean {
  return WEB_ADDRESS.test(source)
}

/** What it takes to add a feed. */
export const NewThreatFeed = object({
  name: FeedName,
  kind: v.picklist(FEED_KINDS),
  source: FeedSource,
  /** When its entries cease to count; null for never. */
  expires_at: v.optional(v.nullable(Timestamp), null),
})

/** The entries of a feed as they were last read well. */
export type FeedSnapshot = {
  /** Counts up from 1. */
  number: number
  /** When it was taken, ISO 8601. */
  created_at: string
  /** Number of the file that holds the entries, one a line. */
  file: number
  /** Bytes of that file, and their SHA-256 in hexadecimal. */
  size: number
  sha256: string
  entries: number
  /** Entries that the snapshot before it did not have. */
  gained: number
}

/** A threat feed. Times are ISO 8601, UTC. */
export type ThreatFeed = {
  name: string
  kind: FeedKind
  source: string
  created_at: string
  /** When its entries cease to count; null for never. */
  expires_at: string | null
  /** What the source said of its content, to be asked by the next time. */
  etag: string | null
  last_modified: string | null
  /** When its source last answered as it should, changed or not. */
  refreshed_at: string
  /** Before that the source does not want to be asked again; null for no such wish. */
  earliest_refresh_at: string | null
  next_refresh_at: string
  /** Why the last refresh failed; null when it did not. The snapshot is then that of before. */
  last_error: string | null
  /** Lines of the source that are no entries, and the first 20 of them. */
  unreadable: number
  samples: UnreadableLine[]
  snapshot: FeedSnapshot
}

/** Whether its entries count at `now`. */
export function isExpired({ expires_at }: Pick<ThreatFeed, 'expires_at'>, now: Date): boolean {
  return expires_at !== null && expires_at <= now.toISOString()
}
