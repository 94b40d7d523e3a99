import type { DomainEvent, EventStore } from '@security-management/domain'
import type { Kysely } from 'kysely'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

const insert = hot(
  (
    db,
    type: string,
    organization: number | null,
    record: string,
    user_id: string | null,
    token: number | null,
    datetime: string,
    changes: string,
    details: string,
  ) => db.insertInto('event').values({ type, organization, record, user_id, token, datetime, changes, details }),
)

/** @param onAppend told of each event, within the unit that may still fail. */
export function sqlEvents(db: Kysely<Schema>, onAppend: (event: DomainEvent) => void): EventStore {
  return {
    async append(event) {
      const { type, organization, record, user_id, token, datetime } = event
      const changes = JSON.stringify(event.changes)
      await insert(db, type, organization, record, user_id, token, datetime, changes, JSON.stringify(event.details))
      onAppend(event)
    },
    async listOf(organization) {
      const rows = await db
        .selectFrom('event')
        .select(['type', 'organization', 'record', 'user_id', 'token', 'datetime', 'changes', 'details'])
        .where('organization', '=', organization)
        .orderBy('id')
        .execute()
      return rows.map((row) => ({
        ...row,
        type: row.type as DomainEvent['type'],
        changes: JSON.parse(row.changes),
        details: JSON.parse(row.details),
      }))
    },
  }
}
