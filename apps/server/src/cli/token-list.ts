import { listTokens, listUsers } from '@security-management/domain'
import type { Command } from './command.ts'
import { table } from './table.ts'

/** Lists all API tokens, without the tokens themselves. */
export const tokenListCommand: Command = {
  name: 'token list',
  about: 'lists the API tokens, revoked ones included',
  async run({ withPorts, print }) {
    const { tokens, users } = await withPorts(async ({ ports }) => ({
      tokens: await listTokens(ports),
      users: new Map((await listUsers(ports)).map((user) => [user.id, user.email])),
    }))
    const rows = tokens.map((token) => [
      token.id,
      `${token.prefix}…`,
      users.get(token.user_id) ?? token.user_id,
      token.name,
      token.access,
      token.organizations?.join(', ') ?? 'all',
      token.created_at,
      token.expires_at,
      token.last_used_at,
      token.revoked_at,
    ])
    print({
      text: table(
        ['ID', 'TOKEN', 'USER', 'NAME', 'ACCESS', 'ORGANIZATIONS', 'CREATED', 'EXPIRES', 'LAST USED', 'REVOKED'],
        rows,
      ),
      json: tokens,
    })
  },
}
