import { execFile } from 'node:child_process'
import { chmod, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestServer } from '../apps/server/test/support/server.ts'
import { execute } from '../packages/adapters-sql/src/testing/execute.ts'
import { startOwnPostgres } from '../packages/adapters-sql/src/testing/postgres.ts'
import { type Fault, runFaults } from './fault.ts'
import type { Context, Scenario } from './scenario.ts'

export const diskFull: Scenario = {
  name: 'disk-full',
  title: 'disk full: reads go on, writes say 503, and all is well without a restart when there is room again',
  databases: ['sqlite', 'postgres'],
  async run(context) {
    const room = context.size === 'full' ? await smallDisk(context) : undefined
    const { url, ...disk } = await (context.database === 'sqlite' ? sqliteDisk : postgresDisk)(context, room)
    const fault: Fault = {
      ...disk,
      lasts: context.size === 'full' ? 10_000 : 1000,
      reads: 'served',
      writes: 'either',
    }
    return runFaults(context, url, [fault], context.rounds({ full: 5, short: 1 }))
  },
}

/** A disk that can be filled, and given room again, while a service runs on it. */
type Disk = Pick<Fault, 'name' | 'begin' | 'end'> & { url: string }

const run = promisify(execFile)

/** MiB of the disk that is filled: more than an empty PostgreSQL takes. */
const SIZE = 128

/** A small file system of one's own, in memory; only root may have one. */
async function smallDisk({ directory, atEnd, log }: Context): Promise<string | undefined> {
  const path = join(directory, 'disk')
  await mkdir(path)
  // PostgreSQL is another user where root starts it.
  await chmod(directory, 0o711)
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}m,mode=777`, 'tmpfs', path])
  } catch (error) {
    log(
      `No file system of its own, so the same as in the tests: ${error instanceof Error ? error.message.trim() : error}`,
    )
    return undefined
  }
  atEnd(() => run('umount', ['--lazy', path]))
  return path
}

/** Fills a directory's file system to the last byte, and gives the room back. */
function filling(directory: string): Pick<Fault, 'name' | 'begin' | 'end'> {
  const path = join(directory, 'filling')
  return {
    name: 'a file system without a free byte',
    async begin() {
      const file = await open(path, 'w')
      const isFull = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOSPC'
      for (let size = 1 << 20; size > 0; size >>= 1) {
        const bytes = Buffer.alloc(size, 1)
        const write = () => file.appendFile(bytes).then(() => true)
        while (await write().catch((error) => !isFull(error) && Promise.reject(error))) {}
      }
      await file.close()
    },
    end: () => rm(path),
  }
}

async function sqliteDisk({ newDatabase }: Context, room: string | undefined): Promise<Disk> {
  if (room) return { url: `sqlite:${room}/database.sqlite`, ...filling(room) }
  // Anybody may lower the soft limit of a process of theirs, and raise it again.
  const limit = ({ pid }: TestServer, bytes: string) => run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`])
  return {
    url: await newDatabase(),
    name: 'no file may be written past its first 64 KiB',
    begin: (server) => limit(server, '65536'),
    end: (server) => limit(server, 'unlimited'),
  }
}

/** Has every change of a table fail as it does where there is no room for it. */
const REFUSE = `
  create function refuse() returns trigger language plpgsql as
    $$ begin raise 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
  do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = current_schema() loop
      execute format('create trigger refuse before insert or update or delete on %I execute function refuse()', name);
    end loop;
  end $$`

async function postgresDisk({ newDatabase, atEnd }: Context, room: string | undefined): Promise<Disk> {
  if (!room) {
    const url = await newDatabase()
    return {
      url,
      name: 'PostgreSQL says so at every change',
      begin: () => untilDone(() => execute(url, REFUSE)),
      end: () => untilDone(() => execute(url, 'drop function refuse cascade')),
    }
  }
  // Where the write-ahead log has no room PostgreSQL itself ends: that is a database that is gone.
  const server = await startOwnPostgres({ data: room })
  atEnd(server.stop)
  return { url: await server.createDatabase(), ...filling(room) }
}

/** Runs it again where it met the writers in a deadlock: it takes locks on all tables, in an order of its own. */
async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await work()
      return
    } catch (error) {
      const isDeadlock = error instanceof Error && 'code' in error && error.code === '40P01'
      if (!isDeadlock || tries === 20) throw error
    }
  }
}
