import { type Kysely, sql } from 'kysely'
import { bytes, id, idType, integer, text } from '../column-types.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const string = text(db)
  await db.schema
    .createTable('security_framework')
    .addColumn('id', idType(db), id(db))
    .addColumn('organization', integer, (c) => c.notNull().references('organization.id'))
    .addColumn('title', string, (c) => c.notNull())
    .addColumn('created_at', string, (c) => c.notNull())
    .addColumn('removed_at', string)
    .execute()
  await db.schema
    .createIndex('security_framework_active')
    .on('security_framework')
    .columns(['organization', 'id'])
    .where(sql.ref('removed_at'), 'is', null)
    .execute()

  await db.schema
    .createTable('control')
    .addColumn('framework', integer, (c) => c.notNull().references('security_framework.id'))
    .addColumn('id', string, (c) => c.notNull())
    .addColumn('position', integer, (c) => c.notNull())
    .addColumn('body', string, (c) => c.notNull())
    .addColumn('frequency', string, (c) => c.notNull())
    .addColumn('evidences', string, (c) => c.notNull())
    .addColumn('told', string)
    .addPrimaryKeyConstraint('control_primary', ['framework', 'id'])
    .execute()
  await db.schema
    .createIndex('control_scheduled')
    .on('control')
    .columns(['framework', 'id'])
    .where(sql.ref('frequency'), '<>', sql.lit(''))
    .execute()

  await db.schema
    .createTable('evidence_file')
    .addColumn('id', idType(db), id(db))
    .addColumn('staged_at', string, (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('evidence_chunk')
    .addColumn('file', integer, (c) => c.notNull().references('evidence_file.id').onDelete('cascade'))
    .addColumn('position', integer, (c) => c.notNull())
    .addColumn('bytes', bytes(db), (c) => c.notNull())
    .addPrimaryKeyConstraint('evidence_chunk_primary', ['file', 'position'])
    .execute()
  await db.schema
    .createTable('document')
    .addColumn('file', integer, (c) => c.primaryKey().references('evidence_file.id'))
    .addColumn('organization', integer, (c) => c.notNull().references('organization.id'))
    .addColumn('framework', integer, (c) => c.notNull().references('security_framework.id'))
    .addColumn('control', string, (c) => c.notNull())
    .addColumn('name', string, (c) => c.notNull())
    .addColumn('file_name', string, (c) => c.notNull())
    .addColumn('content_type', string, (c) => c.notNull())
    .addColumn('size', integer, (c) => c.notNull())
    .addColumn('sha256', string, (c) => c.notNull())
    .addUniqueConstraint('document_place_unique', ['framework', 'control', 'name'])
    .execute()
}
