import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * The address of the client: that of the connection or, behind so many proxies of our own, the one that the outermost of
 * them saw. Each proxy appends to `X-Forwarded-For`, so what a client writes there itself stands further left.
 */
export function clientAddress({ socket, headers }: IncomingMessage, proxies: number): string {
  const connected = socket.remoteAddress ?? ''
  if (proxies === 0) return connected
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  const address = forwarded.at(-proxies)?.trim() ?? ''
  return isIP(address) ? address : connected
}

/**
 * What stands for the client of an address when clients are counted: the address, or of IPv6 the network of 64 bits that
 * it lies in, since a client has all of that.
 */
export function networkOf(address: string): string {
  const ip = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').replace(/%.*$/, '')
  if (isIP(ip) !== 6) return ip
  const [head = '', tail] = ip.split('::')
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const [first, last] = [groups(head), groups(tail)]
  // An IPv4 address at the end stands for two groups.
  const missing = 8 - first.length - last.length - (ip.includes('.') ? 1 : 0)
  const all = tail === undefined ? first : [...first, ...Array.from({ length: missing }, () => '0'), ...last]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
