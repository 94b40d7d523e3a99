import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../src/cli/index.ts'
import { showProgress } from '../src/cli/progress.ts'
import { expiry } from '../src/cli/token-issue.ts'
import { type Ended, run, temporaryDirectory } from './support/program.ts'

const COMMANDS = [
  'serve',
  'migrate',
  'backup',
  'restore',
  'user add',
  'user list',
  'token issue',
  'token list',
  'token revoke',
  'import cloud-defense',
  'import assessments',
  'feed add',
  'feed refresh',
  'feed list',
  'feed remove',
  'audit export',
  'audit verify',
  'check',
  'removed list',
  'restore-record',
  'purge',
  'demo',
]

let directory: Awaited<ReturnType<typeof temporaryDirectory>>

beforeAll(async () => {
  directory = await temporaryDirectory()
})

afterAll(() => directory.remove())

/** Calls a command on the database of this name, which is empty at first. */
async function cli(database: string, ...args: string[]): Promise<Ended> {
  return call({ DATABASE_URL: urlOf(database) }, ...args)
}

function urlOf(database: string): string {
  return `sqlite:${join(directory.path, database)}.sqlite`
}

async function call(environment: Record<string, string>, ...args: string[]): Promise<Ended> {
  const said = { stdout: '', stderr: '' }
  const into = (stream: keyof typeof said) => ({ write: (text: string) => (said[stream] += text) })
  const code = await runCommand(args, { environment, stdout: into('stdout'), stderr: into('stderr') })
  return { code, ...said }
}

/** Calls it with --json, and reads the one document that it prints. */
async function json<Document>(database: string, ...args: string[]): Promise<Document> {
  return documentOf(await cli(database, ...args, '--json'))
}

function documentOf<Document>({ code, stdout, stderr }: Ended): Document {
  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^[^\n]+\n$/)
  return JSON.parse(stdout)
}

