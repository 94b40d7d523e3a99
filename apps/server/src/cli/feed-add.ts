import { resolve } from 'node:path'
import { addThreatFeed, FEED_KINDS } from '@security-management/domain'
import { createFeedFetcher } from '../feed-fetcher.ts'
import type { Command } from './command.ts'
import { shownFeed } from './feed-list.ts'
import { expiry } from './token-issue.ts'

/** Adds a threat feed. */
export const feedAddCommand: Command = {
  name: 'feed add',
  about: 'adds a list of addresses or domains that are malicious, or that never are (allow-…)',
  args: ['NAME', 'FILE|URL'],
  options: {
    kind: { value: FEED_KINDS.join('|'), about: 'what its entries are', required: true },
    expires: {
      value: '90d',
      about: 'when its entries cease to count: in 90d, 12h, 30m, or at an ISO 8601 date or time; never if left out',
    },
  },
  async run({ args: [name = '', from = ''], values: { kind, expires }, withPorts, print }) {
    // Whoever refreshes it later may work in another directory.
    const source = /^[a-z][a-z0-9+.-]*:\/\//i.test(from) ? from : resolve(from)
    const feed = await withPorts(({ ports }) => {
      const expires_at = expires === undefined ? null : expiry(expires, ports.now())
      return addThreatFeed(ports, createFeedFetcher(), { name, kind, source, expires_at })
    })
    const { snapshot, unreadable, samples } = feed
    const lines = [`added ${name}: ${snapshot.entries} entries, ${unreadable} unreadable lines`]
    for (const { line, text, reason } of samples) lines.push(`  line ${line} is ${reason}: ${text}`)
    print({ text: lines.join('\n'), json: shownFeed(feed) })
  },
}
