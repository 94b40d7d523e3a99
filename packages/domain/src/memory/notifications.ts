import type { Notification } from '../notifications/notification.ts'
import type { NotificationStore } from '../notifications/notification-store.ts'
import { pageOf } from './page-of.ts'
import { copy, isActive, type NotificationRow, type State, summaryOf } from './state.ts'

export function memoryNotifications(state: State): NotificationStore {
  function visibleTo(user: string): NotificationRow[] {
    const organizations = new Set(
      [...state.memberships.values()].filter((row) => row.user === user && isActive(state, row)).map(organizationOf),
    )
    return [...state.notifications.values()].filter((row) => row.user === user && organizations.has(row.organization))
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

    async listOf(user, { read, type, organization }, page) {
      const rows = visibleTo(user)
        .filter((row) => read === undefined || row.read === read)
        .filter((row) => type === undefined || row.type === type)
        .filter((row) => organization === undefined || row.organization === organization)
      const { total, data } = pageOf(rows, page)
      return { total, data: data.map((row) => toNotification(state, row)) }
    },

    async markRead(user, id) {
      const row = visibleTo(user).find((candidate) => candidate.id === id)
      return row && toNotification(state, markRead(row))
    },

    async markAllRead(user) {
      return visibleTo(user)
        .filter(({ read }) => !read)
        .map(markRead).length
    },
  }
}

function organizationOf({ organization }: { organization: number }): number {
  return organization
}

function toNotification(state: State, { user: _user, key: _key, ...row }: NotificationRow): Notification {
  return copy({ ...row, organization: summaryOf(state, row.organization) })
}