async function fileOf(name: string, content: unknown): Promise<string> {
  const path = join(directory.path, name)
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

function oneLine(text: string): string {
  expect(text).toMatch(/^[^\n]+\n$/)
  return text.trimEnd()
}

describe('a wrong call', () => {
  test.each([
    ['without a command', []],
    ['of an unknown command', ['frobnicate']],
    ['of half a command', ['user']],
    ['with an unknown option', ['user', 'list', '--colour', 'red']],
    ['without a required option', ['user', 'add', '--username', 'anna']],
    ['without the value of an option', ['user', 'add', '--email']],
    ['without an argument', ['token', 'revoke']],
    ['without the second argument', ['feed', 'add', 'mine', '--kind', 'ip']],
    ['with more than the argument that may be left out', ['feed', 'refresh', 'one', 'two']],
    ['with an argument too many', ['user', 'list', 'all']],
    ['with a token id that is no number', ['token', 'revoke', 'abc']],
    ['with an organization that is no number', ['token', 'issue', '--user', 'a@b.c', '--organization', 'Acme']],
    ['with a value for an option that takes none', ['token', 'issue', '--user', 'a@b.c', '--read-only=yes']],
    ['with a kind of record that there is not', ['restore-record', 'user', '1']],
    ['with a record that is no number', ['restore-record', 'member', 'x']],
    ['with an age that is none', ['purge', '--older-than', 'long']],
    ['with a value for an option that takes none', ['purge', '--older-than', '1d', '--dry-run=yes']],
    ['with a hash that is none', ['audit', 'verify', '--expect-head', 'abc']],
    ['with a time of expiry that is none', ['token', 'issue', '--user', 'anna@example.com', '--expires', 'soon']],
  ])('%s prints the usage to stderr and exits with 2', async (_case, args) => {
    const { code, stdout, stderr } = await cli('wrong', ...args)
    expect(stderr).toMatch(/\nUsage: security-management /)
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })
})

describe('help', () => {
  test('lists every command', async () => {
    const { code, stdout, stderr } = await cli('help', '--help')
    for (const command of COMMANDS) expect(stdout).toContain(`\n  ${command}`)
    expect(stderr).toBe('')
    expect(code).toBe(0)
  })

  test.each(COMMANDS)('is there for "%s", and touches nothing', async (command) => {
    const { code, stdout } = await cli('help', ...command.split(' '), '--help')
    expect(stdout).toMatch(new RegExp(`^Usage: security-management ${command}`))
    expect(code).toBe(0)
    expect(await readdir(directory.path)).not.toContain('help.sqlite')
  })
})

describe('a failure', () => {
  test('of the configuration is one line, with the variable', async () => {
    const { code, stderr } = await call({ PORT: 'http' }, 'user', 'list')
    expect(oneLine(stderr)).toMatch(/^PORT takes /)
    expect(code).toBe(1)
  })

  test('to reach the database is one line, without its password', async () => {
    const { code, stderr } = await call({ DATABASE_URL: 'postgres://me:geheim@127.0.0.1:1/service' }, 'user', 'list')
    expect(oneLine(stderr)).toMatch(/database.*ECONNREFUSED/i)
    expect(stderr).not.toContain('geheim')
    expect(code).toBe(1)
  })

  test('to open the database is one line', async () => {
    const file = await fileOf('no-database.txt', 'This is a text. '.repeat(100))
    const { code, stderr } = await call({ DATABASE_URL: `sqlite:${file}` }, 'user', 'list')
    expect(oneLine(stderr)).toMatch(/database/)
    expect(code).toBe(1)
  })
})

test('"migrate" says what it did, and the second time that there was nothing to do', async () => {
  const first = await json<{ applied: string[]; backup: null }>('migrate', 'migrate')
  expect(first.applied.length).toBeGreaterThan(0)
  expect(await json('migrate', 'migrate')).toEqual({ applied: [], backup: null })
  expect((await cli('migrate', 'migrate')).stdout).toBe('nothing to do\n')
})

describe('people', () => {
  test('are added to an empty database, and listed', async () => {
    const options = ['--username', 'anna', '--first-name', 'Anna', '--last-name', 'Rossi', '--locale', 'it']
    const added = await json<{ id: string; email: string }>(
      'users',
      'user',
      'add',
      '--email',
      'anna@example.com',
      ...options,
    )
    expect(added).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), email: 'anna@example.com' })
    await json('users', 'user', 'add', '--email', 'bob@example.com')
    expect(await json('users', 'user', 'list')).toEqual([
      {
        id: added.id,
        email: 'anna@example.com',
        username: 'anna',
        first_name: 'Anna',
        last_name: 'Rossi',
        locale: 'it',
      },
      {
        id: expect.any(String),
        email: 'bob@example.com',
        username: 'bob@example.com',
        first_name: '',
        last_name: '',
        locale: 'en',
      },
    ])
    const { stdout } = await cli('users', 'user', 'list')
    const [headings = '', row = ''] = stdout.split('\n')
    expect(row.indexOf('anna@example.com')).toBe(headings.indexOf('EMAIL'))
    expect(row.indexOf('Rossi')).toBe(headings.indexOf('LAST NAME'))
  })

  test('are refused twice, without an address, and in an unknown language, each with one line', async () => {
    await json('refused', 'user', 'add', '--email', 'anna@example.com')
    const twice = await cli('refused', 'user', 'add', '--email', 'ANNA@example.com')
    expect(oneLine(twice.stderr)).toContain('already registered')
    const wrong = await cli('refused', 'user', 'add', '--email', 'anna', '--locale', 'fr')
    expect(oneLine(wrong.stderr)).toMatch(/^email: .*; locale: /)
    expect([twice.code, wrong.code]).toEqual([1, 1])
  })
})

