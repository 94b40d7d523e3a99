import { inspect } from 'node:util'
import { temporaryDirectory } from '../apps/server/test/support/program.ts'
import { startServer, type TestServer } from '../apps/server/test/support/server.ts'
import { startPostgres } from '../packages/adapters-sql/src/testing/postgres.ts'
import { randomOf } from './random.ts'
import type { Context, DatabaseName, Outcome, Scenario } from './scenario.ts'

export type Settings = {
  database: DatabaseName
  size: Context['size']
  seed: number
  /** Those of the size, unless said otherwise. */
  rounds?: number | undefined
  log?: (line: string) => void
}

/** What came of a scenario on one database. */
export type Report = Outcome & {
  /** How many assertions were checked. */
  assertions: number
  /** What did not hold. */
  failures: string[]
  seconds: number
}

/** Longest time that a service may run, in milliseconds: what is left over by mistake ends by itself. */
const PATIENCE = 60 * 60 * 1000

/** Runs a scenario on one database; nothing that it started or made is left behind. */
export async function torture(
  scenario: Scenario,
  { database, size, seed, rounds, log = () => {} }: Settings,
): Promise<Report> {
  const started = performance.now()
  const failures: string[] = []
  const cleanUps: (() => Promise<unknown>)[] = []
  let assertions = 0

  const directory = await temporaryDirectory()
  cleanUps.push(directory.remove)
  const context: Context = {
    database,
    size,
    rounds: (byDefault) => rounds ?? byDefault[size],
    random: randomOf(seed),
    directory: directory.path,
    newDatabase: database === 'sqlite' ? newSqlite(directory.path) : newPostgres(cleanUps),
    async serve(env) {
      const server = await startServer(directory.path, env, [], PATIENCE)
      const watched = watch(server, (what) => failures.push(what))
      cleanUps.push(() => watched.stop('SIGKILL'))
      return watched
    },
    check(holds, what) {
      assertions += 1
      if (!holds) failures.push(what)
    },
    atEnd: (cleanUp) => cleanUps.push(cleanUp),
    log,
  }
  let outcome: Outcome = { rounds: 0 }
  try {
    outcome = await scenario.run(context)
  } catch (error) {
    failures.push(`It broke off: ${inspect(error)}`)
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
  }
  return { ...outcome, assertions, failures, seconds: (performance.now() - started) / 1000 }
}

/** The service, whose end is a failure unless it was stopped. */
function watch(server: TestServer, fail: (what: string) => void): TestServer {
  let sent: NodeJS.Signals | undefined
  void server.ended.then(({ code, signal, stderr }) => {
    // What is killed may have ended just before.
    const wasStopped = sent === 'SIGKILL' ? signal === sent : sent !== undefined
    if (!wasStopped) fail(`The service ended by itself (${code ?? signal}): ${stderr.slice(-2000)}`)
  })
  return {
    ...server,
    stop(signal = 'SIGTERM') {
      sent ??= signal
      return server.stop(signal)
    },
  }
}

function newSqlite(directory: string): Context['newDatabase'] {
  let count = 0
  return async () => {
    count += 1
    return `sqlite:${directory}/database-${count}.sqlite`
  }
}

function newPostgres(cleanUps: (() => Promise<unknown>)[]): Context['newDatabase'] {
  let postgres: ReturnType<typeof startPostgres> | undefined
  return async () => {
    if (!postgres) {
      postgres = startPostgres()
      const { stop } = await postgres
      cleanUps.push(stop)
    }
    return (await postgres).createDatabase()
  }
}
