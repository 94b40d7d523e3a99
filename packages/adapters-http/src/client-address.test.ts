import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { clientAddress, networkOf } from './client-address.ts'

const request = (forwarded?: string) =>
  ({
    socket: { remoteAddress: '192.0.2.1' },
    headers: { ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) },
  }) as unknown as IncomingMessage

describe('the address of a client', () => {
  test.each([
    [0, '203.0.113.7', '192.0.2.1'],
    [1, '203.0.113.7', '203.0.113.7'],
    [1, '10.9.9.9, 203.0.113.7', '203.0.113.7'],
    [2, '10.9.9.9, 203.0.113.7, 198.51.100.1', '203.0.113.7'],
    [2, '203.0.113.7', '192.0.2.1'],
    [1, ' 2001:db8::1 ', '2001:db8::1'],
    [1, 'unknown', '192.0.2.1'],
    [1, '203.0.113.7, ', '192.0.2.1'],
    [1, '', '192.0.2.1'],
    [1, undefined, '192.0.2.1'],
  ])('behind %i proxies that sent %j is %s', (proxies, forwarded, address) => {
    expect(clientAddress(request(forwarded), proxies)).toBe(address)
  })
})

describe('what stands for a client', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1:2:3::192.0.2.1', '1:2:3:0::/64'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
    ['', ''],
  ])('for %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})
