import type { Kysely } from 'kysely'
import type { DatabaseKind } from './column-types.ts'
import type { Schema } from './schema.ts'

/** An open database. */
export type Database = {
  kind: DatabaseKind
  /** For reads outside of units; never waits for a unit on SQLite. */
  reader: Kysely<Schema>
  /**
   * Runs `work` as one unit: all kept once the promise resolves, none if it rejects. It awaits nothing but queries on
   * the `db` it receives, since on SQLite the units share one connection and run one after the other.
   */
  unit<Result>(work: (db: Kysely<Schema>) => Promise<Result>): Promise<Result>
  /**
   * Runs `work` on one connection that may write, outside of any unit: for migrations. On SQLite it is one transaction
   * that holds the write lock; on PostgreSQL the migrator locks and opens its own.
   */
  exclusively<Result>(work: (db: Kysely<Schema>) => Promise<Result>): Promise<Result>
  /** Writes a consistent copy of the database to a file that does not exist; SQLite only. */
  copyTo?(path: string): Promise<void>
  /** The database's file; SQLite only. */
  file?: string
  close(): Promise<void>
}
