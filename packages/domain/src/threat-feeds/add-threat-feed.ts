import { OPERATOR } from '../access/caller.ts'
import { conflict, invalid } from '../errors.ts'
import { record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import type { FeedFetcher } from './feed-fetcher.ts'
import { nextRefresh, readSource, stageSnapshot } from './read-source.ts'
import { NewThreatFeed, type ThreatFeed } from './threat-feed.ts'

/**
 * Adds a threat feed at the operator's word, with its first snapshot: a feed that cannot be read is not added.
 *
 * @param input see `NewThreatFeed`.
 * @throws DomainError `invalid` (also an expiry that has passed, and a source that cannot be fetched or holds no entry),
 *   `conflict` (there is a feed of that name).
 */
export async function addThreatFeed(
  ports: Needs<'transact' | 'files' | 'now' | 'newSha256'>,
  fetcher: FeedFetcher,
  input: unknown,
): Promise<ThreatFeed> {
  const wanted = parse(NewThreatFeed, input)
  const { name, kind, source, expires_at } = wanted
  if (expires_at !== null && expires_at <= ports.now().toISOString()) {
    throw invalid('expires_at', 'Must lie in the future')
  }
  const taken = conflict('name', `There is a feed ${name} already`)
  if (await ports.transact(({ threatFeeds }) => threatFeeds.find(name))) throw taken

  const read = await readSource(fetcher, { kind, source, etag: null, last_modified: null }, 0)
  if (read.outcome === 'failed') throw invalid('source', read.error)
  if (read.outcome === 'unchanged') throw invalid('source', 'the source has nothing new, and nothing was here before')

  const staged = await stageSnapshot(ports, read.content)
  const now = ports.now()
  const created_at = now.toISOString()
  const { etag, last_modified, earliest_refresh_at, entries, reading } = read
  const feed: ThreatFeed = {
    ...wanted,
    created_at,
    etag,
    last_modified,
    refreshed_at: created_at,
    earliest_refresh_at,
    next_refresh_at: nextRefresh(now, earliest_refresh_at),
    last_error: null,
    unreadable: reading.unreadable,
    samples: reading.samples,
    snapshot: { number: 1, created_at, ...staged, entries, gained: entries },
  }
  try {
    await ports.transact(async (stores) => {
      if (!(await stores.threatFeeds.insert(feed))) throw taken
      await record(ports, stores, OPERATOR, { type: 'threat_feed.added', record: name, details: { kind, entries } })
    })
  } catch (error) {
    // What cannot be erased now is swept away later; the first error is the one to tell of.
    await ports.files.discard(staged.file).catch(() => {})
    throw error
  }
  return feed
}
