import type { Client } from './content.ts'

const HOUR = 3_600_000
const HOURS = 24
const PATHS = ['/', '/login', '/products', '/search', '/api/orders', '/images/logo.svg', '/contact']
const ATTACKS = ['/wp-login.php', '/.env', '/phpmyadmin/', '/search?q=%27%20or%201%3D1', '/../../etc/passwd']

/**
 * The traffic file of one blocker: its last 24 hours, by the hour, more by day than by night. The times hang on `now`;
 * all else is the same for the same blocker.
 */
export function trafficOf({ device_id, requests, attacks }: Client['blockers'][number], now: Date): string {
  const random = seededRandom(device_id)
  const pick = (values: string[]) => values[Math.floor(random() * values.length)]
  const lines: string[] = []
  for (let hour = HOURS; hour > 0; hour -= 1) {
    const from = now.getTime() - hour * HOUR
    const busy = 0.25 + 0.75 * Math.max(0, Math.sin(((new Date(from).getUTCHours() - 5) / 16) * Math.PI))
    const count = Math.round(requests * busy * (0.8 + 0.4 * random()))
    const times = Array.from({ length: count }, () => from + Math.floor(random() * HOUR)).sort((a, b) => a - b)
    for (const time of times) {
      const blocked = random() < attacks
      const line = {
        timestamp: new Date(time).toISOString(),
        client_ip: `${blocked ? '203.0.113' : '198.51.100'}.${1 + Math.floor(random() * 254)}`,
        method: blocked || random() < 0.85 ? 'GET' : 'POST',
        path: pick(blocked ? ATTACKS : PATHS),
        status: blocked ? 403 : 200,
        verdict: blocked ? 'blocked' : 'allowed',
      }
      lines.push(JSON.stringify(line))
    }
  }
  return `[\n${lines.join(',\n')}\n]\n`
}

/** Numbers from 0 up to 1 that look random and are the same for the same seed (mulberry32). */
function seededRandom(seed: string): () => number {
  let state = [...seed].reduce((sum, character) => Math.imul(sum, 31) + (character.codePointAt(0) ?? 0), 7)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
