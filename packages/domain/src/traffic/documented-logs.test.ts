import { expect, test } from 'vitest'
import { createTrafficReading } from './create-traffic-reading.ts'
import { addressText } from './line-addresses.ts'
import type { Judge } from './traffic-reading.ts'

/** Lines shaped as the documentation of each product shows them, with what is to be read of them. */
const LINES: [product: string, line: object, read: { time: string; client: string; host: string; verdict?: string }][] =
  [
    [
      'Traefik, access log as JSON',
      {
        ClientAddr: '203.0.113.4:51820',
        ClientHost: '203.0.113.4',
        ClientPort: '51820',
        DownstreamStatus: 200,
        Duration: 1234567,
        RequestAddr: 'shop.example',
        RequestHost: 'shop.example',
        RequestMethod: 'GET',
        RequestPath: '/',
        ServiceAddr: '10.0.0.7:80',
        StartLocal: '2026-03-01T11:00:00.123456789+01:00',
        StartUTC: '2026-03-01T10:00:00.123456789Z',
        level: 'info',
        msg: '',
        time: '2026-03-01T10:00:01Z',
      },
      { time: '2026-03-01T10:00:00.123Z', client: '203.0.113.4', host: 'shop.example' },
    ],
    [
      'AWS WAF',
      {
        timestamp: 1772359200123,
        formatVersion: 1,
        webaclId: 'arn:aws:wafv2:eu-west-1:000000000000:regional/webacl/example/0',
        terminatingRuleId: 'RateLimit',
        action: 'BLOCK',
        httpSourceName: 'ALB',
        ruleGroupList: [{ ruleGroupId: 'group', terminatingRule: { ruleId: 'x', action: 'BLOCK' } }],
        responseCodeSent: null,
        httpRequest: {
          clientIp: '203.0.113.5',
          country: 'FR',
          headers: [{ name: 'User-Agent', value: 'curl' }],
          uri: '/login',
          httpMethod: 'POST',
          requestId: '1-2',
          scheme: 'https',
          host: 'login.example',
        },
        labels: [{ name: 'awswaf:managed:example' }],
      },
      { time: '2026-03-01T10:00:00.123Z', client: '203.0.113.5', host: 'login.example', verdict: 'block' },
    ],
    [
      'AWS WAF, where the host is among the headers',
      {
        timestamp: 1772359200123,
        action: 'ALLOW',
        httpRequest: {
          clientIp: '10.0.0.9',
          headers: [
            { name: 'value', value: 'wrong.example' },
            { name: 'host', value: 'login.example:443' },
            { value: 'wrong.example' },
            { name: 'x-forwarded-for', value: '10.1.1.1, 8.8.4.4' },
            { name: 'User-Agent', value: 'curl' },
          ],
          uri: '/login',
        },
        rateBasedRuleList: [{ name: 'Host', value: 'wrong.example' }],
      },
      { time: '2026-03-01T10:00:00.123Z', client: '8.8.4.4', host: 'login.example' },
    ],
    [
      'AWS CloudFront, standard log as JSON',
      {
        date: '2026-03-01',
        time: '10:00:00',
        'x-edge-location': 'FRA50-P1',
        'sc-bytes': '512',
        'c-ip': '2001:db8::7',
        'cs-method': 'GET',
        'cs(Host)': 'd111111abcdef8.cloudfront.net',
        'cs-uri-stem': '/',
        'sc-status': '200',
        'x-edge-result-type': 'Hit',
        'x-host-header': 'www.shop.example',
        'x-forwarded-for': '-',
      },
      { time: '2026-03-01T10:00:00.000Z', client: '2001:db8::7', host: 'www.shop.example' },
    ],
    [
      'AWS load balancer',
      {
        type: 'https',
        time: '2026-03-01T10:00:00.186641Z',
        elb: 'app/front/50dc6c495c0c9188',
        'client:port': '203.0.113.6:2817',
        'target:port': '10.0.0.1:80',
        elb_status_code: '200',
        target_status_code: '200',
        domain_name: 'www.shop.example',
        actions_executed: 'waf,forward',
      },
      { time: '2026-03-01T10:00:00.186Z', client: '203.0.113.6', host: 'www.shop.example' },
    ],
    [
      'Elastic Common Schema',
      {
        '@timestamp': '2026-03-01T10:00:00.000Z',
        event: { kind: 'event', category: ['web', 'network'], type: ['access', 'denied'], outcome: 'failure' },
        source: { ip: '203.0.113.8', port: 4711 },
        url: { domain: 'api.shop.example', path: '/v1' },
        http: { request: { method: 'GET' }, response: { status_code: 403 } },
      },
      { time: '2026-03-01T10:00:00.000Z', client: '203.0.113.8', host: 'api.shop.example', verdict: 'denied' },
    ],
    [
      'HAProxy, log-format as JSON',
      {
        timestamp: '2026-03-01T10:00:00.123+00:00',
        client_ip: '203.0.113.9',
        client_port: 51820,
        frontend: 'public',
        backend: 'shop',
        server_ip: '10.0.0.3',
        http_host: 'shop.example:443',
        status_code: 200,
        termination_state: '--',
      },
      { time: '2026-03-01T10:00:00.123Z', client: '203.0.113.9', host: 'shop.example' },
    ],
  ]

test.each(LINES)('%s is read as it is documented', (_product, line, expected) => {
  const asked = { client: '', host: '' }
  const judge: Judge = {
    version: 1,
    address(address) {
      asked.client = addressText(address)
      return -1
    },
    host(host, length) {
      asked.host = Buffer.from(host.subarray(0, length)).toString()
      return -1
    },
    explain() {
      throw new RangeError('Nothing was found')
    },
  }
  const reading = createTrafficReading(judge)
  reading.push(Buffer.from(JSON.stringify([line])))
  const { accepted, from, threats, rejects } = reading.end()
  expect([accepted, rejects]).toEqual([1, []])
  const { time, verdict, ...rest } = expected
  expect({ time: new Date(from ?? 0).toISOString(), ...asked }).toEqual({ time, ...rest })
  expect(threats.map((threat) => threat.verdict)).toEqual(verdict === undefined ? [] : [verdict])
})
