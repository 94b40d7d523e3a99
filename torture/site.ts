import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../apps/server/src/cli/index.ts'
import { clientOf } from '../apps/server/test/support/client.ts'
import { CONTROL, KINDS, listAll, officerOf, ownerOf, type Site, TRAFFIC_DAY } from './kinds.ts'
import { checkRecords, type Ended, type State } from './ledger.ts'
import type { Check } from './scenario.ts'

/** Longest time until a mail that is owed is written, in milliseconds: the lease of a killed process has to end. */
const MAIL_PATIENCE = 5.5 * 60 * 1000

/** Somebody who is registered, with a token. */
export type Person = { id: string; email: string; token: string }

/** Those that every scenario with writers has. The stranger belongs to nothing. */
export type People = { owner: Person; officer: Person; stranger: Person }

/** Registers people at the command line. @param generation tells them from those that were registered before. */
export async function registerPeople(DATABASE_URL: string, generation = 0): Promise<People> {
  async function register(name: string): Promise<Person> {
    const email = `${name}${generation}@example.com`
    const { id } = (await command(DATABASE_URL, ['user', 'add', '--email', email])) as { id: string }
    const { token } = (await command(DATABASE_URL, ['token', 'issue', '--user', email])) as { token: string }
    return { id, email, token }
  }
  return { owner: await register('owner'), officer: await register('officer'), stranger: await register('stranger') }
}

/** The audit trail is one whole chain, and all else that is stored is sound, as the operator's own commands say. */
export async function checkStored(DATABASE_URL: string, check: Check): Promise<void> {
  const commands = [
    { argv: ['audit', 'verify'], says: /^the audit trail is whole: [1-9]\d* rows/ },
    { argv: ['check'], says: /^all is well$/m },
  ]
  for (const { argv, says } of commands) {
    const { code, stdout, stderr } = await call(DATABASE_URL, argv)
    check(code === 0 && says.test(stdout), `${argv.join(' ')} ends with ${code}: ${stdout}${stderr}`)
  }
}

async function command(DATABASE_URL: string, argv: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await call(DATABASE_URL, [...argv, '--json'])
  if (code !== 0) throw new Error(`${argv.join(' ')} ends with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

async function call(DATABASE_URL: string, argv: string[]) {
  const said = { stdout: '', stderr: '' }
  const into = (name: keyof typeof said) => ({
    write(text: string) {
      said[name] += text
    },
  })
  const runtime = { environment: { DATABASE_URL }, stdout: into('stdout'), stderr: into('stderr') }
  const code = await runCommand(argv, runtime)
  return { code, ...said }
}

/** Makes the organization in which the writers of a round work. */
export async function makeSite(address: string, name: string, { owner, officer }: People): Promise<Site> {
  const client = clientOf(address, owner.token)
  async function make(method: string, path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await client(method, path, body)
    if (answer.status >= 300)
      throw new Error(`${method} ${path} answers ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const { organization } = (await make('POST', '/organizations', { name: `site of ${name}` })) as {
    organization: number
  }
  await make('POST', `/organizations/${organization}/users/${officer.id}`, { role: 'security_officer' })
  const device = {
    organization,
    device_id: 'takes the traffic',
    email: 'soc@example.com',
    type: 'series',
    services: [],
  }
  const { ticket } = (await make('POST', '/atb', device)) as { ticket: number }
  const { security_framework } = (await make('POST', `/organizations/${organization}/security-frameworks`, {
    title: 'takes the documents',
    security_frameworks: [{ id: CONTROL, title: 'Documents' }],
  })) as { security_framework: { id: number } }
  return {
    name,
    address,
    ownerToken: owner.token,
    officerToken: officer.token,
    organization,
    blocker: ticket,
    framework: security_framework.id,
  }
}

/** Checks all records of a site against what its writers were told, and whatever must hold among them. */
export async function checkSite(site: Site, writes: readonly Ended[], { owner, stranger }: People, check: Check) {
  const checkHere: Check = (holds, what) => check(holds, `${site.name}: ${what}`)
  for (const kind of KINDS) {
    try {
      const found = await kind.find(site)
      checkRecords(
        writes.filter((write) => write.kind === kind.name),
        found,
        (holds, what) => checkHere(holds, `${kind.name} ${what}`),
      )
      if (kind.name === 'upload') await checkCounts(site, found, checkHere)
    } catch (error) {
      checkHere(false, `${kind.name}: ${error instanceof Error ? error.message : error}`)
    }
  }
  await checkNotifications(site, writes, checkHere)
  const members = await listAll<{ id: string; role: string }>(
    ownerOf(site),
    `/organizations/${site.organization}/users`,
  )
  checkHere(
    members.some(({ id, role }) => id === owner.id && role === 'owner'),
    'the organization has no owner',
  )
  await checkStranger(site, stranger, checkHere)
}

/** Sums of everything that counts the lines of the uploads must be those of the uploads. */
async function checkCounts(site: Site, found: ReadonlyMap<string, State>, check: Check): Promise<void> {
  const client = ownerOf(site)
  const sum = (field: string) => [...found.values()].reduce((total, state) => total + Number(state?.[field]), 0)
  const [accepted, malicious] = [sum('accepted'), sum('malicious')]
  const day = `from=${TRAFFIC_DAY}&to=${TRAFFIC_DAY}&bucket=86400`
  const { body } = await client('GET', `/atb/${site.blocker}/statistics?${day}`)
  const { total_requests, malicious_requests } = body.data as { [name: string]: number }
  check(total_requests === accepted, `statistics count ${total_requests} requests, the uploads ${accepted}`)
  check(malicious_requests === malicious, `statistics count ${malicious_requests} malicious, the uploads ${malicious}`)
  const blocker = (await client('GET', `/atb/${site.blocker}`)).body.data as {
    check: { web_stat: { total_managed_requests: number }[] }
  }
  const checked = blocker.check.web_stat.reduce(
    (total, { total_managed_requests }) => total + total_managed_requests,
    0,
  )
  check(checked === accepted, `the blocker counts ${checked} requests, the uploads ${accepted}`)
  const threats = await listAll<{ requests: number }>(client, `/atb/${site.blocker}/threats`)
  const blamed = threats.reduce((total, { requests }) => total + requests, 0)
  check(blamed === malicious, `threats explain ${blamed} malicious requests, the uploads count ${malicious}`)
}

/** Everybody who was added, and is still a member, was written to. Waits for the mails that are on their way. */
export async function checkMails(directory: string, writes: readonly Ended[], check: Check): Promise<void> {
  const members = new Set<string>()
  for (const { kind, key, verb, end } of writes) {
    if (kind !== 'member') continue
    if (verb === 'create' && end === 'acknowledged') members.add(key)
    if (verb === 'remove') members.delete(key)
  }
  const missing = async () => {
    const mails = await Promise.all((await filesIn(directory)).map((path) => readFile(path, 'utf8')))
    const to = new Set(mails.map((mail) => /^To: (\S+)@example\.com\r$/m.exec(mail)?.[1]))
    return [...members].filter((member) => !to.has(member))
  }
  const deadline = Date.now() + MAIL_PATIENCE
  while ((await missing()).length > 0 && Date.now() < deadline) await sleep(500)
  const left = new Set(await missing())
  for (const member of members) check(!left.has(member), `${member} was added, and is not written to`)
}

async function filesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => [])
  return names.filter((name) => name.endsWith('.eml')).map((name) => join(directory, name))
}

