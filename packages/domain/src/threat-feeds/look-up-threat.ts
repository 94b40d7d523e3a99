import * as v from 'valibot'
import { invalid } from '../errors.ts'
import { described, object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { addressText, createAddress, readAddress } from '../traffic/line-addresses.ts'
import { Count, Name } from '../values.ts'
import { createDomainName, readDomainName } from './domain-name.ts'

/** What to look up: an IPv4 or IPv6 address, or a host name. */
export const ThreatLookupQuery = object({
  value: v.pipe(
    Name,
    // An address, or what can stand in a DNS question; `lookUpThreat` refuses the rest.
    v.metadata({
      anyOf: [
        { type: 'string', format: 'ipv4' },
        { type: 'string', format: 'ipv6' },
        { type: 'string', format: 'idn-hostname' },
      ],
    }),
  ),
})

/** What the present feeds say of an address or a host. */
export const ThreatLookup = object({
  value: described(v.string(), 'In its shortest form; a name in lower case, as the DNS knows it.'),
  kind: v.picklist(['address', 'host']),
  listed: described(v.boolean(), 'Whether a feed lists it, or a network or parent domain of it, and none allows it.'),
  feed: described(v.string(), 'The feed that lists it; `""` where none does.'),
  entry: described(v.string(), 'The entry of the feed that matched.'),
  snapshot: described(Count, 'The snapshot of the feed; 0 where none lists it.'),
})
export type ThreatLookup = v.InferOutput<typeof ThreatLookup>

/**
 * Says what the present feeds say of an address or a host name.
 *
 * @throws DomainError `invalid` where the value is neither.
 */
export async function lookUpThreat(ports: Needs<'feeds'>, input: unknown): Promise<ThreatLookup> {
  const { value } = parse(ThreatLookupQuery, input)
  const bytes = utf8(value)
  const feeds = ports.feeds()
  const address = createAddress()
  if (readAddress(bytes, 0, bytes.length, address)) {
    return { value: addressText(address), kind: 'address', ...said(feeds.address(address)) }
  }
  const name = createDomainName()
  if (!readDomainName(bytes, 0, bytes.length, name)) throw invalid('value', 'Must be an IP address or a host name')
  const text = String.fromCharCode(...name.bytes.subarray(0, name.length))
  return { value: text, kind: 'host', ...said(feeds.host(name.bytes, name.length)) }

  function said(finding: number): Omit<ThreatLookup, 'value' | 'kind'> {
    if (finding < 0) return { listed: false, feed: '', entry: '', snapshot: 0 }
    const { feed, entry, snapshot } = feeds.explain(finding)
    return { listed: true, feed, entry, snapshot }
  }
}

function utf8(text: string): Uint8Array {
  const bytes = encodeURIComponent(text).match(/%[0-9A-F]{2}|./g) ?? []
  return Uint8Array.from(bytes, (byte) => (byte.length === 3 ? Number.parseInt(byte.slice(1), 16) : byte.charCodeAt(0)))
}
