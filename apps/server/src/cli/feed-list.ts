import { listThreatFeeds, type ThreatFeed } from '@security-management/domain'
import type { Command } from './command.ts'
import { table } from './table.ts'

const HEADINGS = [
  'NAME',
  'KIND',
  'ENTRIES',
  'SNAPSHOT',
  'UNREADABLE',
  'REFRESHED',
  'NEXT',
  'EXPIRES',
  'ERROR',
  'SOURCE',
]

/** Lists all threat feeds. */
export const feedListCommand: Command = {
  name: 'feed list',
  about: 'lists the threat feeds, how fresh they are, and what went wrong with them',
  async run({ withPorts, print }) {
    const feeds = await withPorts(({ ports }) => listThreatFeeds(ports))
    const rows = feeds.map((feed) => [
      feed.name,
      feed.kind,
      feed.snapshot.entries,
      feed.snapshot.number,
      feed.unreadable,
      feed.refreshed_at,
      feed.next_refresh_at,
      feed.expires_at,
      feed.last_error,
      feed.source,
    ])
    print({ text: table(HEADINGS, rows), json: feeds.map(shownFeed) })
  },
}

/** What an operator is shown of a feed: all but where its bytes lie. */
export function shownFeed({ snapshot: { file: _, size: __, ...snapshot }, ...feed }: ThreatFeed) {
  return { ...feed, snapshot }
}
