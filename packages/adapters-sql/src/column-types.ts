import { type ColumnDefinitionBuilder, type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'

export type DatabaseKind = 'sqlite' | 'postgres'

/** Which of the two databases this is. */
export function kindOf(db: Pick<Kysely<never>, 'getExecutor'>): DatabaseKind {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'
}

/** Integers of up to 2^53 − 1; PostgreSQL's plain `integer` ends at 2^31. */
export const integer = 'bigint'

/** Text that sorts and compares by its bytes on both. */
export function text(db: Kysely<unknown>): RawBuilder<unknown> {
  return kindOf(db) === 'postgres' ? sql`text collate "C"` : sql`text`
}

/** Bytes. */
export function bytes(db: Kysely<unknown>): RawBuilder<unknown> {
  return kindOf(db) === 'postgres' ? sql`bytea` : sql`blob`
}

/** Type of a column of ids that count up by themselves and are never used twice. */
export function idType(db: Kysely<unknown>): 'bigserial' | 'integer' {
  return kindOf(db) === 'postgres' ? 'bigserial' : 'integer'
}

/** Makes it the primary key; SQLite reuses the ids of removed rows unless it is told not to. */
export function id(db: Kysely<unknown>) {
  return (column: ColumnDefinitionBuilder) =>
    kindOf(db) === 'postgres' ? column.primaryKey() : column.primaryKey().autoIncrement()
}
