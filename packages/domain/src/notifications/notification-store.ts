import type { Page, PageRequest } from '../page.ts'
import type { Notification } from './notification.ts'

/** Fields that notifications can be ordered by. */
export const NOTIFICATION_ORDER = ['id', 'datetime', 'read', 'type'] as const

/** A notification to be stored for each of its people. */
export type NewNotification = Omit<Notification, 'id' | 'organization' | 'read'> & {
  organization: number
  /** Where given, a person gets at most one notification of this key, however often it is inserted. */
  key?: string
}

/** Which notifications a list holds; what is undefined does not narrow it. */
export type NotificationFilter = {
  read?: boolean | undefined
  type?: Notification['type'] | undefined
  organization?: number | undefined
  /** Of these organizations alone; null, or left out, for all. */
  organizations?: readonly number[] | null
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
  /**
   * Marks it read, and says whether it was not; undefined if there is none that this person can see, among those of
   * `organizations` where they are given.
   */
  markRead(
    user: string,
    id: number,
    organizations?: readonly number[] | null,
  ): Promise<{ notification: Notification; wasUnread: boolean } | undefined>
  /** Marks all that the person can see so as read and returns how many were not, by organization, ascending. */
  markAllRead(
    user: string,
    organizations?: readonly number[] | null,
  ): Promise<{ organization: number; marked: number }[]>
}
