import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

// How long the largest security frameworks hold the event loop: processor time of the serving thread between two turns,
// at most, which other work on the machine adds little to. SQLite in this process, the client in another.

const HERE = fileURLToPath(import.meta.url)

function frameworkOf(controls: number, evidences: number, evidence: (index: number) => object): string {
  const of = () => Array.from({ length: evidences }, (_, index) => evidence(index))
  const security_frameworks = Array.from({ length: controls }, (_, id) => ({
    id: `c${id}`,
    title: 'T',
    evidences: of(),
  }))
  return JSON.stringify({ title: 'T', security_frameworks })
}

const filled = (index: number) => ({
  files: ['/a'],
  details: `some text of ${index}`,
  completed: 1,
  residual_risk: 0.5,
})

const BODIES: { [name: string]: () => string } = {
  '10 controls with 10,000 empty evidences each': () => frameworkOf(10, 10_000, () => ({})),
  '1,000 controls with 100 empty evidences each': () => frameworkOf(1000, 100, () => ({})),
  '7 controls with 10,000 evidences with all fields each': () => frameworkOf(7, 10_000, filled),
  '8 MiB of texts': () => frameworkOf(1, 830, () => ({ details: 'x'.repeat(10_000) })),
  'the same evidences, the last one wrong': () => frameworkOf(7, 10_000, filled).replace(/0\.5\}\]\}\]\}$/, '"x"}]}]}'),
  'the same evidences, cut off': () => frameworkOf(7, 10_000, filled).slice(0, -2),
}

type Told = { begins: string } | { ends: number }

async function sendAll(port: string, token: string, path: string): Promise<void> {
  const tell = (told: Told) => process.send?.(told)
  const send = async (method: string, to: string, body?: string) => {
    const headers = { 'X-Service-Token': token, 'Content-Type': 'application/json' }
    const req = request({ host: '127.0.0.1', port, method, path: to, headers })
    req.end(body)
    const [res] = await once(req, 'response')
    let first = ''
    for await (const bytes of res) if (first.length < 200) first += bytes.toString('latin1').slice(0, 200)
    return { status: res.statusCode as number, id: /"security_framework":\{"id":(\d+)/.exec(first)?.[1] }
  }
  const measure = async (name: string, method: string, to: string, body?: string) => {
    tell({ begins: `${method.padEnd(4)} ${name}` })
    await sleep(200)
    const answer = await send(method, to, body)
    await sleep(200)
    tell({ ends: answer.status })
    return answer
  }
  for (const [name, make] of Object.entries(BODIES)) {
    const body = make()
    const { id } = await measure(name, 'POST', path, body)
    if (id === undefined) continue
    await measure(name, 'GET', `${path}/${id}`)
    await measure(name, 'PUT', `${path}/${id}`, body)
  }
  process.disconnect()
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function serve(): Promise<void> {
  const http = '../packages/adapters-http/dist/index.js'
  const sql = '../packages/adapters-sql/dist/index.js'
  const domain = '../packages/domain/dist/index.js'
  const memory = '../packages/domain/dist/memory/index.js'
  const [{ createApp, createHttpServer }, { migrate, openDatabase, sqlPorts }, use, { systemSurroundings }] =
    await Promise.all([import(http), import(sql), import(domain), import(memory)])
  const folder = await mkdtemp(join(tmpdir(), 'frameworks-'))
  const database = openDatabase(`sqlite:${join(folder, 'a.db')}`)
  await migrate(database)
  const ports = { ...systemSurroundings(), ...sqlPorts(database, use.createEventBus()) }
  const user = await use.registerUser(ports, { email: 'owner@example.com' })
  const organization = await use.createOrganization(ports, { user: user.id }, { name: 'Acme' })
  const { token } = await use.issueToken(ports, { user: user.id })
  const log = { info() {}, warn() {}, error: (fields: object) => print(JSON.stringify(fields)) }
  const server = createHttpServer(createApp(ports, { log }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const used = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let name = ''
  let last = 0
  let longest = 0
  const tick = () => {
    const now = used()
    longest = Math.max(longest, now - last)
    last = now
    if (name !== '') setImmediate(tick)
  }
  print(`${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}`)
  const { port } = server.address() as AddressInfo
  const path = `/api/v1/organizations/${organization}/security-frameworks`
  const client = fork(HERE, ['client', String(port), token, path])
  client.on('message', (told: Told) => {
    if ('begins' in told) {
      name = told.begins
      longest = 0
      last = used()
      setImmediate(tick)
    } else {
      print(`  ${name.padEnd(60)} ${told.ends} ${Math.round(longest).toString().padStart(5)} ms`)
      name = ''
    }
  })
  await once(client, 'exit')
  server.close()
  server.closeAllConnections()
  await database.close()
  await rm(folder, { recursive: true })
}

const [, , role, port = '', token = '', path = ''] = process.argv
if (role === 'client') await sendAll(port, token, path)
else await serve()
