import { existsSync } from 'node:fs'
import { type Kysely, sql } from 'kysely'
import { type Migration, type MigrationInfo, Migrator } from 'kysely/migration'
import type { Database } from './database.ts'
import { MIGRATIONS } from './migrations/index.ts'
import type { Schema } from './schema.ts'

/** What a migration did. */
export type Migrated = {
  /** Names of the migrations that were run, in order. */
  applied: string[]
  /** The copy that was taken of a SQLite file before an upgrade. */
  backup?: string
}

/**
 * Brings the database to the newest schema. Several processes may ask at once: one works, the others wait. A SQLite
 * file that holds an older schema is copied first, to `FILE.before-NAME` with the name of the first new migration.
 *
 * @throws Error with one line when the database is newer than this program, or a migration fails; then nothing changed.
 */
export async function migrate(
  database: Database,
  migrations: Record<string, Migration> = MIGRATIONS,
): Promise<Migrated> {
  return database.exclusively((db) =>
    database.kind === 'sqlite' ? migrateSqlite(database, db, migrations) : run(migratorOf(db, migrations, false)),
  )
}

async function migrateSqlite(
  database: Database,
  db: Kysely<Schema>,
  migrations: Record<string, Migration>,
): Promise<Migrated> {
  const migrator = migratorOf(db, migrations, true)
  const backup = await copyBeforeUpgrade(database, await migrator.getMigrations())
  return { ...(await run(migrator)), ...(backup && { backup }) }
}

async function copyBeforeUpgrade(database: Database, known: readonly MigrationInfo[]): Promise<string | undefined> {
  const next = known.find(({ executedAt }) => executedAt === undefined)
  const isUpgrade = known.some(({ executedAt }) => executedAt !== undefined)
  if (!next || !isUpgrade || !database.copyTo) return undefined
  const path = `${database.file}.before-${next.name}`
  // One that is there was taken by an upgrade that failed, from the same content.
  if (!existsSync(path)) await database.copyTo(path)
  return path
}

/** How the schema of a database compares with the one that this program knows. */
export type SchemaState = 'current' | 'older' | 'newer'

/** Looks at a database that was migrated once. */
export async function schemaStateOf(
  { reader }: Database,
  migrations: Record<string, Migration> = MIGRATIONS,
): Promise<SchemaState> {
  const { rows } = await sql<{ name: string }>`select name from migration`.execute(reader)
  if (rows.some(({ name }) => !(name in migrations))) return 'newer'
  return rows.length < Object.keys(migrations).length ? 'older' : 'current'
}

/** @param inTransaction whether a transaction is open already, which also keeps other processes out. */
function migratorOf(db: Kysely<Schema>, migrations: Record<string, Migration>, inTransaction: boolean): Migrator {
  const provider = { getMigrations: async () => migrations }
  return new Migrator({
    db,
    provider,
    migrationTableName: 'migration',
    migrationLockTableName: 'migration_lock',
    disableTransactions: inTransaction,
  })
}

async function run(migrator: Migrator): Promise<Migrated> {
  const { error, results = [] } = await migrator.migrateToLatest()
  if (error) throw explain(error)
  return { applied: results.map(({ migrationName }) => migrationName) }
}

function explain(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  const missing = /previously executed migration (\S+) is missing/.exec(message)?.[1]
  if (!missing) return error instanceof Error ? error : new Error(message)
  return new Error(`The database was upgraded to ${missing} by a newer version of the service; run that one`, {
    cause: error,
  })
}
