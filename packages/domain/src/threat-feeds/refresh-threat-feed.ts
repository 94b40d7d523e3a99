import { OPERATOR } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'
import { countNewEntries, type FeedContent, feedLines, readFeedContent } from './feed-content.ts'
import type { FeedFetcher } from './feed-fetcher.ts'
import { nextRefresh, RETRY_AFTER, type ReadSource, readSource, stageSnapshot } from './read-source.ts'
import type { FeedSnapshot, ThreatFeed } from './threat-feed.ts'
import type { FeedEdit } from './threat-feed-store.ts'

/** How long a process may take over one refresh before another may try it, in milliseconds. */
export const REFRESH_LEASE = 10 * 60 * 1000

/** What became of the refresh of a feed. */
export type FeedRefresh = { name: string } & (
  | { outcome: 'updated'; snapshot: number; entries: number; gained: number; unreadable: number }
  | { outcome: 'unchanged' }
  /** The snapshot of before stays. */
  | { outcome: 'failed'; error: string }
  /** The source does not want to be asked before that time, ISO 8601. */
  | { outcome: 'too_early'; until: string }
  /** Somebody else refreshes it right now, or has removed it. */
  | { outcome: 'taken' }
)

type RefreshPorts = Needs<'transact' | 'files' | 'now' | 'newSha256'>

/**
 * Refreshes a feed at the operator's word, due or not, unless its source does not want to be asked yet.
 *
 * @throws DomainError `not_found`.
 */
export async function refreshThreatFeed(ports: RefreshPorts, fetcher: FeedFetcher, name: string): Promise<FeedRefresh> {
  const known = await ports.transact(({ threatFeeds }) => threatFeeds.find(name))
  if (!known) throw new DomainError('not_found')
  const now = ports.now()
  const { earliest_refresh_at } = known
  if (earliest_refresh_at !== null && earliest_refresh_at > now.toISOString()) {
    return { name, outcome: 'too_early', until: earliest_refresh_at }
  }
  const leaseUntil = leaseFrom(now)
  const feed = await ports.transact(({ threatFeeds }) => threatFeeds.lease(name, now.toISOString(), leaseUntil))
  return feed ? refresh(ports, fetcher, feed, leaseUntil) : { name, outcome: 'taken' }
}

/**
 * Refreshes the feeds that are due, one after the other, until none is. Each is leased first, so that several processes
 * refresh it once; nothing is held open while a source is waited for.
 *
 * @param onRefresh told of each, so that a failure is seen.
 */
export async function refreshDueThreatFeeds(
  ports: RefreshPorts,
  fetcher: FeedFetcher,
  onRefresh: (refresh: FeedRefresh) => void,
  mayGoOn: () => boolean = () => true,
): Promise<void> {
  while (mayGoOn()) {
    const now = ports.now()
    const leaseUntil = leaseFrom(now)
    const feed = await ports.transact(({ threatFeeds }) => threatFeeds.leaseDue(now.toISOString(), leaseUntil))
    if (!feed) return
    onRefresh(await refresh(ports, fetcher, feed, leaseUntil))
  }
}

function leaseFrom(now: Date): string {
  return new Date(now.getTime() + REFRESH_LEASE).toISOString()
}

async function refresh(
  ports: RefreshPorts,
  fetcher: FeedFetcher,
  feed: ThreatFeed,
  leaseUntil: string,
): Promise<FeedRefresh> {
  const { name, snapshot } = feed
  const read = await readSource(fetcher, feed, snapshot.entries)
  if (read.outcome === 'failed') return noteFailure(ports, feed, leaseUntil, read)
  const now = ports.now()
  const { earliest_refresh_at } = read
  const edit: FeedEdit = {
    refreshed_at: now.toISOString(),
    earliest_refresh_at,
    next_refresh_at: nextRefresh(now, earliest_refresh_at),
    last_error: null,
  }
  if (read.outcome === 'unchanged') return finish(ports, feed, leaseUntil, edit, { name, outcome: 'unchanged' })

  const { etag, last_modified, content, entries, reading } = read
  const { unreadable, samples } = reading
  Object.assign(edit, { etag, last_modified, unreadable, samples })
  if (sha256Of(ports, content) === snapshot.sha256) {
    return finish(ports, feed, leaseUntil, edit, { name, outcome: 'unchanged' })
  }
  const before = await contentOf(ports, feed)
  if (!before) return { name, outcome: 'taken' }
  const gained = countNewEntries(before, content)
  const staged = await stageSnapshot(ports, content)
  const number = snapshot.number + 1
  const next: FeedSnapshot = { number, created_at: now.toISOString(), ...staged, entries, gained }
  const updated = { name, outcome: 'updated', snapshot: number, entries, gained, unreadable } as const
  let outcome: FeedRefresh = { name, outcome: 'taken' }
  try {
    outcome = await finish(ports, feed, leaseUntil, { ...edit, snapshot: next }, updated)
  } finally {
    // What cannot be erased now is swept away later.
    const useless = outcome.outcome === 'updated' ? snapshot.file : staged.file
    await ports.files.discard(useless).catch(() => {})
  }
  return outcome
}

/** Stores what a refresh changes and what it came to, unless the feed was taken away meanwhile. */
async function finish(
  ports: RefreshPorts,
  { name }: ThreatFeed,
  leaseUntil: string,
  edit: FeedEdit,
  outcome: FeedRefresh,
): Promise<FeedRefresh> {
  return ports.transact(async (stores) => {
    if (!(await stores.threatFeeds.finish(name, leaseUntil, edit))) return { name, outcome: 'taken' }
    if (outcome.outcome === 'updated') {
      const { snapshot, entries, gained } = outcome
      const details = { snapshot, entries, gained }
      await record(ports, stores, OPERATOR, { type: 'threat_feed.refreshed', record: name, details })
    }
    return outcome
  })
}

async function noteFailure(
  ports: RefreshPorts,
  { name, last_error }: ThreatFeed,
  leaseUntil: string,
  { error, earliest_refresh_at }: Extract<ReadSource, { outcome: 'failed' }>,
): Promise<FeedRefresh> {
  const next_refresh_at = nextRefresh(ports.now(), earliest_refresh_at, RETRY_AFTER)
  return ports.transact(async (stores) => {
    const edit = { last_error: error, earliest_refresh_at, next_refresh_at }
    if (!(await stores.threatFeeds.finish(name, leaseUntil, edit))) return { name, outcome: 'taken' }
    // Once for a source that has ceased to work, not at every try.
    if (last_error === null) {
      await record(ports, stores, OPERATOR, { type: 'threat_feed.refresh_failed', record: name, details: { error } })
    }
    return { name, outcome: 'failed', error }
  })
}

function sha256Of(ports: Needs<'newSha256'>, content: FeedContent): string {
  const hash = ports.newSha256()
  for (const bytes of feedLines(content)) hash.update(bytes)
  return hash.digest()
}

/** The entries of the present snapshot; undefined if it is the present one no more. */
async function contentOf(
  ports: Needs<'transact' | 'files'>,
  { name, kind, snapshot }: ThreatFeed,
): Promise<FeedContent | undefined> {
  try {
    const { content } = await readFeedContent(kind, ports.files.read(snapshot.file, 0, snapshot.size - 1))
    return content
  } catch (error) {
    const present = await ports.transact(({ threatFeeds }) => threatFeeds.find(name))
    if (present?.snapshot.file === snapshot.file) throw error
    return undefined
  }
}
