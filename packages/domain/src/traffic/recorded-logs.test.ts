import { expect, test } from 'vitest'
import { createTrafficReading } from './create-traffic-reading.ts'
import { addressText } from './line-addresses.ts'
import { NO_FEEDS } from './traffic-reading.ts'
import { createTrafficScanner } from './traffic-scanner.ts'

// Recorded once: nginx 1.22.1 and Caddy 2.6.2 of Debian 12, each asked on 127.0.0.1 by
//   curl -A 'curl/7 "quoted" \back' http://127.0.0.1:PORT/
//   curl -H 'X-Forwarded-For: 10.0.0.1, 93.184.216.34' -H 'Host: Shop.Example' 'http://127.0.0.1:PORT/a?b=%22c%22&d=é'
//   curl http://127.0.0.1:PORT/blocked
//   curl -X POST -d x http://127.0.0.1:PORT/post
// Caddy, whose site was 127.0.0.1 alone, did not log the second one.

/** log_format json escape=json '{"time_iso8601":"$time_iso8601","msec":$msec,"remote_addr":"$remote_addr",…}' */
const NGINX_JSON = [
  String.raw`{"time_iso8601":"2026-11-21T04:51:11+00:00","msec":1795236671.541,"remote_addr":"127.0.0.1","http_x_forwarded_for":"","host":"127.0.0.1","request":"GET / HTTP/1.1","status":200,"body_bytes_sent":3,"http_user_agent":"curl/7 \"quoted\" \\back"}`,
  '{"time_iso8601":"2026-11-21T04:51:11+00:00","msec":1795236671.547,"remote_addr":"127.0.0.1","http_x_forwarded_for":"10.0.0.1, 93.184.216.34","host":"shop.example","request":"GET /a?b=%22c%22&d=é HTTP/1.1","status":200,"body_bytes_sent":3,"http_user_agent":"curl/7.88.1"}',
  '{"time_iso8601":"2026-11-21T04:51:11+00:00","msec":1795236671.553,"remote_addr":"127.0.0.1","http_x_forwarded_for":"","host":"127.0.0.1","request":"GET /blocked HTTP/1.1","status":403,"body_bytes_sent":153,"http_user_agent":"curl/7.88.1"}',
  '{"time_iso8601":"2026-11-21T04:51:11+00:00","msec":1795236671.558,"remote_addr":"127.0.0.1","http_x_forwarded_for":"","host":"127.0.0.1","request":"POST /post HTTP/1.1","status":200,"body_bytes_sent":3,"http_user_agent":"curl/7.88.1"}',
]

/** access_log … combined */
const NGINX_COMBINED = [
  String.raw`127.0.0.1 - - [21/Nov/2026:04:51:11 +0000] "GET / HTTP/1.1" 200 3 "-" "curl/7 \x22quoted\x22 \x5Cback"`,
  String.raw`127.0.0.1 - - [21/Nov/2026:04:51:11 +0000] "GET /a?b=%22c%22&d=\xC3\xA9 HTTP/1.1" 200 3 "-" "curl/7.88.1"`,
  '127.0.0.1 - - [21/Nov/2026:04:51:11 +0000] "GET /blocked HTTP/1.1" 403 153 "-" "curl/7.88.1"',
  '127.0.0.1 - - [21/Nov/2026:04:51:11 +0000] "POST /post HTTP/1.1" 200 3 "-" "curl/7.88.1"',
]

/** log_format vhosts '$host:$server_port $remote_addr - $remote_user [$time_local] "$request" $status …' */
const NGINX_VHOST = [
  String.raw`127.0.0.1:18201 127.0.0.1 - - [21/Nov/2026:04:51:11 +0000] "GET / HTTP/1.1" 200 3 "-" "curl/7 \x22quoted\x22 \x5Cback"`,
  String.raw`shop.example:18201 127.0.0.1 - - [21/Nov/2026:04:51:11 +0000] "GET /a?b=%22c%22&d=\xC3\xA9 HTTP/1.1" 200 3 "-" "curl/7.88.1"`,
  '127.0.0.1:18201 127.0.0.1 - - [21/Nov/2026:04:51:11 +0000] "GET /blocked HTTP/1.1" 403 153 "-" "curl/7.88.1"',
  '127.0.0.1:18201 127.0.0.1 - - [21/Nov/2026:04:51:11 +0000] "POST /post HTTP/1.1" 200 3 "-" "curl/7.88.1"',
]

