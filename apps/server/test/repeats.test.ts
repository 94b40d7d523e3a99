import { migrate, openDatabase, sqlPorts } from '@security-management/adapters-sql'
import { createEventBus, type Ports } from '@security-management/domain'
import { memoryPorts } from '@security-management/domain/memory'
import { afterAll, expect, test } from 'vitest'
import type { Answer } from '../../../packages/adapters-http/src/testing/answers.ts'
import { call, type Service, startServiceOn, until } from '../../../packages/adapters-http/src/testing/service.ts'
import { aPerson, aSite, type Site } from '../../../packages/adapters-http/src/testing/world.ts'
import { execute } from '../../../packages/adapters-sql/src/testing/execute.ts'
import { everyDatabase } from './support/databases.ts'

const { databases, stop } = everyDatabase()
afterAll(stop)

type Send = (service: Service<Ports>, headers: Record<string, string>, count: number) => Promise<Answer>

test.each<[string, (token: string, site: Site) => Send]>([
  [
    'an upload',
    (token, site) => (service, key, count) => {
      const headers = { ...key, 'Content-Disposition': 'attachment; filename="a"', 'Content-Type': 'application/json' }
      const body = JSON.stringify([{ time: '2025-03-01T10:00:00Z', status: 200, count }])
      return call(service, 'POST', `/api/v1/atb/${site.blocker}/traffic`, { token, headers, body })
    },
  ],
  [
    'a change',
    (token) => (service, headers) =>
      call(service, 'POST', '/api/v1/organizations', { token, headers, json: { name: 'G' } }),
  ],
])('%s that comes again on PostgreSQL is acknowledged once its first copy is on the disk', async (_, sending) => {
  const [, postgres] = databases
  const url = (await postgres?.open()) ?? ''
  const database = openDatabase(url)
  await migrate(database)
  const ports = { ...memoryPorts(), ...sqlPorts(database, createEventBus()) }
  // Where the first copies go: what is committed there is on the disk only once somebody else's commit takes it along.
  const hasty = { ...ports, ...sqlPorts({ ...database, settle: async () => {} }, createEventBus()) }
  const [first, second] = [await startServiceOn(hasty), await startServiceOn(ports)]
  const owner = await aPerson(ports, 'owner@example.com')
  const { token } = owner
  const send = sending(token, await aSite(ports, owner, 'Alpha'))
  // The note of its use is such a commit, and is due once a minute.
  await call(second, 'GET', '/api/v1/me', { token })
  await until(async () => (await ports.tokens.list())[0]?.last_used_at !== null)
  for (let count = 0; count < 10; count += 1) {
    const key = { 'Idempotency-Key': String(count) }
    const { bytes } = await send(first, key, count)
    const [written] = await execute(url, 'select pg_current_wal_insert_lsn() as lsn')
    expect(await send(second, key, count)).toMatchObject({ bytes })
    const flushed = await execute(url, `select pg_current_wal_flush_lsn() >= '${written?.lsn}'::pg_lsn as all`)
    expect(flushed).toEqual([{ all: true }])
  }
  await database.close()
})
