import { afterAll, beforeAll, expect, test } from 'vitest'
import { linesOf, startForWalks, WALKED } from '../test/support/walk.ts'

let service: Awaited<ReturnType<typeof startForWalks>>

beforeAll(async () => {
  service = await startForWalks()
})

afterAll(() => service?.stop())

test.each([
  ['curl', 'sh', 'curl/walk.sh'],
  ['Python, with nothing but its own library,', 'python3', 'python/walk.py'],
])('a client in %s walks the whole contract', async (_, program, script) => {
  const lines = await linesOf(program, [script, service.address, service.token])
  expect(lines).toEqual(WALKED.map((line) => expect.stringMatching(line)))
})
