import type { Needs } from '../ports.ts'
import { isExpired } from './threat-feed.ts'
import { createThreatIndexBuilder, type ThreatIndex } from './threat-index.ts'

/** An index of the feeds as they were. */
export type LoadedThreatIndex = {
  index: ThreatIndex
  /** When a feed in it expires, ISO 8601: from then on the index is out of date, too. Null for never. */
  stale_at: string | null
}

/** Reads the present snapshots of all feeds that have not expired, and builds the index that lines are judged by. */
export async function loadThreatIndex(ports: Needs<'threatFeeds' | 'files' | 'now'>): Promise<LoadedThreatIndex> {
  for (;;) {
    // Asked first: what changes while the snapshots are read makes another version.
    const version = await ports.threatFeeds.version()
    try {
      return await load(ports, version)
    } catch (error) {
      // A snapshot that was replaced meanwhile is gone; then those that are there now are read.
      if ((await ports.threatFeeds.version()) === version) throw error
    }
  }
}

async function load(ports: Needs<'threatFeeds' | 'files' | 'now'>, version: number): Promise<LoadedThreatIndex> {
  const now = ports.now()
  const builder = createThreatIndexBuilder()
  let stale_at: string | null = null
  for (const feed of await ports.threatFeeds.list()) {
    if (isExpired(feed, now)) continue
    const { name, kind, snapshot, expires_at } = feed
    const reader = builder.add({ name, kind, snapshot: snapshot.number })
    for await (const bytes of ports.files.read(snapshot.file, 0, snapshot.size - 1)) reader.push(bytes)
    reader.end()
    if (expires_at !== null && (stale_at === null || expires_at < stale_at)) stale_at = expires_at
  }
  return { index: builder.build(version), stale_at }
}
