import { DomainError, issueToken, parseTime } from '@security-management/domain'
import { type Command, wrongCall } from './command.ts'

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Issues an API token. */
export const tokenIssueCommand: Command = {
  name: 'token issue',
  about: 'issues an API token',
  options: {
    user: { value: 'EMAIL|ID', about: 'whose token it is', required: true },
    name: { value: 'N', about: 'what to call it' },
    expires: {
      value: '90d',
      about: 'when it expires: in 90d, 12h, 30m, or at an ISO 8601 date or time; never if left out',
    },
  },
  async run({ values, withPorts, print }) {
    const { user, name, expires } = values
    const { id, token } = await withPorts(async ({ ports }) => {
      const expires_at = expires === undefined ? null : expiry(expires, ports.now())
      try {
        return await issueToken(ports, { user, name, expires_at })
      } catch (error) {
        if (error instanceof DomainError && error.code === 'not_found')
          throw new Error(`Nobody is registered as ${user}`)
        throw error
      }
    })
    print({ text: `token ${id}, shown this once:\n\n  ${token}\n`, json: { id, token } })
  },
}

/** The time that `text` names, as ISO 8601. */
export function expiry(text: string, now: Date): string {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const time = count === undefined ? parseTime(text) : now.getTime() + Number(count) * (UNITS[unit] ?? 0)
  if (time === undefined)
    throw wrongCall('--expires takes a period such as 90d, 12h or 30m, or an ISO 8601 date or time')
  return new Date(time).toISOString()
}
