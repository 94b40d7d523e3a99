import type { ThreatFeed } from './threat-feed.ts'

/** What a refresh changes. */
export type FeedEdit = Partial<
  Pick<
    ThreatFeed,
    | 'etag'
    | 'last_modified'
    | 'refreshed_at'
    | 'earliest_refresh_at'
    | 'next_refresh_at'
    | 'last_error'
    | 'unreadable'
    | 'samples'
    | 'snapshot'
  >
>

/** Threat feeds. A feed that is removed is gone, and its name free. */
export type ThreatFeedStore = {
  /** Stores the feed; false if there is one of that name. */
  insert(feed: ThreatFeed): Promise<boolean>
  find(name: string): Promise<ThreatFeed | undefined>
  /** All feeds, by name. */
  list(): Promise<ThreatFeed[]>
  /** Grows with every snapshot that is added, replaced or removed; cheap to ask for. */
  version(): Promise<number>
  /** The version with which a feed last gained entries that speak against somebody; 0 for never. */
  gainedVersion(): Promise<number>
  /** When the next refresh is due that nobody is at; undefined for none. */
  nextDue(): Promise<string | undefined>
  /**
   * Takes a feed that is due at `now` and leased by nobody, so that until `leaseUntil` nobody else refreshes it;
   * undefined for none.
   */
  leaseDue(now: string, leaseUntil: string): Promise<ThreatFeed | undefined>
  /** Takes this feed, due or not; undefined if there is none, or somebody else has it. */
  lease(name: string, now: string, leaseUntil: string): Promise<ThreatFeed | undefined>
  /**
   * Ends the lease that runs until `leaseUntil`, and replaces what `edit` names; false, and nothing changed, if the lease
   * is lost.
   */
  finish(name: string, leaseUntil: string, edit: FeedEdit): Promise<boolean>
  /** Removes the feed and returns what it was; undefined if there is none. */
  remove(name: string): Promise<ThreatFeed | undefined>
}
