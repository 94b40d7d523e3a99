import type { Kysely } from 'kysely'
import type { DatabaseKind } from './column-types.ts'
import type { Schema } from './schema.ts'

/**
 * Told how long the database took, in milliseconds: over one statement, or over one unit of work, from the moment that it
 * was asked for until it was acknowledged or had failed.
 */
export type OnTimed = (what: 'statement' | 'unit', milliseconds: number) => void

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
   * Waits until what was committed before the call cannot be lost any more: on PostgreSQL a unit with an event commits
   * without waiting for the disk, see ADR 9.
   */
  settle?(): Promise<unknown>
  /**
   * As `unit`, for rows that nothing names yet: a crash may take them again, but not once a later `unit`, which names
   * them, has been acknowledged. On SQLite it does not wait for the disk.
   */
  stage<Result>(work: (db: Kysely<Schema>) => Promise<Result>): Promise<Result>
  /**
   * Runs `work` on one connection that may write, outside of any unit: for migrations. On SQLite it is one transaction
   * that holds the write lock; on PostgreSQL the migrator locks and opens its own.
   */
  exclusively<Result>(work: (db: Kysely<Schema>) => Promise<Result>): Promise<Result>
  /** Runs reads outside of units, on one connection, of which each may take minutes: a request never waits that long. */
  patiently<Result>(work: (db: Kysely<Schema>) => Promise<Result>): Promise<Result>
  /** Writes a consistent copy of the database to a file that does not exist; SQLite only. */
  copyTo?(path: string): Promise<void>
  /** The database's file; SQLite only. */
  file?: string
  close(): Promise<void>
}
