import { DomainError, Id, issueToken, parseTime } from '@security-management/domain'
import * as v from 'valibot'
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
    'read-only': { about: 'narrows it to reading' },
    organization: { value: 'ID', about: 'narrows it to this organization of theirs, and further ones', repeated: true },
  },
  async run({ values, lists, flags, withPorts, print }) {
    const { user, name, expires } = values
    const access = flags.has('read-only') ? 'read' : 'full'
    const organizations = lists.organization?.map(organizationId) ?? null
    const { id, token } = await withPorts(async ({ ports }) => {
      const expires_at = expires === undefined ? null : expiry(expires, ports.now())
      try {
        return await issueToken(ports, { user, name, expires_at, access, organizations })
      } catch (error) {
        if (error instanceof DomainError && error.code === 'not_found')
          throw new Error(`Nobody is registered as ${user}`)
        throw error
      }
    })
    print({ text: `token ${id}, shown this once:\n\n  ${token}\n`, json: { id, token } })
  },
}

function organizationId(text: string): number {
  const id = Number(text)
  if (!/^\d+$/.test(text) || !v.is(Id, id)) throw wrongCall('--organization takes the number of an organization')
  return id
}

/** The time that `text` names, as ISO 8601. */
export function expiry(text: string, now: Date): string {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const time = count === undefined ? parseTime(text) : now.getTime() + Number(count) * (UNITS[unit] ?? 0)
  if (time === undefined)
    throw wrongCall('--expires takes a period such as 90d, 12h or 30m, or an ISO 8601 date or time')
  return new Date(time).toISOString()
}
