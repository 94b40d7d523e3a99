import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { execute } from '../packages/adapters-sql/src/testing/execute.ts'
import { startOwnPostgres, startPostgres } from '../packages/adapters-sql/src/testing/postgres.ts'
import { startProxy } from '../packages/adapters-sql/src/testing/proxy.ts'
import { type Fault, runFaults } from './fault.ts'
import type { Context, Scenario } from './scenario.ts'

export const databaseGone: Scenario = {
  name: 'database-gone',
  title: 'the database gone and back: 503 within 3 s, healthy within 5 s after, nothing lost, no restart',
  databases: ['sqlite', 'postgres'],
  async run(context) {
    const { url, faults } = await (context.database === 'sqlite' ? sqliteFaults(context) : postgresFaults(context))
    return runFaults(context, url, faults, context.rounds({ full: 1, short: 1 }))
  },
}

const LOCK = fileURLToPath(new URL('../packages/adapters-sql/src/testing/lock-sqlite.ts', import.meta.url))

async function sqliteFaults({ newDatabase, size }: Context): Promise<{ url: string; faults: Fault[] }> {
  const url = await newDatabase()
  let release: () => Promise<unknown> = async () => {}
  const locked = (seconds: number, writes: Fault['writes']): Fault => ({
    name: `locked by another process for ${seconds} s`,
    async begin() {
      const child = spawn(process.execPath, [LOCK, url.slice('sqlite:'.length)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      release = async () => {
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        await ended
      }
      await once(child.stdout, 'data')
    },
    end: () => release(),
    lasts: seconds * 1000,
    reads: 'served',
    writes,
  })
  return {
    url,
    faults:
      size === 'full' ? [locked(2, 'served'), locked(8, 'refused')] : [locked(0.5, 'served'), locked(3, 'refused')],
  }
}

async function postgresFaults({ size, atEnd }: Context): Promise<{ url: string; faults: Fault[] }> {
  const full = size === 'full'
  // Only a server of one's own can be stopped.
  const own = full ? await startOwnPostgres() : undefined
  const server = own ?? (await startPostgres())
  atEnd(server.stop)
  const direct = await server.createDatabase()
  const proxy = await startProxy(direct)
  atEnd(proxy.stop)
  const seconds = (long: number, short: number) => (full ? long : short) * 1000
  const refused = { reads: 'refused', writes: 'refused' } as const
  const pass = async () => proxy.pass()
  const faults: Fault[] = [
    {
      name: 'takes connections and never answers',
      begin: async () => proxy.swallow(),
      end: pass,
      lasts: seconds(60, 3.5),
      ...refused,
    },
    { name: 'ends every connection', begin: async () => proxy.refuse(), end: pass, lasts: seconds(60, 1), ...refused },
    {
      name: 'all connections terminated',
      begin: () =>
        execute(
          direct,
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()`,
        ),
      end: async () => {},
      lasts: 0,
      reads: 'served',
      writes: 'served',
    },
  ]
  if (own) {
    faults.push({ name: 'stopped', begin: own.halt, end: own.resume, lasts: 60_000, ...refused })
  }
  return { url: proxy.url, faults }
}