describe('tokens', () => {
  beforeAll(async () => {
    await json('tokens', 'user', 'add', '--email', 'anna@example.com')
  })

  test('are issued by address or id, shown once, listed without themselves, and revoked', async () => {
    const [anna] = await json<{ id: string }[]>('tokens', 'user', 'list')
    const shown = await cli('tokens', 'token', 'issue', '--user', 'anna@example.com', '--name', 'laptop')
    expect(shown.stdout).toMatch(/shown this once:\n\n {2}sms_[0-9A-Za-z]{49}\n/)
    const second = await json<{ id: number; token: string }>(
      'tokens',
      'token',
      'issue',
      '--user',
      anna?.id ?? '',
      '--expires',
      '2100-01-01',
    )
    expect(second).toEqual({ id: expect.any(Number), token: expect.stringMatching(/^sms_[0-9A-Za-z]{49}$/) })

    expect(await json('tokens', 'token', 'revoke', String(second.id))).toEqual({ id: second.id, revoked: true })
    const again = await cli('tokens', 'token', 'revoke', String(second.id))
    expect(oneLine(again.stderr)).toContain(`no token ${second.id}`)
    expect(again.code).toBe(1)

    const listed = await json<object[]>('tokens', 'token', 'list')
    expect(listed).toMatchObject([
      { name: 'laptop', user_id: anna?.id, expires_at: null, revoked_at: null },
      { name: 'token', user_id: anna?.id, expires_at: '2100-01-01T00:00:00.000Z', revoked_at: expect.any(String) },
    ])
    expect(JSON.stringify(listed)).not.toContain(second.token)
    const table = await cli('tokens', 'token', 'list')
    expect(table.stdout).toContain('laptop')
    expect(table.stdout).not.toMatch(/sms_[0-9A-Za-z]{20}/)
  })

  test('are narrowed to reading and to organizations, which the list shows', async () => {
    await json('narrow', 'demo')
    const issue = ['token', 'issue', '--user', 'giulia.ferri@northgate.example', '--name']
    await json('narrow', ...issue, 'narrow', '--read-only', '--organization', '1', '--organization', '2')
    await json('narrow', ...issue, 'wide')
    const listed = await json<{ name: string }[]>('narrow', 'token', 'list')
    const named = (name: string) => listed.find((token) => token.name === name)
    expect(named('narrow')).toMatchObject({ access: 'read', organizations: [1, 2] })
    expect(named('wide')).toMatchObject({ access: 'full', organizations: null })
    const { stdout } = await cli('narrow', 'token', 'list')
    expect(stdout).toMatch(/ narrow +read +1, 2 /)
    expect(stdout).toMatch(/ wide +full +all /)
    const { stderr, code } = await cli('narrow', ...issue, 'far', '--organization', '1', '--organization', '99')
    expect([oneLine(stderr), code]).toEqual(['organizations.1: The person is no member of this organization', 1])
    const help = await cli('narrow', 'token', 'issue', '--help')
    expect(help.stdout).toContain('[--read-only] [--organization ID]...')
  })

  test('are not issued to nobody, nor for a time that has passed', async () => {
    const nobody = await cli('tokens', 'token', 'issue', '--user', 'nobody@example.com')
    expect(oneLine(nobody.stderr)).toBe('Nobody is registered as nobody@example.com')
    const past = await cli('tokens', 'token', 'issue', '--user', 'anna@example.com', '--expires', '2001-01-01')
    expect(oneLine(past.stderr)).toContain('expires_at')
    expect([nobody.code, past.code]).toEqual([1, 1])
  })

  test.each([
    ['90d', '2025-07-30T10:00:00.000Z'],
    ['12h', '2025-05-01T22:00:00.000Z'],
    ['30m', '2025-05-01T10:30:00.000Z'],
    ['2025-12-31', '2025-12-31T00:00:00.000Z'],
    ['2025-12-31T12:00:00+02:00', '2025-12-31T10:00:00.000Z'],
  ])('that expire %s do so at %s', (text, at) => {
    expect(expiry(text, new Date('2025-05-01T10:00:00.000Z'))).toBe(at)
  })
})

describe('an import', () => {
  const defense = { email: 'ops@example.com', fqdn: 'www.example.com' }
  let organization: number

  beforeAll(async () => {
    const { people } = await json<{ people: { roles: { organization: string }[] }[] }>('imports', 'demo')
    expect(people.length).toBeGreaterThan(0)
    organization = 1
  })

  test('takes in cloud defenses and assessments', async () => {
    const defenses = await fileOf('defenses.json', [{ ...defense, organization }])
    expect(await json('imports', 'import', 'cloud-defense', defenses)).toEqual({ imported: 1 })
    const records = [
      { organization, score: 80, name: { en: 'Review', it: 'Verifica' }, interviewed_user: 'Anna Rossi' },
    ]
    const assessments = await fileOf('assessments.json', `\ufeff${JSON.stringify(records)}`)
    expect((await cli('imports', 'import', 'assessments', assessments)).stdout).toBe('imported 1 assessments\n')
  })

  test('names the wrong record by its index and path, and imports none', async () => {
    const records = [
      { ...defense, organization },
      { ...defense, organization, fqdn: 'not a name' },
    ]
    const { code, stdout, stderr } = await cli(
      'imports',
      'import',
      'cloud-defense',
      await fileOf('wrong.json', records),
    )
    expect(oneLine(stderr)).toMatch(/^Nothing was imported from \S+wrong\.json: 1\.fqdn: /)
    expect(stdout).toBe('')
    expect(code).toBe(1)
  })

  test('names an organization that does not exist', async () => {
    const records = [{ organization: 999, score: 1, name: { en: 'a', it: 'b' } }]
    const { code, stderr } = await cli('imports', 'import', 'assessments', await fileOf('lost.json', records))
    expect(oneLine(stderr)).toContain('0.organization: There is no organization 999')
    expect(code).toBe(1)
  })

  test('tells of many wrong records on one line of bounded length', async () => {
    const records = Array.from({ length: 300 }, () => ({ fqdn: 'x'.repeat(5000) }))
    const { stderr } = await cli('imports', 'import', 'cloud-defense', await fileOf('many.json', records))
    expect(oneLine(stderr)).toMatch(/and \d+ more$/)
    expect(stderr.length).toBeLessThan(2500)
  })

  test.each([
    ['a file that is not there', 'missing.json', undefined, /missing\.json cannot be read: ENOENT/],
    ['a file that is no JSON', 'text.json', '[{"a":', /text\.json is not JSON/],
    ['a file that is no array', 'object.json', '{}', /array of records/],
  ])('refuses %s with one line', async (_case, name, content, message) => {
    const path = content === undefined ? name : await fileOf(name, content)
    const { code, stderr } = await cli('imports', 'import', 'assessments', path)
    expect(oneLine(stderr)).toMatch(message)
    expect(code).toBe(1)
  })
})

