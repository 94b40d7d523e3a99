// Runs the commands of the pages in docs/guide against a service of its own, and writes what they say into the pages.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runSteps, stepsOf, withAnswers } from '../apps/server/test/support/guide.ts'
import { temporaryDirectory } from '../apps/server/test/support/program.ts'
import { firstToken, startServer } from '../apps/server/test/support/server.ts'

const GUIDE = fileURLToPath(new URL('../docs/guide/', import.meta.url))

for (const name of process.argv.length > 2 ? process.argv.slice(2) : await readdir(GUIDE)) {
  const directory = await temporaryDirectory()
  const server = await startServer(directory.path)
  try {
    const page = await readFile(GUIDE + name, 'utf8')
    const where = { cwd: directory.path, address: server.address, token: await firstToken(server) }
    const written = withAnswers(page, await runSteps(stepsOf(page), where))
    if (written !== page) {
      await writeFile(GUIDE + name, written)
      console.log(`written: docs/guide/${name}`)
    }
  } finally {
    await server.stop()
    await directory.remove()
  }
}
