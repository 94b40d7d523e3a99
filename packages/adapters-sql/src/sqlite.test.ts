import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabase } from './open-database.ts'

/** Makes the file, as another process does that starts at the same time, and holds its lock for a moment. */
const OTHER = `
  const { parentPort, workerData } = require('node:worker_threads')
  const connection = new (require('better-sqlite3'))(workerData)
  connection.exec('begin immediate; create table other (id integer)')
  parentPort.postMessage('locked')
  setTimeout(() => connection.exec('commit'), 300)
`

test('a new SQLite file that another process is making is opened once that one is done', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-'))
  const file = join(folder, 'service.sqlite')
  const other = new Worker(OTHER, { eval: true, workerData: file })
  await once(other, 'message')
  const database = openDatabase(`sqlite:${file}`)
  const { rows } = await sql`select name from sqlite_schema`.execute(database.reader)
  expect(rows).toEqual([{ name: 'other' }])
  await other.terminate()
  await database.close()
  await rm(folder, { recursive: true })
})
