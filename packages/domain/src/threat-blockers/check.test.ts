import { describe, expect, test } from 'vitest'
import type { TrafficCounts } from '../traffic/traffic-store.ts'
import { checkOf } from './check.ts'
import type { StoredThreatBlocker } from './threat-blocker.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const NOW = new Date('2026-03-01T12:00:00.000Z')

function aStoredBlocker(part: Partial<StoredThreatBlocker> = {}): StoredThreatBlocker {
  return {
    id: 1,
    organization: { id: 1, name: 'Acme', logo: '' },
    atb_key: '0b0e7e2a-5a6f-4c8e-9d1f-3a5b7c9d1e2f',
    type: 'series',
    email: 'soc@acme.example',
    plugin: { name: 'none', config: {} },
    endpoint: '',
    privateIP: '',
    services: [],
    device_id: 'dev-1',
    created_at: '2026-01-01T00:00:00.000Z',
    last_upload_at: null,
    has_vpn: false,
    ...part,
  }
}

function check(part: Partial<StoredThreatBlocker>, counts: Partial<TrafficCounts> = {}) {
  return checkOf(aStoredBlocker(part), { hours: [], days: [], ...counts }, NOW)
}

describe('the check of a threat blocker', () => {
  test('before any traffic', () => {
    expect(check({})).toEqual({
      stat: { vpn: 0, dnsbl: 0, iplist: 0, datetime: '2026-01-01T00:00:00.000Z' },
      status: 0,
      web_stat: [],
      chart_stat: [],
    })
  })

  test('has the time of the last upload, else of the creation', () => {
    expect(check({ last_upload_at: '2026-02-01T00:00:00.000Z' }).stat.datetime).toBe('2026-02-01T00:00:00.000Z')
  })

  test('has a flag for the VPN and for each service', () => {
    expect(check({ has_vpn: true }).stat).toMatchObject({ vpn: 1, dnsbl: 0, iplist: 0 })
    expect(check({ services: ['Service Domain Protection'] }).stat).toMatchObject({ vpn: 0, dnsbl: 1, iplist: 0 })
    expect(check({ services: ['Service IPv4 Protection'] }).stat).toMatchObject({ vpn: 0, dnsbl: 0, iplist: 1 })
  })

  test.each([
    ['2026-03-01T12:00:00.000Z', 1],
    ['2026-02-28T12:00:00.001Z', 1],
    ['2026-02-28T12:00:00.000Z', 1],
    ['2026-02-28T11:59:59.999Z', 0],
    ['2026-03-01T12:00:01.000Z', 1],
  ])('noon on 1 March, last upload %s: status %i', (last_upload_at, status) => {
    expect(check({ last_upload_at }).status).toBe(status)
  })
})

describe('the chart', () => {
  test('is 24 hours without a gap that end with the newest', () => {
    const newest = Date.parse('2026-02-10T05:00:00.000Z') / 1000
    const hours = [
      { start: newest - 23 * HOUR, total: 3, malicious: 1 },
      { start: newest - 2 * HOUR, total: 5, malicious: 0 },
      { start: newest, total: 7, malicious: 7 },
    ]
    const { chart_stat } = check({}, { hours })
    expect(chart_stat).toHaveLength(24)
    for (const [index, bucket] of chart_stat.entries()) {
      const start = newest - (23 - index) * HOUR
      const { total = 0, malicious = 0 } = hours.find((hour) => hour.start === start) ?? {}
      expect(bucket).toEqual({
        bucket_start: start,
        bucket_end: start + HOUR,
        total_requests: total,
        malicious_requests: malicious,
      })
    }
  })

  test('works before 1970', () => {
    const { chart_stat } = check({}, { hours: [{ start: -HOUR, total: 1, malicious: 0 }] })
    expect(chart_stat.at(0)).toMatchObject({ bucket_start: -24 * HOUR, total_requests: 0 })
    expect(chart_stat.at(-1)).toMatchObject({ bucket_start: -HOUR, bucket_end: 0, total_requests: 1 })
  })
})

describe('the days', () => {
  test('have their start, their requests, and how many of a hundred were malicious', () => {
    const start = Date.parse('2026-02-10T00:00:00.000Z') / 1000
    const days = [
      { start: start - DAY, total: 3, malicious: 1 },
      { start, total: 200, malicious: 0 },
      { start: start + DAY, total: 7, malicious: 7 },
      { start: start + 2 * DAY, total: 3, malicious: 2 },
      { start: -DAY, total: 100_000, malicious: 1 },
    ]
    expect(check({}, { days }).web_stat).toEqual([
      { datetime: '2026-02-09T00:00:00.000Z', waf_protection: 33.33, total_managed_requests: 3 },
      { datetime: '2026-02-10T00:00:00.000Z', waf_protection: 0, total_managed_requests: 200 },
      { datetime: '2026-02-11T00:00:00.000Z', waf_protection: 100, total_managed_requests: 7 },
      { datetime: '2026-02-12T00:00:00.000Z', waf_protection: 66.67, total_managed_requests: 3 },
      { datetime: '1969-12-31T00:00:00.000Z', waf_protection: 0, total_managed_requests: 100_000 },
    ])
  })
})
