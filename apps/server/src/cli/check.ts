import { checkInstallation } from '@security-management/domain'
import type { Command } from './command.ts'

/** Problems that are listed; of more, only their number. */
const MAX_LISTED = 100

/** Checks all that is stored. */
export const checkCommand: Command = {
  name: 'check',
  about:
    'checks the database, the bytes of documents, feeds and traffic, and the audit trail; exits with 1 if anything is wrong',
  async run({ withPorts, print, progress }) {
    const problems = await withPorts(({ ports }) => checkInstallation(ports, progress('checking the audit trail')))
    const listed = problems.slice(0, MAX_LISTED).map((found) => `${found.in}: ${found.problem}`)
    print({ text: problems.length === 0 ? 'all is well' : listed.join('\n'), json: { problems } })
    if (problems.length > 0)
      throw new Error(problems.length === 1 ? '1 thing is wrong' : `${problems.length} things are wrong`)
  },
}