/** log { format json } */
const CADDY = [
  String.raw`{"level":"info","ts":1795236671.564623,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"127.0.0.1","remote_port":"57132","proto":"HTTP/1.1","method":"GET","host":"127.0.0.1:18202","uri":"/","headers":{"User-Agent":["curl/7 \"quoted\" \\back"],"Accept":["*/*"]}},"user_id":"","duration":0.000018658,"size":2,"status":200,"resp_headers":{"Server":["Caddy"],"Content-Type":["text/plain; charset=utf-8"]}}`,
  '{"level":"info","ts":1795236671.5767882,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"127.0.0.1","remote_port":"57150","proto":"HTTP/1.1","method":"GET","host":"127.0.0.1:18202","uri":"/blocked","headers":{"User-Agent":["curl/7.88.1"],"Accept":["*/*"]}},"user_id":"","duration":0.000010025,"size":2,"status":200,"resp_headers":{"Server":["Caddy"],"Content-Type":["text/plain; charset=utf-8"]}}',
  '{"level":"info","ts":1795236671.582166,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"127.0.0.1","remote_port":"57152","proto":"HTTP/1.1","method":"POST","host":"127.0.0.1:18202","uri":"/post","headers":{"User-Agent":["curl/7.88.1"],"Accept":["*/*"],"Content-Length":["1"],"Content-Type":["application/x-www-form-urlencoded"]}},"user_id":"","duration":0.000009945,"size":2,"status":200,"resp_headers":{"Server":["Caddy"],"Content-Type":["text/plain; charset=utf-8"]}}',
]

function scan(text: string) {
  const lines: [time: string, client: string, host: string][] = []
  const rejects: unknown[] = []
  const scanner = createTrafficScanner({
    accept({ time, client, host, hostLength }) {
      const name = Buffer.from(host.subarray(0, hostLength)).toString()
      lines.push([new Date(time).toISOString(), addressText(client), name])
    },
    reject: (reject) => rejects.push(reject),
  })
  scanner.push(Buffer.from(text))
  scanner.end()
  expect(rejects).toEqual([])
  return lines
}

const SECOND = '2026-11-21T04:51:11.000Z'
const wrapped = (lines: string[]) => JSON.stringify(lines)

test('a log of nginx in JSON is read as it is', () => {
  expect(scan(`${NGINX_JSON.join('\n')}\n`)).toEqual([
    [SECOND, '127.0.0.1', '127.0.0.1'],
    [SECOND, '93.184.216.34', 'shop.example'],
    [SECOND, '127.0.0.1', '127.0.0.1'],
    [SECOND, '127.0.0.1', '127.0.0.1'],
  ])
})

test('a log of nginx in its own format is read once it is wrapped in JSON', () => {
  expect(scan(wrapped(NGINX_COMBINED))).toEqual(NGINX_COMBINED.map(() => [SECOND, '127.0.0.1', '']))
  expect(scan(JSON.stringify({ lines: NGINX_COMBINED }))).toHaveLength(NGINX_COMBINED.length)
  expect(scan(NGINX_COMBINED.map((line) => JSON.stringify(line)).join('\n'))).toHaveLength(NGINX_COMBINED.length)
})

test('with the virtual host in front, the host is known, too', () => {
  expect(scan(wrapped(NGINX_VHOST))).toEqual([
    [SECOND, '127.0.0.1', ''],
    [SECOND, '127.0.0.1', 'shop.example'],
    [SECOND, '127.0.0.1', ''],
    [SECOND, '127.0.0.1', ''],
  ])
})

test('a log of Caddy is read as it is', () => {
  expect(scan(`${CADDY.join('\n')}\n`)).toEqual([
    ['2026-11-21T04:51:11.564Z', '127.0.0.1', '127.0.0.1'],
    ['2026-11-21T04:51:11.576Z', '127.0.0.1', '127.0.0.1'],
    ['2026-11-21T04:51:11.582Z', '127.0.0.1', '127.0.0.1'],
  ])
})

test.each([
  ['nginx in JSON', NGINX_JSON.join('\n'), 4],
  ['nginx in its own format', wrapped(NGINX_COMBINED), 4],
  ['Caddy', CADDY.join('\n'), 3],
])('a log of %s charts', (_name, text, total) => {
  const reading = createTrafficReading(NO_FEEDS)
  reading.push(Buffer.from(text))
  const start = Date.UTC(2026, 10, 21, 4, 50) / 1000
  expect(reading.end()).toMatchObject({ accepted: total, rejected: 0, slots: [{ start, total, malicious: 0 }] })
})
