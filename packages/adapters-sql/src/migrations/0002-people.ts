import { type Kysely, sql } from 'kysely'
import { id, idType, integer, text } from '../column-types.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const string = text(db)
  await db.schema
    .createTable('user')
    .addColumn('id', string, (c) => c.primaryKey())
    .addColumn('username', string, (c) => c.notNull())
    .addColumn('email', string, (c) => c.notNull())
    .addColumn('email_folded', string, (c) => c.notNull())
    .addColumn('first_name', string, (c) => c.notNull())
    .addColumn('last_name', string, (c) => c.notNull())
    .addColumn('locale', string, (c) => c.notNull())
    .addColumn('search_folded', string, (c) => c.notNull())
    .addUniqueConstraint('user_email_unique', ['email_folded'])
    .execute()

  await db.schema
    .createTable('member')
    .addColumn('id', idType(db), id(db))
    .addColumn('organization', integer, (c) => c.notNull().references('organization.id'))
    .addColumn('user', string, (c) => c.notNull().references('user.id'))
    .addColumn('role', string, (c) => c.notNull())
    .addColumn('removed_at', string)
    .execute()
  await db.schema
    .createIndex('member_active_unique')
    .unique()
    .on('member')
    .columns(['organization', 'user'])
    .where(sql.ref('removed_at'), 'is', null)
    .execute()
  await db.schema.createIndex('member_user').on('member').column('user').execute()

  await db.schema
    .createTable('invitation')
    .addColumn('id', idType(db), id(db))
    .addColumn('member', integer, (c) => c.notNull().references('member.id'))
    .addColumn('invited_by', string, (c) => c.notNull().references('user.id'))
    .addColumn('code', string)
    .addColumn('code_hash', string, (c) => c.notNull())
    .addColumn('message_id', string, (c) => c.notNull())
    .addColumn('created_at', string, (c) => c.notNull())
    .addColumn('expires_at', string, (c) => c.notNull())
    .addColumn('used_at', string)
    .addColumn('attempts', integer, (c) => c.notNull())
    .addColumn('next_attempt_at', string, (c) => c.notNull())
    .addColumn('lease_until', string)
    .addColumn('sent_at', string)
    .addColumn('given_up_at', string)
    .addColumn('last_error', string)
    .addUniqueConstraint('invitation_code_unique', ['code_hash'])
    .execute()
  // What the relay looks for; a mail that is out leaves it.
  await db.schema
    .createIndex('invitation_owed')
    .on('invitation')
    .column('next_attempt_at')
    .where(sql.ref('code'), 'is not', null)
    .execute()

  await db.schema
    .createTable('token')
    .addColumn('id', idType(db), id(db))
    .addColumn('user_id', string, (c) => c.notNull().references('user.id'))
    .addColumn('name', string, (c) => c.notNull())
    .addColumn('prefix', string, (c) => c.notNull())
    .addColumn('hash', string, (c) => c.notNull())
    .addColumn('created_at', string, (c) => c.notNull())
    .addColumn('expires_at', string)
    .addColumn('last_used_at', string)
    .addColumn('revoked_at', string)
    .addUniqueConstraint('token_hash_unique', ['hash'])
    .execute()
}
