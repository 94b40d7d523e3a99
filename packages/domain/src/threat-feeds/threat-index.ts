import type { Address } from '../traffic/line-addresses.ts'
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
  addresses: AddressIndex
  hosts: DomainIndex
  /** Shares of the blocking feeds in the entries of `addresses`, IPv4 and IPv6 apart, and in those of `hosts`. */
  shares: { v4: Share[]; v6: Share[]; hosts: Share[] }
  allowed: { addresses: AddressIndex; hosts: DomainIndex }
}

/** Why an address or a host is malicious. */
export type Finding = IndexedFeed & {
  /** The entry of the feed: `10.0.0.0/8`, `192.0.2.1-192.0.2.9`, `evil.example`. */
  entry: string
}

/** Reads feeds into an index. */
export type ThreatIndexBuilder = {
  /** A reader for the bytes of a feed's snapshot. Feeds come one after the other, by name; of equal entries the first counts. */
  add(feed: IndexedFeed): FeedReader
  build(): ThreatIndex
}

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
    build: () => ({
      addresses: createAddressIndex(networks),
      hosts: domains.index(),
      shares,
      allowed: { addresses: createAddressIndex(allowed.networks), hosts: allowed.domains.index() },
    }),
  }
}

/** Looks up addresses and hosts. A finding is a number, so that a look-up makes no garbage; `describe` explains it. */
export type ThreatJudge = {
  /** What the `ip` feeds say of an address; −1 for nothing, or where an `allow-ip` feed has it. */
  judgeAddress(address: Address): number
  /**
   * What the `domain` feeds say of a host or the nearest of its parent domains; −1 for nothing, or where an
   * `allow-domain` feed has it or a parent domain of it.
   *
   * @param host in lower case, the first `length` bytes.
   */
  judgeHost(host: Uint8Array, length: number): number
  /** What a finding of either kind says. */
  describe(finding: number): Finding
}

export function openThreatIndex({ addresses, hosts, shares, allowed }: ThreatIndex): ThreatJudge {
  const { v4, v6 } = countEntries(addresses)
  return {
    judgeAddress(address) {
      const entry = lookUpAddress(addresses, address)
      return entry >= 0 && lookUpAddress(allowed.addresses, address) < 0 ? entry : -1
    },
    judgeHost(host, length) {
      const entry = lookUpHost(hosts, host, length)
      return entry >= 0 && lookUpHost(allowed.hosts, host, length) < 0 ? v4 + v6 + entry : -1
    },
    describe(finding) {
      if (finding >= v4 + v6) {
        const entry = finding - v4 - v6
        return { ...feedOf(shares.hosts, entry), entry: domainOf(hosts, entry) }
      }
      const feed = finding < v4 ? feedOf(shares.v4, finding) : feedOf(shares.v6, finding - v4)
      return { ...feed, entry: networkOf(addresses, finding) }
    },
  }
}

function feedOf(shares: Share[], entry: number): IndexedFeed {
  const share = shares.findLast(({ first }) => first <= entry)
  if (!share) throw new Error(`No feed has the entry ${entry}`)
  return share.feed
}
