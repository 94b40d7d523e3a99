import { buildDemo } from '../demo/build.ts'
import type { Command } from './command.ts'
import { table } from './table.ts'

/** Fills the database with something to look at. */
export const demoCommand: Command = {
  name: 'demo',
  about: 'adds a security provider with three clients to look at, and prints tokens of its people',
  async run({ withPorts, print, progress }) {
    const people = await withPorts(({ ports }) => buildDemo(ports, progress('building the demo')))
    const rows = people.flatMap(({ name, email, roles, token }) =>
      roles.map(({ organization, role }, index) =>
        index === 0 ? [name, email, role, organization, token] : ['', '', role, organization, ''],
      ),
    )
    const text = `${table(['NAME', 'EMAIL', 'ROLE', 'ORGANIZATION', 'TOKEN (shown this once)'], rows)}\n`
    print({ text, json: { people } })
  },
}
