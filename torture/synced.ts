import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, clientOf } from '../apps/server/test/support/client.ts'
import type { TestServer } from '../apps/server/test/support/server.ts'
import { execute } from '../packages/adapters-sql/src/testing/execute.ts'
import { type OwnPostgres, startOwnPostgres } from '../packages/adapters-sql/src/testing/postgres.ts'
import { syncSettings } from '../packages/adapters-sql/src/testing/sync-settings.ts'
import { KINDS, type Site } from './kinds.ts'
import type { Context, Outcome, Scenario } from './scenario.ts'
import { makeSite, registerPeople } from './site.ts'
import { mayTrace, type SystemCall, startTrace } from './system-calls.ts'

export const synced: Scenario = {
  name: 'synced',
  title: 'the write-ahead log is on the disk before a write is acknowledged',
  databases: ['sqlite', 'postgres'],
  run,
}

async function run(context: Context): Promise<Outcome> {
  const { check, directory, log } = context
  // The server that other scenarios share syncs nothing.
  const postgres = context.database === 'postgres' ? await startOwnPostgres({ sync: true }) : undefined
  if (postgres) context.atEnd(postgres.stop)
  const url = await (postgres?.createDatabase() ?? context.newDatabase())
  const settings = JSON.stringify(await syncSettings(url))
  const expected = postgres ? { synchronous_commit: 'on' } : { journal_mode: 'wal', synchronous: 2 }
  check(settings === JSON.stringify(expected), `the connections that are written on have ${settings}`)

  // Where every process of PostgreSQL is looked at, a machine that is busy with tests gets too slow for it.
  const traced = (context.size === 'full' || !postgres) && (await mayTrace())
  if (!traced) log('Not traced: only settings, and what PostgreSQL counts itself, are checked')
  const people = await registerPeople(url)
  // Before the service, since of another process strace follows only what that starts from now on.
  const ofPostgres =
    traced && postgres ? await startTrace(postgres.pid(), join(directory, 'postgres.trace')) : undefined
  const server = await context.serve({ DATABASE_URL: url })
  const site = await makeSite(server.address, 'site', people)
  // The first requests note that the tokens were used.
  await sleep(500)
  const before = await syncsOf(postgres, 0)
  const ofService = traced ? await startTrace(server.pid, join(directory, 'service.trace')) : undefined
  const rounds = context.rounds({ full: 50, short: 3 })
  const writes = await writeOneByOne(context, server, site, people.owner.token, rounds)
  if (ofService) checkOrder(context, writes, await ofService.stop(), await ofPostgres?.stop())
  const after = await syncsOf(postgres, before + writes.length)
  if (postgres)
    check(after - before >= writes.length, `${writes.length} writes, and ${after - before} syncs of the log`)
  return { rounds, summary: `${writes.length} writes acknowledged, ${traced ? 'all' : 'none'} traced` }
}

/** Each kind of record, so many times, one request after the other; the names of those that were acknowledged. */
async function writeOneByOne(
  { random, check }: Context,
  { address }: TestServer,
  site: Site,
  token: string,
  rounds: number,
): Promise<string[]> {
  const client = clientOf(address, token)
  const names: string[] = []
  async function send(name: string, work: Promise<Answer>): Promise<Answer> {
    const answer = await work
    check(answer.status < 300, `${name} answers ${answer.status}`)
    names.push(name)
    return answer
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const kind of KINDS) {
      const key = `${site.name}-${kind.name}-${round}`
      const { state, send: create, id } = kind.create(site, random, key)
      const record = { key, id: id(await send(`create ${key}`, create(client))), state }
      const edit = kind.edit?.(site, random, record)
      if (edit) await send(`edit ${key}`, edit.send(client))
      if (kind.remove) await send(`remove ${key}`, kind.remove(site, record)(client))
    }
  }
  return names
}

/** How often PostgreSQL synced its log so far. A connection may tell of what it did only ten seconds later. */
async function syncsOf(postgres: OwnPostgres | undefined, expected: number): Promise<number> {
  if (!postgres) return 0
  const statement = "select sum(fsyncs)::int as syncs from pg_stat_io where object = 'wal'"
  for (let tries = 0; ; tries += 1) {
    const syncs = Number((await execute(postgres.url, statement))[0]?.syncs)
    if (syncs >= expected || tries >= 200) return syncs
    await sleep(100)
  }
}

const WAL = /<[^>]*(?:-wal|\/log\/[0-9A-F]{24})>/

/** Between each request and its answer the log is written, and whatever was written by then is synced. */
function checkOrder({ check }: Context, names: string[], service: SystemCall[], postgres = service): void {
  const requests = service.filter(({ text }) => /^(?:read|recvfrom)\(.*"(?:POST|PUT|DELETE) \/api/.test(text))
  const answers = service.filter(({ text }) => /^(?:write|writev|sendto)\(.*"HTTP\/1\.1 2/.test(text))
  check(requests.length === names.length, `${requests.length} requests were read, ${names.length} sent`)
  check(answers.length === names.length, `${answers.length} answers were written, ${names.length} received`)
  const writes = postgres.filter(({ text }) => text.startsWith('pwrite') && WAL.test(text))
  const syncs = postgres.filter(({ text }) => /^f(?:data)?sync\(/.test(text) && WAL.test(text) && / = 0 /.test(text))
  // PostgreSQL acknowledges to the service, from several processes, each of which writes what it acknowledges.
  const commits = postgres.filter(({ text }) => text.startsWith('sendto(') && text.includes('COMMIT'))
  for (const [index, name] of names.entries()) {
    const [from, to] = [requests[index]?.ended ?? 0, answers[index]?.began ?? 0]
    const isHere = ({ began }: SystemCall) => began >= from && began <= to
    const isSynced = (write: SystemCall, before: number) =>
      syncs.some(({ began, ended }) => began >= write.ended && ended <= before)
    const written = writes.filter(isHere)
    const acknowledgements = postgres === service ? answers.slice(index, index + 1) : commits.filter(isHere)
    const tooEarly = acknowledgements.filter((acknowledgement) =>
      written.some(
        (write) =>
          write.began < acknowledgement.began &&
          (postgres === service || write.pid === acknowledgement.pid) &&
          !isSynced(write, acknowledgement.began),
      ),
    )
    check(
      written.some((write) => isSynced(write, to)),
      `${name}: nothing was written to the log and synced`,
    )
    check(acknowledgements.length > 0 && tooEarly.length === 0, `${name}: acknowledged before the log was synced`)
  }
}
