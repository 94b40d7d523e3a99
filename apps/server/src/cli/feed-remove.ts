import { DomainError, removeThreatFeed } from '@security-management/domain'
import type { Command } from './command.ts'

/** Removes a threat feed. */
export const feedRemoveCommand: Command = {
  name: 'feed remove',
  about: 'removes a threat feed; what it found stays counted',
  args: ['NAME'],
  async run({ args: [name = ''], withPorts, print }) {
    await withPorts(async ({ ports }) => {
      try {
        await removeThreatFeed(ports, name)
      } catch (error) {
        if (error instanceof DomainError && error.code === 'not_found') throw new Error(`There is no feed ${name}`)
        throw error
      }
    })
    print({ text: `removed ${name}`, json: { name, removed: true } })
  },
}
