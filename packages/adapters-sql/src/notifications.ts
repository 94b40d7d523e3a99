import type { Notification, NotificationStore } from '@security-management/domain'
import { type Kysely, sql } from 'kysely'
import { numbers, pageOf, texts } from './expressions.ts'
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
    async listOf(user, { read, type, organization, organizations }, page) {
      let query = visible(db, user, organizations)
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
    async markRead(user, id, organizations) {
      const row = await visible(db, user, organizations).where('notification.id', '=', id).executeTakeFirst()
      if (!row) return undefined
      // One statement, so that of several at once one finds it unread.
      const { numUpdatedRows } = await db
        .updateTable('notification')
        .set({ read: 1 })
        .where('id', '=', id)
        .where('read', '=', 0)
        .executeTakeFirstOrThrow()
      return { notification: { ...toNotification(row), read: true }, wasUnread: numUpdatedRows > 0n }
    },
    async markAllRead(user, organizations) {
      const unread = visible(db, user, organizations).where('notification.read', '=', 0)
      const rows = await db
        .updateTable('notification')
        .set({ read: 1 })
        .where('read', '=', 0)
        .where('id', 'in', unread.clearSelect().select('notification.id'))
        .returning('organization')
        .execute()
      const marked = new Map<number, number>()
      for (const { organization } of rows) marked.set(organization, (marked.get(organization) ?? 0) + 1)
      return Array.from(marked, ([organization, count]) => ({ organization, marked: count })).toSorted(
        (a, b) => a.organization - b.organization,
      )
    },
  }
}

function text(value: string | null) {
  return sql`cast(${value} as text)`
}

/** What the person can see: their own, of organizations they belong to, and among these where they are given. */
function visible(db: Kysely<Schema>, user: string, organizations: readonly number[] | null = null) {
  const query = db
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
  return organizations === null
    ? query
    : query.where('notification.organization', 'in', numbers(db, JSON.stringify(organizations)))
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
