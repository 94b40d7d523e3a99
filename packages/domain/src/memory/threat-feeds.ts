import type { ThreatFeed } from '../threat-feeds/threat-feed.ts'
import type { ThreatFeedStore } from '../threat-feeds/threat-feed-store.ts'
import { compare } from './page-of.ts'
import { copy, type State, type ThreatFeedRow } from './state.ts'

export function memoryThreatFeeds(state: State): ThreatFeedStore {
  function byDue(): ThreatFeedRow[] {
    return [...state.threatFeeds.values()].toSorted((a, b) => compare(dueOf(a), dueOf(b)) || compare(a.name, b.name))
  }
  function takeUntil(leaseUntil: string, row: ThreatFeedRow | undefined): ThreatFeed | undefined {
    if (row) state.threatFeeds.set(row.name, { ...row, lease_until: leaseUntil })
    return row && toThreatFeed(row)
  }
  function countChange({ kind, snapshot }: ThreatFeed): void {
    state.threatFeedVersion.set('version', version() + 1)
    if ((kind === 'ip' || kind === 'domain') && snapshot.gained > 0) state.threatFeedVersion.set('gained', version())
  }
  function version(): number {
    return state.threatFeedVersion.get('version') ?? 0
  }
  return {
    async insert(feed) {
      if (state.threatFeeds.has(feed.name)) return false
      state.threatFeeds.set(feed.name, copy({ ...feed, lease_until: null }))
      countChange(feed)
      return true
    },

    async find(name) {
      const row = state.threatFeeds.get(name)
      return row && toThreatFeed(row)
    },

    async list() {
      return [...state.threatFeeds.values()].toSorted((a, b) => compare(a.name, b.name)).map(toThreatFeed)
    },

    async version() {
      return version()
    },

    async gainedVersion() {
      return state.threatFeedVersion.get('gained') ?? 0
    },

    async nextDue() {
      const [first] = byDue()
      return first && dueOf(first)
    },

    async leaseDue(now, leaseUntil) {
      return takeUntil(
        leaseUntil,
        byDue().find((row) => dueOf(row) <= now),
      )
    },

    async lease(name, now, leaseUntil) {
      const row = state.threatFeeds.get(name)
      return takeUntil(leaseUntil, row && (row.lease_until ?? '') <= now ? row : undefined)
    },

    async finish(name, leaseUntil, edit) {
      const row = state.threatFeeds.get(name)
      if (row?.lease_until !== leaseUntil) return false
      const edited = { ...row, ...copy(edit), lease_until: null }
      state.threatFeeds.set(name, edited)
      if (edit.snapshot) countChange(edited)
      return true
    },

    async remove(name) {
      const row = state.threatFeeds.get(name)
      if (!row) return undefined
      state.threatFeeds.delete(name)
      countChange({ ...row, snapshot: { ...row.snapshot, gained: 0 } })
      return toThreatFeed(row)
    },
  }
}

function dueOf({ next_refresh_at, lease_until }: ThreatFeedRow): string {
  return lease_until !== null && lease_until > next_refresh_at ? lease_until : next_refresh_at
}

function toThreatFeed({ lease_until: _, ...feed }: ThreatFeedRow): ThreatFeed {
  return copy(feed)
}
