import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Needs } from '../ports.ts'
import type { Notification } from './notification.ts'

/**
 * Marks one of the caller's own notifications as read; one that is read stays so.
 *
 * @throws DomainError `not_found`, also for another person's.
 */
export async function markNotificationRead(
  ports: Needs<'transact'>,
  caller: Caller,
  id: number,
): Promise<Notification> {
  const notification = await ports.transact((stores) => stores.notifications.markRead(caller.user, id))
  if (!notification) throw new DomainError('not_found')
  return notification
}

/** Marks all of the caller's notifications as read and returns how many were not. */
export async function markAllNotificationsRead(ports: Needs<'transact'>, caller: Caller): Promise<number> {
  return ports.transact((stores) => stores.notifications.markAllRead(caller.user))
}
