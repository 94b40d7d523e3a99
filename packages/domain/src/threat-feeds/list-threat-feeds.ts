import type { Needs } from '../ports.ts'
import type { ThreatFeed } from './threat-feed.ts'

/** All threat feeds, for the operator, by name. */
export async function listThreatFeeds(ports: Needs<'threatFeeds'>): Promise<ThreatFeed[]> {
  return ports.threatFeeds.list()
}
