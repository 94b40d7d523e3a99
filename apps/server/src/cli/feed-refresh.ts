import {
  DomainError,
  type FeedRefresh,
  listThreatFeeds,
  type Ports,
  refreshThreatFeed,
} from '@security-management/domain'
import { createFeedFetcher } from '../feed-fetcher.ts'
import type { Command } from './command.ts'

/** Refreshes one threat feed, or all. */
export const feedRefreshCommand: Command = {
  name: 'feed refresh',
  about: 'fetches a threat feed again, or all of them, unless a source does not want to be asked yet',
  args: ['[NAME]'],
  async run({ args: [name], withPorts, print, progress }) {
    const refreshes = await withPorts(async ({ ports }) => {
      const names = name === undefined ? (await listThreatFeeds(ports)).map((feed) => feed.name) : [name]
      const onProgress = progress('refreshing threat feeds')
      const done: FeedRefresh[] = []
      for (const one of names) {
        done.push(await refresh(ports, one))
        onProgress(done.length, names.length)
      }
      return done
    })
    print({ text: refreshes.map(say).join('\n'), json: refreshes })
    const failed = refreshes.filter(({ outcome }) => outcome === 'failed')
    if (failed.length > 0) throw new Error(`${failed.length} of ${refreshes.length} feeds could not be refreshed`)
  },
}

async function refresh(ports: Ports, name: string): Promise<FeedRefresh> {
  try {
    return await refreshThreatFeed(ports, createFeedFetcher(), name)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not_found') throw new Error(`There is no feed ${name}`)
    throw error
  }
}

function say(refresh: FeedRefresh): string {
  const { name } = refresh
  if (refresh.outcome === 'failed') return `${name}: ${refresh.error}; the last snapshot stays`
  if (refresh.outcome === 'too_early') return `${name}: its source does not want to be asked before ${refresh.until}`
  if (refresh.outcome === 'taken') return `${name}: another process refreshes it`
  if (refresh.outcome === 'unchanged') return `${name}: unchanged`
  return `${name}: snapshot ${refresh.snapshot}, ${refresh.entries} entries, ${refresh.gained} of them new, ${refresh.unreadable} unreadable lines`
}
