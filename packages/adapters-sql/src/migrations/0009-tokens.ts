import { type Kysely, sql } from 'kysely'
import { text } from '../column-types.ts'

/** Tokens that are narrowed and rotated; invitations that are sent again and counted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const string = text(db)
  await db.schema
    .alterTable('token')
    .addColumn('access', string, (c) => c.notNull().defaultTo('full'))
    .execute()
  await db.schema.alterTable('token').addColumn('organizations', string).execute()
  await db.schema.alterTable('token').addColumn('previous_hash', string).execute()
  await db.schema.alterTable('token').addColumn('previous_expires_at', string).execute()
  await db.schema
    .createIndex('token_previous_hash_unique')
    .unique()
    .on('token')
    .column('previous_hash')
    .where(sql.ref('previous_hash'), 'is not', null)
    .execute()
  await db.schema.createIndex('token_user').on('token').column('user_id').execute()

  await db.schema.alterTable('invitation').addColumn('replaced_at', string).execute()
  await db.schema.createIndex('invitation_member').on('invitation').column('member').execute()
  // What the caps on invitations count by.
  await db.schema.createIndex('invitation_invited_by').on('invitation').columns(['invited_by', 'created_at']).execute()
  await db.schema.createIndex('invitation_created').on('invitation').column('created_at').execute()
}
