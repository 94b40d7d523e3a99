import { LOCALES, registerUser } from '@security-management/domain'
import type { Command } from './command.ts'

/** Registers a person. */
export const userAddCommand: Command = {
  name: 'user add',
  about: 'registers a person',
  options: {
    email: { value: 'E', about: 'the e-mail address', required: true },
    username: { value: 'U', about: 'the user name, the e-mail address if left out' },
    'first-name': { value: 'F', about: 'the first name' },
    'last-name': { value: 'L', about: 'the last name' },
    locale: { value: LOCALES.join('|'), about: 'the language of mails to them, en if left out' },
  },
  async run({ values, withPorts, print }) {
    const { email, username, 'first-name': first_name, 'last-name': last_name, locale } = values
    const input = { email, username, first_name, last_name, locale }
    const user = await withPorts(({ ports }) => registerUser(ports, input))
    print({ text: `registered ${user.email} with id ${user.id}`, json: { id: user.id, email: user.email } })
  },
}
