import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXAMPLES, linesOf, startForWalks, WALKED } from './support/walk.ts'

const DIRECTORY = join(EXAMPLES, 'typescript')
const bin = (name: string) => join(DIRECTORY, 'node_modules', '.bin', name)

let service: Awaited<ReturnType<typeof startForWalks>>

beforeAll(async () => {
  service = await startForWalks()
})

afterAll(() => service?.stop())

test('a client in TypeScript, which the compiler holds against the document, walks the whole contract', async () => {
  // As `pnpm generate` and `pnpm check` there do it.
  const generate = ['../../openapi.json', '--output', 'api.d.ts', '--default-non-nullable=false']
  await linesOf(bin('openapi-typescript'), generate, DIRECTORY)
  await linesOf(bin('tsc'), [], DIRECTORY)
  const lines = await linesOf(process.execPath, ['walk.ts', service.address, service.token], DIRECTORY)
  expect(lines).toEqual(WALKED.map((line) => expect.stringMatching(line)))
}, 120_000)
