import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { clientOf } from './client.ts'
import { run, temporaryDirectory } from './program.ts'
import { firstToken, startServer } from './server.ts'

/** Where the example clients are. */
export const EXAMPLES = fileURLToPath(new URL('../../../../examples', import.meta.url))

/** A service with what only its operator can bring for a client to read. */
export async function startForWalks() {
  const directory = await temporaryDirectory()
  const server = await startServer(directory.path, {}, [], 120_000)
  const token = await firstToken(server)
  const { body } = await clientOf(server.address, token)('POST', '/organizations', { name: 'Assessed' })
  const assessment = { organization: body.organization, score: 72, name: { en: 'Initial audit', it: 'Verifica' } }
  await writeFile(join(directory.path, 'assessments.json'), JSON.stringify([assessment]))
  await run(['import', 'assessments', 'assessments.json'], { cwd: directory.path })
  return {
    address: server.address,
    token,
    async stop() {
      await server.stop()
      await directory.remove()
    },
  }
}

const execute = promisify(execFile)

/** Runs a program to its end, and gives the lines that it printed; one that fails rejects with what it said. */
export async function linesOf(program: string, args: string[], cwd = EXAMPLES): Promise<string[]> {
  const { stdout } = await execute(program, args, { cwd, timeout: 60_000 })
  return stdout.trimEnd().split('\n')
}

/** What every example says of its walk; counts of what other walks left are not looked at. */
export const WALKED = [
  /^organization \d+: Acme Energy$/,
  /^users: /,
  /^blockers: 1/,
  /^cloud defenses: 0$/,
  /^evidence: policy.txt$/,
  /^assessment: Initial audit/,
  /^notifications: \d+ on (?:[2-9]|\d\d+) pages$/,
  /^removed: Acme Energy$/,
]
