import { authorizeOwn } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { type Changes, record } from '../events.ts'
import type { Needs } from '../ports.ts'
import type { Notification } from './notification.ts'

/**
 * Marks one of the caller's own notifications as read; one that is read stays so.
 *
 * @throws DomainError `forbidden` (a token that reads only), `not_found`, also for another person's, and one of an
 *   organization that the token does not reach.
 */
export async function markNotificationRead(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  id: number,
): Promise<Notification> {
  const organizations = authorizeOwn(caller, 'notification.mark')
  return ports.transact(async (stores) => {
    const marked = await stores.notifications.markRead(caller.user, id, organizations)
    if (!marked) throw new DomainError('not_found')
    const { notification, wasUnread } = marked
    if (wasUnread) {
      const organization = notification.organization.id
      const changes = { read: [false, true] } satisfies Changes
      await record(ports, stores, caller, { type: 'notification.read', organization, record: id, changes })
    }
    return notification
  })
}

/**
 * Marks all of the caller's notifications as read, of the organizations that their token reaches, and tells the audit
 * trail of each how many of them were about it.
 *
 * @returns how many were not read before.
 * @throws DomainError `forbidden` (a token that reads only).
 */
export async function markAllNotificationsRead(ports: Needs<'transact' | 'now'>, caller: Caller): Promise<number> {
  const organizations = authorizeOwn(caller, 'notification.mark')
  return ports.transact(async (stores) => {
    let total = 0
    for (const { organization, marked } of await stores.notifications.markAllRead(caller.user, organizations)) {
      const changes = { unread: [marked, 0] } satisfies Changes
      await record(ports, stores, caller, { type: 'notification.all_read', organization, record: caller.user, changes })
      total += marked
    }
    return total
  })
}