describe('the demo', () => {
  test('is there once: the second time it is refused with one line', async () => {
    const { people } = await json<{ people: { email: string; token: string; roles: { role: string }[] }[] }>(
      'demo',
      'demo',
    )
    const roles = new Set(people.flatMap((person) => person.roles.map(({ role }) => role)))
    expect(roles).toEqual(new Set(['owner', 'security_officer', 'viewer']))
    expect(new Set(people.map(({ token }) => token)).size).toBe(people.length)
    const again = await cli('demo', 'demo')
    expect(oneLine(again.stderr)).toContain('The demo is here already')
    expect(again.code).toBe(1)
  })

  test('tells a person who is who', async () => {
    const { stdout } = await cli('demo-table', 'demo')
    expect(stdout).toMatch(/^NAME +EMAIL +ROLE +ORGANIZATION +TOKEN/)
    expect(stdout).toMatch(
      /Giulia Ferri +giulia\.ferri@northgate\.example +owner +Northgate Security +sms_[0-9A-Za-z]{49}\n/,
    )
  })
})

test('as a program, every command prints one JSON document and nothing else', { timeout: 60_000 }, async () => {
  const env = { DATABASE_URL: urlOf('program') }
  const program = async (...args: string[]) => documentOf(await run([...args, '--json'], { cwd: directory.path, env }))
  const none = await fileOf('none.json', [])
  expect(await program('migrate')).toMatchObject({ backup: null })
  expect(await program('user', 'add', '--email', 'anna@example.com')).toMatchObject({ email: 'anna@example.com' })
  expect(await program('user', 'list')).toHaveLength(1)
  expect(await program('token', 'issue', '--user', 'anna@example.com')).toMatchObject({ id: 1 })
  expect(await program('token', 'list')).toHaveLength(1)
  expect(await program('token', 'revoke', '1')).toEqual({ id: 1, revoked: true })
  expect(await program('import', 'cloud-defense', none)).toEqual({ imported: 0 })
  expect(await program('import', 'assessments', none)).toEqual({ imported: 0 })
  expect(await program('feed', 'list')).toEqual([])
  expect(await program('feed', 'refresh')).toEqual([])
  expect(await program('demo')).toMatchObject({ people: expect.any(Array) })
})

test('as a program, a wrong call exits with 2 and a failure with 1', async () => {
  const wrong = await run(['user', 'lost'], { cwd: directory.path })
  expect(wrong).toMatchObject({ code: 2, stdout: '' })
  const failed = await run(['user', 'list'], { cwd: directory.path, env: { PORT: 'http' } })
  expect(failed).toMatchObject({ code: 1, stdout: '' })
  expect(oneLine(failed.stderr)).toMatch(/^PORT takes/)
})

describe('progress', () => {
  function terminal(isTTY: boolean) {
    const written: string[] = []
    return { written, isTTY, write: (text: string) => written.push(text) }
  }

  test('shows on a terminal, once work takes more than a second, and is erased at the end', () => {
    const stream = terminal(true)
    let time = 0
    const progress = showProgress(stream, 'importing', () => time)
    progress(1, 100)
    time = 999
    progress(2, 100)
    expect(stream.written).toEqual([])
    time = 1000
    progress(3, 100)
    progress(4, 100)
    expect(stream.written).toEqual(['\rimporting: 3 of 100\u001b[K'])
    progress(100, 100)
    expect(stream.written.at(-1)).toBe('\r\u001b[K')
  })

  test('shows nothing where there is no terminal', () => {
    const stream = terminal(false)
    let time = 0
    const progress = showProgress(stream, 'importing', () => time)
    time = 5000
    progress(3, 100)
    expect(stream.written).toEqual([])
  })
})
