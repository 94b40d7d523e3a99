import { type Kysely, sql } from 'kysely'
import { id, idType, integer, text } from '../column-types.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const string = text(db)
  await db.schema
    .createTable('threat_blocker')
    .addColumn('id', idType(db), id(db))
    .addColumn('organization', integer, (c) => c.notNull().references('organization.id'))
    .addColumn('atb_key', string, (c) => c.notNull())
    .addColumn('type', string, (c) => c.notNull())
    .addColumn('email', string, (c) => c.notNull())
    .addColumn('plugin', string, (c) => c.notNull())
    .addColumn('endpoint', string, (c) => c.notNull())
    .addColumn('privateIP', string, (c) => c.notNull())
    .addColumn('services', string, (c) => c.notNull())
    .addColumn('device_id', string, (c) => c.notNull())
    .addColumn('created_at', string, (c) => c.notNull())
    .addColumn('removed_at', string)
    .addUniqueConstraint('threat_blocker_key_unique', ['atb_key'])
    .execute()
  await db.schema
    .createIndex('threat_blocker_active')
    .on('threat_blocker')
    .columns(['organization', 'id'])
    .where(sql.ref('removed_at'), 'is', null)
    .execute()

  await db.schema
    .createTable('traffic_upload')
    .addColumn('id', idType(db), id(db))
    .addColumn('threat_blocker', integer, (c) => c.notNull().references('threat_blocker.id'))
    .addColumn('file_name', string, (c) => c.notNull())
    .addColumn('size', integer, (c) => c.notNull())
    .addColumn('sha256', string, (c) => c.notNull())
    .addColumn('received', string, (c) => c.notNull())
    .addColumn('lines', integer, (c) => c.notNull())
    .addColumn('accepted', integer, (c) => c.notNull())
    .addColumn('rejected', integer, (c) => c.notNull())
    .addColumn('malicious', integer, (c) => c.notNull())
    .addUniqueConstraint('traffic_upload_bytes_unique', ['threat_blocker', 'sha256'])
    .execute()
  await db.schema
    .createIndex('traffic_upload_received')
    .on('traffic_upload')
    .columns(['threat_blocker', 'received'])
    .execute()

  await db.schema
    .createTable('traffic_hour')
    .addColumn('threat_blocker', integer, (c) => c.notNull().references('threat_blocker.id'))
    .addColumn('start', integer, (c) => c.notNull())
    .addColumn('day', integer, (c) => c.notNull())
    .addColumn('total', integer, (c) => c.notNull())
    .addColumn('malicious', integer, (c) => c.notNull())
    .addPrimaryKeyConstraint('traffic_hour_primary', ['threat_blocker', 'start'])
    .execute()

  await db.schema
    .createTable('cloud_defense')
    .addColumn('id', idType(db), id(db))
    .addColumn('organization', integer, (c) => c.notNull().references('organization.id'))
    .addColumn('email', string, (c) => c.notNull())
    .addColumn('fqdn', string, (c) => c.notNull())
    .addColumn('check', string, (c) => c.notNull())
    .addColumn('endpoint', string, (c) => c.notNull())
    .addColumn('services', string, (c) => c.notNull())
    .execute()
  await db.schema.createIndex('cloud_defense_organization').on('cloud_defense').column('organization').execute()

  await db.schema
    .createTable('vpn_profile')
    .addColumn('id', idType(db), id(db))
    .addColumn('organization', integer, (c) => c.notNull().references('organization.id'))
    .addColumn('created_at', string, (c) => c.notNull())
    .addColumn('user_id', string, (c) => c.notNull().references('user.id'))
    .addColumn('email', string, (c) => c.notNull())
    .addColumn('removed_at', string)
    .execute()
  await db.schema
    .createIndex('vpn_profile_active')
    .on('vpn_profile')
    .columns(['organization', 'id'])
    .where(sql.ref('removed_at'), 'is', null)
    .execute()
}
