import type { Command } from './command.ts'

/** Every command migrates; this one does nothing else, and says what it did. */
export const migrateCommand: Command = {
  name: 'migrate',
  about: 'brings the database to the newest schema',
  async run({ withPorts, print }) {
    const { applied, backup } = await withPorts(async ({ migrated }) => migrated)
    const lines = applied.length > 0 ? applied.map((name) => `applied ${name}`) : ['nothing to do']
    if (backup) lines.unshift(`copied the database to ${backup}`)
    print({ text: lines.join('\n'), json: { applied, backup: backup ?? null } })
  },
}
