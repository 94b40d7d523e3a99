import type { DocumentStore } from '@security-management/domain'
import { type Kysely, sql } from 'kysely'
import { holdFile } from './files.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

const find = hot((db, organization: number, framework: number, control: string, name: string) =>
  db
    .selectFrom('document')
    .innerJoin('security_framework', 'security_framework.id', 'document.framework')
    .innerJoin('organization', 'organization.id', 'document.organization')
    .select([
      'document.organization',
      'document.framework',
      'document.control',
      'document.name',
      'document.file_name',
      'document.content_type',
      'document.size',
      'document.sha256',
      'document.file',
    ])
    .where('document.name', '=', name)
    .where('document.organization', '=', organization)
    .where('document.framework', '=', framework)
    .where('document.control', '=', control)
    .where('security_framework.removed_at', 'is', null)
    .where('organization.removed_at', 'is', null),
)

const findSize = hot((db, organization: number) =>
  db
    .selectFrom('document')
    .select(sql<number>`cast(coalesce(sum(size), 0) as bigint)`.as('size'))
    .where('organization', '=', organization),
)

export function sqlDocuments(db: Kysely<Schema>): DocumentStore {
  return {
    async insert(document) {
      await holdFile(db, document.file)
      await db.insertInto('document').values(document).execute()
    },
    async sizeOf(organization) {
      const [row] = await findSize(db, organization)
      return row?.size ?? 0
    },
    async findActive({ organization, framework, control, name }) {
      const [row] = await find(db, organization, framework, control, name)
      return row
    },
  }
}
