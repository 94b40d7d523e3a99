import { DomainError, Id, revokeToken } from '@security-management/domain'
import * as v from 'valibot'
import { type Command, wrongCall } from './command.ts'

/** Revokes an API token. */
export const tokenRevokeCommand: Command = {
  name: 'token revoke',
  about: 'revokes an API token, which holds for the very next request',
  args: ['ID'],
  async run({ args, withPorts, print }) {
    const id = Number(args[0])
    if (!/^\d+$/.test(args[0] ?? '') || !v.is(Id, id)) throw wrongCall('ID is the number of a token, see token list')
    await withPorts(async ({ ports }) => {
      try {
        await revokeToken(ports, id)
      } catch (error) {
        if (error instanceof DomainError && error.code === 'not_found') {
          throw new Error(`There is no token ${id} that could be revoked`)
        }
        throw error
      }
    })
    print({ text: `revoked token ${id}`, json: { id, revoked: true } })
  },
}
