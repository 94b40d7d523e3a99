import { listUsers } from '@security-management/domain'
import type { Command } from './command.ts'
import { table } from './table.ts'

/** Lists everybody who is registered. */
export const userListCommand: Command = {
  name: 'user list',
  about: 'lists the registered persons',
  async run({ withPorts, print }) {
    const users = await withPorts(({ ports }) => listUsers(ports))
    const rows = users.map((user) => [user.id, user.email, user.username, user.first_name, user.last_name, user.locale])
    print({ text: table(['ID', 'EMAIL', 'USERNAME', 'FIRST NAME', 'LAST NAME', 'LOCALE'], rows), json: users })
  },
}
