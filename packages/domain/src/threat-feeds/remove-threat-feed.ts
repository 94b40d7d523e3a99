import { OPERATOR } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'

/**
 * Removes a threat feed at the operator's word. What it was found to be right about stays counted and explained.
 *
 * @throws DomainError `not_found`.
 */
export async function removeThreatFeed(ports: Needs<'transact' | 'files' | 'now'>, name: string): Promise<void> {
  const { snapshot } = await ports.transact(async (stores) => {
    const feed = await stores.threatFeeds.remove(name)
    if (!feed) throw new DomainError('not_found')
    const details = { kind: feed.kind, entries: feed.snapshot.entries }
    await record(ports, stores, OPERATOR, { type: 'threat_feed.removed', record: name, details })
    return feed
  })
  // What cannot be erased now is swept away later.
  await ports.files.discard(snapshot.file).catch(() => {})
}
