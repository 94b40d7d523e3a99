import { execFile } from 'node:child_process'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { temporaryDirectory } from './support/program.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PACKAGES = ['domain', 'adapters-sql', 'adapters-http', 'adapters-mail']
const call = promisify(execFile)

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let tarballs: string[]
let vitest: string

/** Runs a program in the directory of the embedding project. */
async function run(program: string, ...args: string[]): Promise<string> {
  // What the test run put there is not the embedding project's; certificates and the like are the machine's.
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|pnpm_|VITEST|NODE_ENV$|NODE_OPTIONS$)/i.test(name),
  )
  const env = { ...Object.fromEntries(own), NO_COLOR: '1' }
  return (await call(program, args, { cwd: directory.path, env })).stdout
}

// The packages as they are published, in a project that knows nothing of this repository.
beforeAll(async () => {
  directory = await temporaryDirectory()
  const where = { cwd: ROOT }
  await call(process.execPath, ['node_modules/typescript/bin/tsc', '--build'], where)
  for (const name of PACKAGES) {
    await call('pnpm', ['pack', '--pack-destination', directory.path], { cwd: join(ROOT, 'packages', name) })
  }
  tarballs = (await readdir(directory.path)).filter((name) => name.endsWith('.tgz'))
  vitest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).devDependencies.vitest
  await writeFile(join(directory.path, 'package.json'), '{"name": "embedding", "private": true, "type": "module"}')
  await run('npm', 'install', '--no-audit', '--no-fund', `vitest@${vitest}`, ...tarballs.map((name) => `./${name}`))
  await cp(join(ROOT, 'examples'), directory.path, { recursive: true })
}, 180_000)

afterAll(() => directory.remove())

async function tarball(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return Uint8Array.from(await readFile(join(directory.path, tarballs.find((file) => file.includes(name)) ?? '')))
}

describe.each(PACKAGES)('the package %s', (name) => {
  test('has the form that publint asks for', async () => {
    const { messages, pkg } = await publint({ pack: { tarball: (await tarball(name)).buffer } })
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  })

  test('has types that are found and fit, for those who import it', async () => {
    const checked = await checkPackage(createPackageFromTarballData(await tarball(name)))
    const problems = 'problems' in checked ? checked.problems : ['no types']
    // Resolution as before Node 12, and `require` of what is ESM alone, are not promised.
    const isPromised = (problem: object) =>
      !('resolutionKind' in problem && ['node10', 'node16-cjs'].includes(String(problem.resolutionKind)))
    expect(problems.filter((problem) => typeof problem === 'string' || isPromised(problem))).toEqual([])
  })

  test('brings its licence and a page that says what it is for', async () => {
    const installed = join(directory.path, 'node_modules/@security-management', name)
    expect(await readFile(join(installed, 'LICENSE'), 'utf8')).toContain('Apache License')
    expect(await readFile(join(installed, 'README.md'), 'utf8')).toContain(`# @security-management/${name}`)
    expect(await readdir(installed)).not.toContain('src')
  })
})

describe('the examples', () => {
  test('have at most 40 lines, and stand in the pages of the packages as they are', async () => {
    const pages = await Promise.all(PACKAGES.map((name) => readFile(join(ROOT, 'packages', name, 'README.md'), 'utf8')))
    const files = (await readdir(join(ROOT, 'examples'), { withFileTypes: true })).filter((entry) => entry.isFile())
    expect(files.length).toBeGreaterThan(0)
    // The directories beside them hold clients of the interface.
    for (const { name } of files) {
      const text = await readFile(join(ROOT, 'examples', name), 'utf8')
      expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(40)
      expect(pages.filter((page) => page.includes(`\`\`\`js\n${text}\`\`\``))).toHaveLength(1)
    }
  })

  test('run the whole domain in memory', async () => {
    const said = await run(process.execPath, 'in-memory.mjs')
    expect(said).toContain('total_requests: 1,')
    expect(said).toContain("file_name: 'policy.txt'")
    expect(said).toContain('Malicious traffic found: Threat blocker gateway: 1 of 1 requests were malicious.')
  })

  test('run the domain on a SQLite file, with a subscriber to its events', async () => {
    expect((await run(process.execPath, 'on-sqlite.mjs')).trimEnd().split('\n')).toEqual([
      'organization.created in organization 1',
      'vpn_profile.created in organization 1',
      'eve is refused: forbidden',
      'organization.removed in organization 1',
    ])
    expect(await readdir(directory.path)).toContain('example.sqlite')
  })

  test('run the interface in an application that is there already, with a mailer of its own', async () => {
    const said = await run(process.execPath, 'own-mailer.mjs')
    expect(said).toContain('to grace@acme.example: Hello')
    expect(said).toContain('invitation: sent')
    expect(said).toContain('the application as it was')
    expect(said).toMatch(/error: 0,\s+messages: \[\]/)
  })

  test('show a mailer that passes the suite of all mailers', async () => {
    await run('npx', 'vitest', 'run', '--reporter=json', '--outputFile=result.json', 'outbox-mailer.test.mjs')
    const result = JSON.parse(await readFile(join(directory.path, 'result.json'), 'utf8'))
    expect(result).toMatchObject({ success: true, numPassedTests: 4 })
  })
})

test('types are right for a program in TypeScript', async () => {
  const program = `
    import { createApp } from '@security-management/adapters-http'
    import { fileMailer } from '@security-management/adapters-mail'
    import { type Database, openDatabase } from '@security-management/adapters-sql'
    import { createOrganization, type InvitationMailer, type Ports } from '@security-management/domain'
    import { memoryPorts } from '@security-management/domain/memory'
    const ports: Ports = memoryPorts()
    const id: Promise<number> = createOrganization(ports, { user: 'x' }, {})
    const mailer: InvitationMailer = fileMailer({ from: 'x', publicUrl: 'x', directory: 'x' })
    const database: Database = openDatabase('sqlite:x')
    // @ts-expect-error: a caller is a person
    createOrganization(ports, 'x', {})
    // @ts-expect-error: a log is needed
    createApp(ports, {})
    export { database, id, mailer }`
  await writeFile(join(directory.path, 'types.mts'), program)
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext']
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  expect(await run(process.execPath, compiler, ...options, 'types.mts').catch(({ stdout }) => stdout)).toBe('')
})

describe('importing the domain', () => {
  const files = (loaded: string[]) => loaded.map((url) => /create-traffic-reading/.exec(url)?.[0]).filter(Boolean)
  let imported: string[]
  let read: string[]

  beforeAll(async () => {
    const program = `
      import { registerHooks } from 'node:module'
      const loaded = []
      registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context) } })
      const { loadTrafficReading } = await import('@security-management/domain')
      const imported = [...loaded]
      await loadTrafficReading()
      console.log(JSON.stringify([imported, loaded]))`
    await writeFile(join(directory.path, 'loaded.mjs'), program)
    ;[imported, read] = JSON.parse(await run(process.execPath, 'loaded.mjs'))
  })

  test('brings valibot and mitt, and nothing else', () => {
    const packages = imported.map((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? url)
    expect([...new Set(packages)].toSorted()).toEqual(['@security-management/domain', 'mitt', 'valibot'])
  })

  test('leaves what reads traffic files until a file is read', () => {
    expect(files(imported)).toEqual([])
    expect(files(read)).toEqual(['create-traffic-reading'])
  })
})

test('what the packages export is documented, and is what the reports in api/ say', async () => {
  await call(process.execPath, ['scripts/api-report.mjs', '--check'], { cwd: ROOT })
})
