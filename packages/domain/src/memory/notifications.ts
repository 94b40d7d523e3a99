import type { Notification } from '../notifications/notification.ts'
import type { NotificationStore } from '../notifications/notification-store.ts'
import { compare, pageOf } from './page-of.ts'
import { copy, isActive, type NotificationRow, type State, summaryOf } from './state.ts'

export function memoryNotifications(state: State): NotificationStore {
  function visibleTo(user: string, organizations: readonly number[] | null = null): NotificationRow[] {
    const theirs = new Set(
      [...state.memberships.values()].filter((row) => row.user === user && isActive(state, row)).map(organizationOf),
    )
    return [...state.notifications.values()]
      .filter((row) => row.user === user && theirs.has(row.organization))
      .filter((row) => organizations === null || organizations.includes(row.organization))
  }
  function markRead(row: NotificationRow): NotificationRow {
    const marked = { ...row, read: true }
    state.notifications.set(row.id, marked)
    return marked
  }
  return {
    async insert(users, notification) {
      for (const user of users) {
        const told = [...state.notifications.values()].some(
          (row) => row.key !== undefined && row.key === notification.key && row.user === user,
        )
        if (told) continue
        const id = state.nextId('notifications')
        state.notifications.set(id, copy({ id, ...notification, user, read: false }))
      }
    },

    async listOf(user, { read, type, organization, organizations }, page) {
      const rows = visibleTo(user, organizations)
        .filter((row) => read === undefined || row.read === read)
        .filter((row) => type === undefined || row.type === type)
        .filter((row) => organization === undefined || row.organization === organization)
      const { total, data } = pageOf(rows, page)
      return { total, data: data.map((row) => toNotification(state, row)) }
    },

    async markRead(user, id, organizations) {
      const row = visibleTo(user, organizations).find((candidate) => candidate.id === id)
      return row && { notification: toNotification(state, markRead(row)), wasUnread: !row.read }
    },

    async markAllRead(user, organizations) {
      const unread = visibleTo(user, organizations).filter(({ read }) => !read)
      unread.forEach(markRead)
      const touched = [...new Set(unread.map(organizationOf))].toSorted(compare)
      return touched.map((organization) => ({
        organization,
        marked: unread.filter((row) => row.organization === organization).length,
      }))
    },
  }
}

function organizationOf({ organization }: { organization: number }): number {
  return organization
}

function toNotification(state: State, { user: _user, key: _key, ...row }: NotificationRow): Notification {
  return copy({ ...row, organization: summaryOf(state, row.organization) })
}
