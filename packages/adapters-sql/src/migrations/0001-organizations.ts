import type { Kysely } from 'kysely'
import { id, idType, integer, text } from '../column-types.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const string = text(db)
  await db.schema
    .createTable('organization')
    .addColumn('id', idType(db), id(db))
    .addColumn('name', string, (c) => c.notNull())
    .addColumn('name_folded', string, (c) => c.notNull())
    .addColumn('description', string, (c) => c.notNull())
    .addColumn('number_employees', integer, (c) => c.notNull())
    .addColumn('website', string, (c) => c.notNull())
    .addColumn('logo', string, (c) => c.notNull())
    .addColumn('sectors', string, (c) => c.notNull())
    .addColumn('industries', string, (c) => c.notNull())
    .addColumn('contacts', string, (c) => c.notNull())
    .addColumn('domains', string, (c) => c.notNull())
    .addColumn('ips', string, (c) => c.notNull())
    .addColumn('infrastructure', string, (c) => c.notNull())
    .addColumn('removed_at', string)
    .execute()
}
