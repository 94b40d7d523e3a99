import type { Notification, NotificationStore } from '@security-management/domain'
import { type Kysely, sql } from 'kysely'
import { pageOf, texts } from './expressions.ts'
import { SUMMARY, summaryOf } from './organization-summary.ts'
import type { Schema } from './schema.ts'

export function sqlNotifications(db: Kysely<Schema>): NotificationStore {
  return {
    async insert(users, { organization, title, message, type, action, datetime, icon, extra, key = null }) {
      if (users.length === 0) return
      const addressees = texts(db, JSON.stringify(users))
      await sql`
        insert into notification ("organization", "user", title, message, type, action, read, datetime, icon, extra, key)
        select cast(${organization} as bigint), value, ${text(title)}, ${text(message)}, ${text(type)}, ${text(action)}, 0,
          ${text(datetime)}, ${text(icon)}, ${text(JSON.stringify(extra))}, ${text(key)}
        from ${addressees} as addressee where true
        on conflict do nothing
      `.execute(db)
    },
    async listOf(user, { read, type, organization }, page) {
      let query = visible(db, user)
      if (read !== undefined) query = query.where('notification.read', '=', read ? 1 : 0)
      if (type !== undefined) query = query.where('notification.type', '=', type)
      if (organization !== undefined) query = query.where('notification.organization', '=', organization)
      const columns = {
        id: 'notification.id',
        datetime: 'notification.datetime',
        read: 'notification.read',
        type: 'notification.type',
      }
      return pageOf(query, page, columns, toNotification)
    },
    async markRead(user, id) {
      const row = await visible(db, user).where('notification.id', '=', id).executeTakeFirst()
      if (!row) return undefined
      await db.updateTable('notification').set({ read: 1 }).where('id', '=', id).execute()
      return { ...toNotification(row), read: true }
    },
    async markAllRead(user) {
      const { numUpdatedRows } = await db
        .updateTable('notification')
        .set({ read: 1 })
        .where('read', '=', 0)
        .where('id', 'in', visible(db, user).clearSelect().select('notification.id'))
        .executeTakeFirstOrThrow()
      return Number(numUpdatedRows)
    },
  }
}

function text(value: string | null) {
  return sql`cast(${value} as text)`
}

/** What the person can see: their own, of organizations they belong to. */
function visible(db: Kysely<Schema>, user: string) {
  return db
    .selectFrom('notification')
    .innerJoin('organization', 'organization.id', 'notification.organization')
    .innerJoin('member', (join) =>
      join
        .onRef('member.organization', '=', 'notification.organization')
        .onRef('member.user', '=', 'notification.user'),
    )
    .where('notification.user', '=', user)
    .where('organization.removed_at', 'is', null)
    .where('member.removed_at', 'is', null)
    .select([
      ...SUMMARY,
      'notification.id',
      'notification.title',
      'notification.message',
      'notification.type',
      'notification.action',
      'notification.read',
      'notification.datetime',
      'notification.icon',
      'notification.extra',
    ])
}

type Row = Awaited<ReturnType<ReturnType<typeof visible>['execute']>>[number]

function toNotification(row: Row): Notification {
  const { id, title, message, datetime, icon } = row
  return {
    id,
    organization: summaryOf(row),
    title,
    message,
    type: row.type as Notification['type'],
    action: row.action as Notification['action'],
    read: row.read === 1,
    datetime,
    icon,
    extra: JSON.parse(row.extra),
  }
}
