import { type Kysely, sql } from 'kysely'
import { id, idType, integer, text } from '../column-types.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const string = text(db)
  await db.schema
    .createTable('assessment')
    .addColumn('id', idType(db), id(db))
    .addColumn('organization', integer, (c) => c.notNull().references('organization.id'))
    .addColumn('created_at', string, (c) => c.notNull())
    .addColumn('score', integer, (c) => c.notNull())
    .addColumn('name', string, (c) => c.notNull())
    .addColumn('description', string, (c) => c.notNull())
    .addColumn('interviewed_user', string, (c) => c.notNull())
    .addColumn('interviewed_user_folded', string, (c) => c.notNull())
    .execute()
  await db.schema.createIndex('assessment_organization').on('assessment').column('organization').execute()

  await db.schema
    .createTable('notification')
    .addColumn('id', idType(db), id(db))
    .addColumn('organization', integer, (c) => c.notNull().references('organization.id'))
    .addColumn('user', string, (c) => c.notNull().references('user.id'))
    .addColumn('title', string, (c) => c.notNull())
    .addColumn('message', string, (c) => c.notNull())
    .addColumn('type', string, (c) => c.notNull())
    .addColumn('action', string, (c) => c.notNull())
    .addColumn('read', integer, (c) => c.notNull())
    .addColumn('datetime', string, (c) => c.notNull())
    .addColumn('icon', string, (c) => c.notNull())
    .addColumn('extra', string, (c) => c.notNull())
    .addColumn('key', string)
    .execute()
  await db.schema.createIndex('notification_user').on('notification').columns(['user', 'id']).execute()
  await db.schema
    .createIndex('notification_key_unique')
    .unique()
    .on('notification')
    .columns(['user', 'key'])
    .where(sql.ref('key'), 'is not', null)
    .execute()

  await db.schema
    .createTable('event')
    .addColumn('id', idType(db), id(db))
    .addColumn('type', string, (c) => c.notNull())
    // No reference: the trail outlives what it tells of.
    .addColumn('organization', integer)
    .addColumn('record', string, (c) => c.notNull())
    .addColumn('user_id', string)
    .addColumn('token', integer)
    .addColumn('datetime', string, (c) => c.notNull())
    .addColumn('changes', string, (c) => c.notNull())
    .addColumn('details', string, (c) => c.notNull())
    .execute()
  await db.schema.createIndex('event_organization').on('event').columns(['organization', 'id']).execute()
}
