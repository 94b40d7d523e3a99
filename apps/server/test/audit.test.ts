import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runStatements } from '../../../packages/adapters-sql/src/testing/statements.ts'
import { runCommand } from '../src/cli/index.ts'
import { clientOf } from './support/client.ts'
import { everyDatabase } from './support/databases.ts'
import { type Ended, temporaryDirectory } from './support/program.ts'
import { firstToken, startServer } from './support/server.ts'

const { databases, stop } = everyDatabase()
afterAll(stop)

describe.each(databases)('the audit trail on $name', ({ open }) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  let url: string

  beforeAll(async () => {
    directory = await temporaryDirectory()
    url = (await open()).replace('sqlite:', `sqlite:${directory.path}/`)
    // Two processes, which write at the same time.
    const first = await startServer(directory.path, { DATABASE_URL: url })
    const second = await startServer(directory.path, { DATABASE_URL: url })
    const token = await firstToken(first)
    const clients = [first, second].map(({ address }) => clientOf(address, token))
    const [client] = clients
    const { body } = (await client?.('POST', '/organizations', { name: 'Acme' })) ?? {}
    const organization = body?.organization
    const created = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        clients[index % 2]?.('POST', '/vpn', { organization, email: `vpn${index}@example.com` }),
      ),
    )
    expect(created.map((answer) => answer?.status)).toEqual(created.map(() => 201))
    expect((await client?.('DELETE', '/vpn/1'))?.status).toBe(200)
    await Promise.all([first.stop(), second.stop()])
  })
  afterAll(() => directory.remove())

  async function cli(...args: string[]): Promise<Ended> {
    const said = { stdout: '', stderr: '' }
    const into = (stream: keyof typeof said) => ({ write: (text: string) => (said[stream] += text) })
    const environment = { DATABASE_URL: url }
    const code = await runCommand(args, { environment, stdout: into('stdout'), stderr: into('stderr') })
    return { code, ...said }
  }

  /** Changes the database behind the service's back. */
  const tamper = (...statements: string[]) => runStatements(url, ...statements)

  test('of two processes is one, and is verified in the database and as a file', async () => {
    const trail = join(directory.path, 'trail.jsonl')
    const verified = await cli('audit', 'verify')
    // The first person and their token, the organization, 40 profiles, and one removal.
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/^the audit trail is whole: 44 rows/) })
    const head = / ([0-9a-f]{64})\n$/.exec(verified.stdout)?.[1] ?? ''
    const exported = await cli('audit', 'export', '--out', trail)
    expect(exported).toMatchObject({
      code: 0,
      stdout: `exported 44 rows to ${trail}; the newest has the hash ${head}\n`,
    })
    expect((await cli('audit', 'export', '--out', trail)).stderr).toMatch(/there already; --force/)
    expect((await cli('audit', 'export', '--out', trail, '--force')).code).toBe(0)
    const file = await cli('audit', 'verify', trail, '--expect-head', head)
    expect(file).toMatchObject({ code: 0, stdout: expect.stringContaining(head) })
    const text = await readFile(trail, 'utf8')
    expect((await cli('audit', 'export', '--out', '-')).stdout).toBe(text)
    expect(text).not.toMatch(/sm[si]_/)
    const none = await cli('audit', 'export', '--since', '9999-01-01', '--out', '-')
    expect(none).toMatchObject({ code: 0, stdout: '' })
    expect((await cli('audit', 'verify', '--expect-head', 'a'.repeat(64))).code).toBe(1)

    const changed = join(directory.path, 'changed.jsonl')
    const lines = text.split('\n')
    const edited = lines.with(4, (lines[4] ?? '').replace('example.com', 'example.net'))
    for (const [text, message] of [
      [edited, 'row 5 was edited'],
      [lines.toSpliced(6, 1), 'row 7 is missing'],
      [
        lines.with(8, lines[9] ?? '').with(9, lines[8] ?? ''),
        'row 9 is missing: it was removed, or is not in its place',
      ],
    ] as const) {
      await writeFile(changed, text.join('\n'))
      const { code, stderr } = await cli('audit', 'verify', changed)
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
    }
  })

  test('names what was done to it in the database', async () => {
    await tamper('update event set details = \'{"a":1}\' where position = 5')
    expect(await cli('audit', 'verify')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'the audit trail: row 5 was edited, or another row was put in its place; 4 rows are right before it\n',
    })
    const check = await cli('check')
    expect(check).toMatchObject({ code: 1, stdout: expect.stringMatching(/^audit trail: row 5 /) })
    const said = await cli('check', '--json')
    expect([said.code, JSON.parse(said.stdout).problems]).toMatchObject([1, [{ in: 'audit trail' }]])
    await tamper('update event set details = (select details from event where position = 4) where position = 5')
  })

  test('goes on with what the operator restores and purges', async () => {
    await tamper(
      `update event set details = '{"email":"' || (select email from vpn_profile where id = cast(record as bigint)) || '"}' where position = 5`,
    )
    expect(await cli('check')).toMatchObject({ code: 0, stdout: 'all is well\n' })
    const listed = await cli('removed', 'list', 'vpn_profile', '--json')
    expect(JSON.parse(listed.stdout)).toMatchObject([{ kind: 'vpn_profile', id: 1, organization: 1 }])
    expect((await cli('removed', 'list', 'member')).stdout).toBe('KIND  ID  ORGANIZATION  NAME  REMOVED\n')
    expect(await cli('restore-record', 'vpn_profile', '1')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^restored vpn_profile 1 \(vpn\d+@example.com\)\n$/),
    })
    expect(await cli('restore-record', 'vpn_profile', '1')).toMatchObject({
      code: 1,
      stderr: 'There is no vpn_profile 1 that was removed\n',
    })
    await tamper("update vpn_profile set removed_at = '2020-01-01T00:00:00.000Z' where id in (2, 3)")
    const dry = await cli('purge', '--older-than', '90d', '--dry-run')
    expect(dry.stdout).toMatch(/^would purge what was removed before \S+: vpn_profile 2\n$/)
    expect(JSON.parse((await cli('purge', '--older-than', '90d', '--json')).stdout)).toMatchObject({
      dry_run: false,
      purged: { vpn_profile: 2 },
    })
    expect((await cli('purge', '--older-than', '90d')).stdout).toMatch(/: nothing\n$/)
    const { stdout } = await cli('audit', 'export', '--out', '-')
    const actions = stdout
      .split('\n')
      .slice(44, -1)
      .map((line) => JSON.parse(line).action)
    expect(actions).toEqual([
      'vpn_profile.restored',
      'vpn_profile.purged',
      'vpn_profile.purged',
      'installation.purged',
      'installation.purged',
    ])
    expect((await cli('check')).code).toBe(0)
  })
})
