import type { Finding, Judge } from '../traffic/traffic-reading.ts'
import { type AddressIndex, countEntries, createAddressIndex, lookUpAddress, networkOf } from './address-index.ts'
import { createDomainSet, type DomainIndex, domainOf, lookUpHost } from './domain-index.ts'
import { domainReader, type FeedReader, networkReader } from './feed-lines.ts'
import { countNetworks, createNetworks } from './networks.ts'
import type { FeedKind } from './threat-feed.ts'

/** A feed in an index. */
export type IndexedFeed = {
  name: string
  kind: FeedKind
  /** Number of the snapshot. */
  snapshot: number
}

/** Which entries are whose: those from `first` on, up to the next feed's. */
type Share = { first: number; feed: IndexedFeed }

/**
 * What the present feeds say of addresses and hosts. It is plain data in shared memory: `postMessage` gives it to another
 * thread without a copy, which then opens it with `openThreatIndex`.
 */
export type ThreatIndex = {
  /** Of the feeds, see `ThreatFeedStore`: when there is another one, the index is out of date. */
  version: number
  addresses: AddressIndex
  hosts: DomainIndex
  /** Shares of the blocking feeds in the entries of `addresses`, IPv4 and IPv6 apart, and in those of `hosts`. */
  shares: { v4: Share[]; v6: Share[]; hosts: Share[] }
  allowed: { addresses: AddressIndex; hosts: DomainIndex }
}

/** Reads feeds into an index. */
export type ThreatIndexBuilder = {
  /** A reader for the bytes of a feed's snapshot. Feeds come one after the other, by name; of equal entries the first counts. */
  add(feed: IndexedFeed): FeedReader
  /** @param version of the feeds, see `ThreatFeedStore`. */
  build(version: number): ThreatIndex
}

/** A builder that has read no feed yet. */
export function createThreatIndexBuilder(): ThreatIndexBuilder {
  const networks = createNetworks()
  const domains = createDomainSet()
  const allowed = { networks: createNetworks(), domains: createDomainSet() }
  const shares: ThreatIndex['shares'] = { v4: [], v6: [], hosts: [] }
  return {
    add(feed) {
      if (feed.kind === 'allow-ip') return networkReader(allowed.networks)
      if (feed.kind === 'allow-domain') return domainReader(allowed.domains)
      if (feed.kind === 'domain') {
        shares.hosts.push({ first: domains.size, feed })
        return domainReader(domains)
      }
      const { v4, v6 } = countNetworks(networks)
      shares.v4.push({ first: v4, feed })
      shares.v6.push({ first: v6, feed })
      return networkReader(networks)
    },
    build: (version) => ({
      version,
      addresses: createAddressIndex(networks),
      hosts: domains.index(),
      shares,
      allowed: { addresses: createAddressIndex(allowed.networks), hosts: allowed.domains.index() },
    }),
  }
}

/**
 * Opens an index to judge by. What an `allow-ip` feed has is nothing to the `ip` feeds, and what an `allow-domain` feed has,
 * or a parent domain of it, is nothing to the `domain` feeds.
 */
export function openThreatIndex({ version, addresses, hosts, shares, allowed }: ThreatIndex): Judge {
  const { v4, v6 } = countEntries(addresses)
  return {
    version,
    address(address) {
      const entry = lookUpAddress(addresses, address)
      return entry >= 0 && lookUpAddress(allowed.addresses, address) < 0 ? entry : -1
    },
    host(host, length) {
      const entry = lookUpHost(hosts, host, length)
      return entry >= 0 && lookUpHost(allowed.hosts, host, length) < 0 ? v4 + v6 + entry : -1
    },
    explain(finding) {
      if (finding >= v4 + v6) {
        const entry = finding - v4 - v6
        return { ...feedOf(shares.hosts, entry), entry: domainOf(hosts, entry) }
      }
      const feed = finding < v4 ? feedOf(shares.v4, finding) : feedOf(shares.v6, finding - v4)
      return { ...feed, entry: networkOf(addresses, finding) }
    },
  }
}

function feedOf(shares: Share[], entry: number): Omit<Finding, 'entry'> {
  const share = shares.findLast(({ first }) => first <= entry)
  if (!share) throw new RangeError(`No feed has the entry ${entry}`)
  return { feed: share.feed.name, snapshot: share.feed.snapshot }
}
