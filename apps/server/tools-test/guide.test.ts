import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { isShown, runSteps, stepsOf } from '../test/support/guide.ts'
import { temporaryDirectory } from '../test/support/program.ts'
import { firstToken, startServer, type TestServer } from '../test/support/server.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const GUIDE = readdirSync(`${ROOT}docs/guide`).map((name) => `docs/guide/${name}`)

/** The pages whose commands a reader would type, each against a service of its own. */
const PAGES = ['README.md', ...GUIDE]

describe('the commands on a page', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  let server: TestServer

  afterEach(async () => {
    await server.stop()
    await directory.remove()
  })

  test.each(PAGES)('say what the page shows: %s', async (name) => {
    directory = await temporaryDirectory()
    server = await startServer(directory.path)
    const page = await readFile(`${ROOT}${name}`, 'utf8')
    const steps = stepsOf(page).filter(({ commands }) => !/\bpnpm\b/.test(commands))
    const where = { cwd: directory.path, address: server.address, token: await firstToken(server) }
    const said = await runSteps(steps, where)
    const wrong = steps.flatMap(({ commands, shown }, index) =>
      shown === undefined || isShown(shown, said[index] ?? '') ? [] : [{ commands, shown, said: said[index] }],
    )
    expect(wrong).toEqual([])
  })
})
