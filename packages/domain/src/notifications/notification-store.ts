import type { Page, PageRequest } from '../page.ts'
import type { Notification } from './notification.ts'

/** Fields that notifications can be ordered by. */
export const NOTIFICATION_ORDER = ['id', 'datetime', 'read', 'type'] as const

export type NewNotification = Omit<Notification, 'id' | 'organization' | 'read'> & {
  organization: number
  /** Where given, a person gets at most one notification of this key, however often it is inserted. */
  key?: string
}

export type NotificationFilter = {
  read?: boolean | undefined
  type?: Notification['type'] | undefined
  organization?: number | undefined
}

/**
 * Notifications, each of one person. A person sees those of organizations they are an active member of, and no other:
 * a removed member, or a removed organization, hides them.
 */
export type NotificationStore = {
  /** One unread notification for each of these people. */
  insert(users: string[], notification: NewNotification): Promise<void>
  listOf(
    user: string,
    filter: NotificationFilter,
    page: PageRequest<(typeof NOTIFICATION_ORDER)[number]>,
  ): Promise<Page<Notification>>
  /** Marks it read and returns it; undefined if there is none that this person can see. */
  markRead(user: string, id: number): Promise<Notification | undefined>
  /** Marks all that the person can see as read and returns how many were not. */
  markAllRead(user: string): Promise<number>
}
