import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clientOf } from './support/client.ts'
import { homeOfTests } from './support/home.ts'
import { run } from './support/program.ts'
import { firstToken, type TestServer } from './support/server.ts'

const home = homeOfTests()
const { serve } = home

async function namesOf(server: TestServer, token: string): Promise<Set<string>> {
  const { body } = await clientOf(server.address, token)('GET', '/organizations?limit=1000')
  expect(body.error).toBe(0)
  return new Set((body.data as { name: string }[]).map(({ name }) => name))
}

describe('a backup of a service that is written to', () => {
  test('holds all that was acknowledged before it began, and is restored once nobody serves', {
    timeout: 90_000,
  }, async () => {
    const cwd = home.path()
    const server = await serve()
    const token = await firstToken(server)
    const acknowledged: string[] = []
    let isOver = false
    async function write(writer: number): Promise<void> {
      for (let count = 0; !isOver; count += 1) {
        const name = `organization ${count} of writer ${writer}`
        const { status } = await clientOf(server.address, token)('POST', '/organizations', { name })
        expect(status).toBe(201)
        if (acknowledged.push(name) > 800) isOver = true
      }
    }
    const writing = Promise.all([1, 2, 3, 4].map(write))
    await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(20)
    const before = [...acknowledged]
    const { code, stdout, stderr } = await run(['backup', 'copy.sqlite', '--json'], { cwd })
    const count = acknowledged.length
    isOver = true
    await writing
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const database = join(cwd, 'data', 'service.sqlite')
    expect(JSON.parse(stdout)).toEqual({ database, file: 'copy.sqlite', bytes: expect.any(Number) })
    expect(count).toBeGreaterThan(before.length)

    const refused = await run(['restore', 'copy.sqlite'], { cwd })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^A process has the database [^\n]* open; stop the service first\n$/)
    expect((await namesOf(server, token)).size).toBe(acknowledged.length)
    expect((await server.stop()).code).toBe(0)

    const restored = await run(['restore', 'copy.sqlite', '--json'], { cwd })
    const document = JSON.parse(restored.stdout)
    expect(document).toEqual({
      database,
      file: 'copy.sqlite',
      before: expect.stringContaining(`${database}.before-restore-`),
    })
    const again = await serve()
    const names = await namesOf(again, token)
    expect(before.filter((name) => !names.has(name))).toEqual([])
    // It is one moment: of each writer the first so many, and nothing that was not acknowledged in the end.
    for (const writer of [1, 2, 3, 4]) {
      const own = acknowledged.filter((name) => name.endsWith(`writer ${writer}`))
      const kept = own.filter((name) => names.has(name))
      expect(kept).toEqual(own.slice(0, kept.length))
    }
    expect((await clientOf(again.address, token)('POST', '/organizations', { name: 'After' })).status).toBe(201)
  })
})

describe('the commands', () => {
  test('refuse to replace a file, and a file that is none of ours, in one line', { timeout: 60_000 }, async () => {
    const cwd = home.path()
    const before = await run(['backup', 'copy.sqlite'], { cwd })
    expect(before).toMatchObject({ code: 1, stderr: expect.stringMatching(/^There is no database at [^\n]+\n$/) })
    expect(await readdir(cwd)).toEqual([])
    await run(['migrate'], { cwd })
    expect((await run(['backup', 'copy.sqlite'], { cwd })).stdout).toMatch(/^copied .* to copy\.sqlite, \d+ bytes\n$/)
    const again = await run(['backup', 'copy.sqlite'], { cwd })
    expect(again).toMatchObject({ code: 1, stderr: 'copy.sqlite is there already; --force replaces it\n' })
    expect((await run(['backup', 'copy.sqlite', '--force'], { cwd })).code).toBe(0)
    const stranger = await run(['restore', process.execPath], { cwd })
    expect(stranger).toMatchObject({ code: 1, stderr: expect.stringMatching(/is no SQLite database\n$/) })
  })

  test.each([
    ['backup', 'pg_dump --format=custom'],
    ['restore', 'pg_restore --clean'],
  ])('%s names the tool for PostgreSQL', async (command, tool) => {
    const env = { DATABASE_URL: 'postgres://me:geheim@127.0.0.1:1/service' }
    const { code, stderr } = await run([command, 'file'], { cwd: home.path(), env })
    expect(stderr).toContain(tool)
    expect(stderr).not.toContain('geheim')
    expect(code).toBe(2)
  })
})