type Notification = { id: number; message: string; read: boolean }

/** What was marked is marked, and the officer was told once of each change that is there, and of no other. */
async function checkNotifications(site: Site, writes: readonly Ended[], check: Check): Promise<void> {
  const notifications = await listAll<Notification>(officerOf(site), `/notifications?organization=${site.organization}`)
  const marked = notifications.filter(({ read }) => read)
  checkRecords(
    writes.filter(({ kind }) => kind === 'notification'),
    new Map(marked.map(({ id }) => [String(id), { read: true }])),
    (holds, what) => check(holds, `notification ${what}`),
  )
  const told = new Map<string, number>()
  for (const { message } of notifications) told.set(message, (told.get(message) ?? 0) + 1)
  for (const { kind, key, verb, end } of writes) {
    const message = verb === 'edit' ? undefined : KINDS.find(({ name }) => name === kind)?.notices?.[verb]?.(key)
    if (message === undefined) continue
    const times = told.get(message) ?? 0
    check(times === 1 || (times === 0 && end !== 'acknowledged'), `the officer was told ${times} times: ${message}`)
  }
}

/** Somebody who belongs to nothing sees nothing. */
async function checkStranger(site: Site, stranger: Person, check: Check): Promise<void> {
  const client = clientOf(site.address, stranger.token)
  for (const path of ['/organizations', '/atb', '/vpn', '/notifications', `/atb?organization=${site.organization}`]) {
    const { status, body } = await client('GET', path)
    check(status === 200 && body.total === 0, `a stranger gets ${status} with ${body.total} records of ${path}`)
  }
  const { organization, blocker, framework } = site
  const records = [
    `/organizations/${organization}`,
    `/organizations/${organization}/users`,
    `/organizations/${organization}/security-frameworks/${framework}`,
    `/atb/${blocker}`,
    `/atb/${blocker}/traffic`,
    `/atb/${blocker}/statistics`,
  ]
  for (const path of records) {
    const { status } = await client('GET', path)
    check(status === 401, `a stranger gets ${status} of ${path}`)
  }
}
