import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Client, clientOf } from './support/client.ts'
import { everyDatabase } from './support/databases.ts'
import { run, temporaryDirectory } from './support/program.ts'
import { firstToken, startServer, type TestServer } from './support/server.ts'

const HOUR = 3600
const OK = { error: 0, messages: [] }

const { databases, stop } = everyDatabase()

afterAll(stop)

describe.each(databases)('the service on $name', ({ open }) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  let env: Record<string, string>
  let server: TestServer

  beforeEach(async () => {
    directory = await temporaryDirectory()
    env = { DATABASE_URL: await open(), LOG_LEVEL: 'trace' }
    server = await startServer(directory.path, env)
  })

  afterEach(async () => {
    await server.stop('SIGKILL')
    await directory.remove()
  })

  /** The code in the one invitation that was written as a file. */
  async function invitationCode(): Promise<string> {
    const mails = join(directory.path, 'data', 'mail')
    const name = await vi.waitFor(
      async () => {
        const [mail = ''] = (await readdir(mails)).filter((file) => file.endsWith('.eml'))
        expect(mail).not.toBe('')
        return mail
      },
      { timeout: 10_000 },
    )
    return /smi_[0-9A-Za-z]{49}/.exec(await readFile(join(mails, name), 'utf8'))?.[0] ?? ''
  }

  async function importFile(command: string, records: unknown): Promise<string> {
    await writeFile(join(directory.path, 'records.json'), JSON.stringify(records))
    const { stdout } = await run(['import', command, 'records.json', '--json'], { cwd: directory.path, env })
    return stdout
  }

  test('carries a first session from the first start to the next', async () => {
    const adminToken = await firstToken(server)
    const admin = clientOf(server.address, adminToken)
    expect((await admin('GET', '/me')).body).toMatchObject({ ...OK, data: { email: 'admin@localhost' } })

    const created = await admin('POST', '/organizations', { name: 'Acme', sectors: ['Energy'] })
    expect(created).toMatchObject({ status: 201, body: { ...OK, organization: expect.any(Number) } })
    const organization = created.body.organization as number

    const colleague = await invite(admin, organization)
    const blocker = await createBlocker(colleague.client, organization)
    await uploadTraffic(colleague.client, blocker)
    await workOnFramework(colleague.client, organization, colleague.token)
    await createAndRemoveVpn(colleague.client, organization)
    await readImports(colleague.client, organization)
    await readNotifications(colleague.client)
    await revoke(colleague)

    const logged = (await server.stop()).stderr
    for (const secret of [adminToken, colleague.token, colleague.code]) expect(logged).not.toContain(secret.slice(4))

    server = await startServer(directory.path, env)
    expect(server.said.stdout).toBe('')
    const again = await clientOf(server.address, adminToken)('GET', `/organizations/${organization}`)
    expect(again.body).toMatchObject({ ...OK, data: { id: organization, name: 'Acme', sectors: ['Energy'] } })
    expect((await server.stop()).code).toBe(0)
  })

  async function invite(admin: Client, organization: number) {
    const input = { email: 'anna@example.com', role: 'security_officer' }
    const added = await admin('POST', `/organizations/${organization}/users/0`, input)
    expect(added).toMatchObject({ status: 200, body: { ...OK, data: { organization, user: expect.any(String) } } })

    const code = await invitationCode()
    const accepted = await clientOf(server.address, code)('POST', '/invitations/accept', { first_name: 'Anna' })
    expect(accepted).toMatchObject({ status: 201, body: OK })
    const { user, token } = accepted.body.data as { user: string; token: string }
    expect(added.body.data).toEqual({ organization, user })
    expect((await clientOf(server.address, code)('POST', '/invitations/accept')).body.messages).toEqual([9153])

    const members = await admin('GET', `/organizations/${organization}/users`)
    expect(members.body).toMatchObject({
      total: 2,
      data: expect.arrayContaining([
        expect.objectContaining({ id: user, first_name: 'Anna', role: 'security_officer' }),
      ]),
    })
    return { client: clientOf(server.address, token), token, code }
  }

  async function createBlocker(client: Client, organization: number): Promise<number> {
    const services = ['Service IPv4 Protection']
    const input = { organization, device_id: 'gateway-1', email: 'soc@example.com', type: 'series', services }
    const created = await client('POST', '/atb', input)
    expect(created).toMatchObject({ status: 201, body: { ...OK, ticket: expect.any(Number) } })
    return created.body.ticket as number
  }

  async function uploadTraffic(client: Client, blocker: number): Promise<void> {
    const lastHour = Date.UTC(2025, 4, 1, 10) / 1000
    const line = (hoursAgo: number, verdict: string) => ({
      timestamp: new Date((lastHour - hoursAgo * HOUR + 60) * 1000).toISOString(),
      status: 200,
      verdict,
    })
    const lines = [line(0, 'allowed'), line(0, 'blocked'), line(2, 'allowed'), { status: 200 }]
    const headers = { 'Content-Disposition': 'attachment; filename="access.json"' }
    const uploaded = await client('POST', `/atb/${blocker}/traffic`, lines, headers)
    expect(uploaded).toMatchObject({ status: 200, body: OK })

    const location = uploaded.headers.get('Location')?.replace('/api/v1', '') ?? ''
    const upload = await client('GET', location)
    expect(upload.body.data).toMatchObject({
      file_name: 'access.json',
      lines: 4,
      accepted: 3,
      rejected: 1,
      malicious: 1,
    })

    const { body } = await client('GET', '/atb')
    const [listed] = body.data as { id: number; check: { status: number; chart_stat: object[] } }[]
    expect(listed).toMatchObject({ id: blocker, check: { status: 1 } })
    expect(listed?.check.chart_stat).toHaveLength(24)
    expect(listed?.check.chart_stat.slice(-3)).toEqual(
      [
        { start: lastHour - 2 * HOUR, total_requests: 1, malicious_requests: 0 },
        { start: lastHour - HOUR, total_requests: 0, malicious_requests: 0 },
        { start: lastHour, total_requests: 2, malicious_requests: 1 },
      ].map(({ start, ...counts }) => ({ bucket_start: start, bucket_end: start + HOUR, ...counts })),
    )
  }

  async function workOnFramework(client: Client, organization: number, token: string): Promise<void> {
    const path = `/organizations/${organization}/security-frameworks`
    const created = await client('POST', path, {
      title: 'ISO 27001',
      security_frameworks: [{ id: 'A.5/1', title: 'Policies' }],
    })
    expect(created).toMatchObject({ status: 201, body: OK })
    const { id } = created.body.security_framework as { id: number }
    const edited = await client('PUT', `${path}/${id}`, { title: 'ISO/IEC 27001' })
    expect(edited.body.security_framework).toMatchObject({
      id,
      title: 'ISO/IEC 27001',
      security_frameworks: [{ id: 'A.5/1' }],
    })

    const document = randomBytes(3_000_000)
    const headers = { 'Content-Type': 'application/pdf', 'Content-Disposition': 'attachment; filename="policy.pdf"' }
    const attached = await client('POST', `${path}/${id}/documents/${encodeURIComponent('A.5/1')}`, document, headers)
    expect(attached).toMatchObject({ status: 201, body: { ...OK, data: { file_name: 'policy.pdf' } } })
    const { file_path } = attached.body.data as { file_path: string }
    const download = await fetch(server.address + file_path, { headers: { 'X-Service-Token': token } })
    expect(download.headers.get('Content-Type')).toBe('application/pdf')
    expect(Buffer.from(await download.arrayBuffer()).equals(document)).toBe(true)

    const read = await client('GET', `${path}/${id}`)
    expect(read.body.data).toMatchObject({
      security_frameworks: [{ evidences: [{ files: [file_path], submitted_by: { user_email: 'anna@example.com' } }] }],
    })
  }

  async function createAndRemoveVpn(client: Client, organization: number): Promise<void> {
    const created = await client('POST', '/vpn', { organization, email: 'anna@example.com' })
    expect(created).toMatchObject({ status: 201, body: { ...OK, vpn: expect.any(Number) } })
    const removed = await client('DELETE', `/vpn/${created.body.vpn}`)
    expect(removed).toMatchObject({
      status: 200,
      body: { ...OK, data: { id: created.body.vpn, email: 'anna@example.com' } },
    })
    expect((await client('GET', `/vpn/${created.body.vpn}`)).status).toBe(404)
  }

  async function readImports(client: Client, organization: number): Promise<void> {
    const defense = { organization, email: 'soc@example.com', fqdn: 'www.acme.example', services: ['WAF Protection'] }
    expect(await importFile('cloud-defense', [defense])).toBe('{"imported":1}\n')
    const defenses = await client('GET', '/cloud-defender')
    expect(defenses.body).toMatchObject({
      ...OK,
      total: 1,
      data: [{ fqdn: 'www.acme.example', organization: { id: organization } }],
    })

    const assessment = {
      organization,
      score: 77,
      name: { en: 'Review', it: 'Verifica' },
      interviewed_user: 'Anna Rossi',
    }
    expect(await importFile('assessments', [assessment])).toBe('{"imported":1}\n')
    const assessments = await client('GET', '/assessments?search=anna')
    expect(assessments.body).toMatchObject({ ...OK, total: 1, data: [{ score: 77, name: assessment.name }] })
  }

  async function readNotifications(client: Client): Promise<void> {
    const { body } = await client('GET', '/notifications?read=false&order=id')
    const [first] = body.data as { id: number }[]
    expect(body).toMatchObject(OK)
    expect(first).toMatchObject({ read: false, title: 'Added to an organization', action: 'link' })
    const marked = await client('PUT', `/notifications/${first?.id}`)
    expect(marked.body).toMatchObject({ ...OK, data: { id: first?.id, read: true } })
    expect((await client('GET', '/notifications?read=false')).body.total).toBe((body.total as number) - 1)
  }

  /** Another process revokes the token; the one that serves knows at once. Nor does its log, however it is sent. */
  async function revoke({ client, token }: { client: Client; token: string }): Promise<void> {
    const inQuery = await fetch(`${server.address}/api/v1/me?X-Service-Token=${token}`, {
      headers: { Referer: `${server.address}/?X-Service-Token=${token}` },
    })
    expect(inQuery.status).toBe(200)
    const inPath = await fetch(`${server.address}/api/v1/${token}`)
    expect(inPath.status).toBe(404)
    const { stdout } = await run(['token', 'list', '--json'], { cwd: directory.path, env })
    const listed = JSON.parse(stdout) as { id: number; name: string }[]
    const { id } = listed.find(({ name }) => name === 'invitation') ?? { id: 0 }
    expect((await run(['token', 'revoke', String(id)], { cwd: directory.path, env })).code).toBe(0)
    expect(await client('GET', '/me')).toMatchObject({ status: 401, body: { error: 1, messages: [9153] } })
  }

  test('shows the demo to each of its people as their role allows', async () => {
    const { code, stdout } = await run(['demo', '--json'], { cwd: directory.path, env })
    expect(code).toBe(0)
    const { people } = JSON.parse(stdout) as { people: { token: string; email: string }[] }
    const tokenOf = (name: string) => people.find(({ email }) => email.startsWith(name))?.token ?? ''
    const lead = clientOf(server.address, tokenOf('giulia'))
    expect((await lead('GET', '/organizations')).body.total).toBe(4)
    const { body } = await lead('GET', '/atb')
    expect(body.total).toBe(5)
    for (const { check } of body.data as {
      check: { chart_stat: { total_requests: number; malicious_requests: number }[] }
    }[]) {
      expect(check.chart_stat).toHaveLength(24)
      expect(check.chart_stat.filter(({ total_requests }) => total_requests > 0).length).toBeGreaterThan(22)
      expect(check.chart_stat.some(({ malicious_requests }) => malicious_requests > 0)).toBe(true)
    }
    const viewer = clientOf(server.address, tokenOf('sara'))
    expect((await viewer('GET', '/atb')).body.total).toBe(2)
    expect((await viewer('POST', '/vpn', { organization: 2, email: 'sara@example.com' })).status).toBe(401)
  })
})
