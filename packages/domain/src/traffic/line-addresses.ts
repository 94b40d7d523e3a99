import { find } from './bytes.ts'

/** What the words of `Address` hold. */
export type AddressKind = 0 | 4 | 6

/**
 * An address as its reader leaves it: `kind` 0 for none, 4 with the address in `words[0]`, 6 with it in `words`, most
 * significant first. IPv4 inside of IPv6 (`::ffff:1.2.3.4`) is IPv4.
 */
export type Address = { kind: AddressKind; words: Uint32Array }

/** An address of no kind, to be read into again and again. */
export function createAddress(): Address {
  return { kind: 0, words: new Uint32Array(4) }
}

/**
 * Reads an IPv4 or IPv6 address into `out`: with a port (`1.2.3.4:80`, `[::1]:80`), brackets, a zone (`fe80::1%eth0`),
 * or bare.
 *
 * @returns whether there was one.
 */
export function readAddress(bytes: Uint8Array, from: number, to: number, out: Address): boolean {
  out.kind = 0
  const after = readIpv4(bytes, from, to, out)
  if (after > 0) {
    if (after === to || (bytes[after] === 0x3a && isPort(bytes, after + 1, to))) {
      out.kind = 4
      return true
    }
    return false
  }
  return readIpv6(bytes, from, to, out)
}

/** Position after the four numbers, into `words[0]`; 0 where they are none. */
function readIpv4(bytes: Uint8Array, from: number, to: number, out: Address): number {
  let address = 0
  let at = from
  for (let part = 0; part < 4; part += 1) {
    let value = 0
    const first = at
    for (; at < to && at - first < 3; at += 1) {
      const digit = (bytes[at] as number) - 0x30
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
    }
    if (at === first || value > 255 || (at - first > 1 && bytes[first] === 0x30)) return 0
    address = address * 256 + value
    if (part < 3) {
      if (at >= to || bytes[at] !== 0x2e) return 0
      at += 1
    }
  }
  out.words[0] = address
  return at
}

function isPort(bytes: Uint8Array, from: number, to: number): boolean {
  if (to === from || to - from > 5) return false
  for (let index = from; index < to; index += 1) {
    const byte = bytes[index] as number
    if (byte < 0x30 || byte > 0x39) return false
  }
  return true
}

const groups = new Uint16Array(8)

function readIpv6(bytes: Uint8Array, from: number, to: number, out: Address): boolean {
  let at = from
  let end = to
  if (bytes[at] === 0x5b) {
    const close = find(bytes, 0x5d, at, to)
    if (close === to) return false
    if (close + 1 < to && !(bytes[close + 1] === 0x3a && isPort(bytes, close + 2, to))) return false
    at += 1
    end = close
  }
  end = find(bytes, 0x25, at, end)
  if (end - at < 2 || end - at > 45) return false

  let count = 0
  let gap = -1
  if (bytes[at] === 0x3a) {
    if (bytes[at + 1] !== 0x3a) return false
    gap = 0
    at += 2
  }
  while (at < end) {
    if (count === 8) return false
    let value = 0
    const first = at
    for (; at < end && at - first < 4; at += 1) {
      const digit = hexDigit(bytes[at] as number)
      if (digit < 0) break
      value = value * 16 + digit
    }
    if (at < end && bytes[at] === 0x2e) {
      // The last 32 bits as an IPv4 address.
      if (count > 6 || readIpv4(bytes, first, end, out) !== end) return false
      groups[count] = (out.words[0] as number) >>> 16
      groups[count + 1] = (out.words[0] as number) & 0xffff
      count += 2
      at = end
      break
    }
    if (at === first) return false
    groups[count] = value
    count += 1
    if (at === end) break
    if (bytes[at] !== 0x3a) return false
    at += 1
    if (at === end) return false
    if (bytes[at] === 0x3a) {
      if (gap >= 0) return false
      gap = count
      at += 1
    }
  }
  if (gap < 0 ? count !== 8 : count > 7) return false
  if (gap >= 0) {
    const moved = count - gap
    for (let index = 0; index < moved; index += 1) groups[7 - index] = groups[count - 1 - index] as number
    groups.fill(0, gap, 8 - moved)
  }
  for (let word = 0; word < 4; word += 1) {
    out.words[word] = ((groups[word * 2] as number) << 16) | (groups[word * 2 + 1] as number)
  }
  const isMapped = out.words[0] === 0 && out.words[1] === 0 && out.words[2] === 0xffff
  if (isMapped) out.words[0] = out.words[3] as number
  out.kind = isMapped ? 4 : 6
  return true
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/**
 * Whether the address is of no public network: private, shared, loopback, link-local, multicast, documentation or
 * unassigned (RFC 6890).
 */
export function isPrivate({ kind, words }: Address): boolean {
  const first = words[0] as number
  if (kind === 4) {
    const top = first >>> 24
    if (top === 0 || top === 10 || top === 127 || top >= 224) return true
    return PRIVATE_V4.some(([network, bits]) => first >>> (32 - bits) === network >>> (32 - bits))
  }
  // Of IPv6, 2000::/3 is public, but for the documentation's 2001:db8::/32.
  return kind === 6 && (first >>> 29 !== 1 || first === 0x20010db8)
}

const PRIVATE_V4: readonly (readonly [network: number, bits: number])[] = [
  [0x64400000, 10], // 100.64.0.0
  [0xa9fe0000, 16], // 169.254.0.0
  [0xac100000, 12], // 172.16.0.0
  [0xc0000000, 24], // 192.0.0.0
  [0xc0000200, 24], // 192.0.2.0
  [0xc0a80000, 16], // 192.168.0.0
  [0xc6120000, 15], // 198.18.0.0
  [0xc6336400, 24], // 198.51.100.0
  [0xcb007100, 24], // 203.0.113.0
]

/** The address as people write it: dotted, or IPv6 in its shortest form (RFC 5952); `""` for none. */
export function addressText({ kind, words }: Address): string {
  const first = words[0] as number
  if (kind === 0) return ''
  if (kind === 4) return `${first >>> 24}.${(first >>> 16) & 255}.${(first >>> 8) & 255}.${first & 255}`
  const parts = [...words].flatMap((word) => [word >>> 16, word & 0xffff])
  // The longest run of at least two zeros, the first of equals, becomes `::`.
  let gap = { from: -1, length: 1 }
  for (let from = 0; from < 8; from += 1) {
    let length = 0
    while (parts[from + length] === 0) length += 1
    if (length > gap.length) gap = { from, length }
  }
  const text = (some: number[]) => some.map((part) => part.toString(16)).join(':')
  if (gap.from < 0) return text(parts)
  return `${text(parts.slice(0, gap.from))}::${text(parts.slice(gap.from + gap.length))}`
}
