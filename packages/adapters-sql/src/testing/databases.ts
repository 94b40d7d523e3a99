import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres, type TestPostgres } from './postgres.ts'

/** A kind of database to test on: `create` makes a new, empty one and returns its URL. */
export type TestDatabase = { name: string; create(): Promise<string>; cleanUp(): Promise<void> }

/** SQLite, and a real PostgreSQL; neither is ever skipped. */
export function testDatabases(): TestDatabase[] {
  let folder: Promise<string> | undefined
  let postgres: Promise<TestPostgres> | undefined
  return [
    {
      name: 'SQLite',
      async create() {
        folder ??= mkdtemp(join(tmpdir(), 'test-sqlite-'))
        return `sqlite:${join(await folder, `${randomUUID()}.sqlite`)}`
      },
      async cleanUp() {
        if (folder) await rm(await folder, { recursive: true, force: true })
      },
    },
    {
      name: 'PostgreSQL',
      async create() {
        postgres ??= startPostgres()
        return (await postgres).createDatabase()
      },
      async cleanUp() {
        await (await postgres)?.stop()
      },
    },
  ]
}
