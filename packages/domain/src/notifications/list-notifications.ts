import * as v from 'valibot'
import { authorizeOwn } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { type Page, pageEntries } from '../page.ts'
import { object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { Id } from '../values.ts'
import { NOTIFICATION_TYPES, type Notification } from './notification.ts'
import { NOTIFICATION_ORDER } from './notification-store.ts'

/** Page and filters of the list of notifications. */
export const NotificationQuery = object({
  ...pageEntries(NOTIFICATION_ORDER, '-id'),
  read: v.optional(v.boolean()),
  type: v.optional(v.picklist(NOTIFICATION_TYPES)),
  organization: v.optional(Id),
})

/**
 * Lists the caller's own notifications, of the organizations that their token reaches.
 *
 * @param input see `NotificationQuery`.
 * @throws DomainError `forbidden`, `invalid`.
 */
export async function listNotifications(
  ports: Needs<'notifications'>,
  caller: Caller,
  input: unknown = {},
): Promise<Page<Notification>> {
  const organizations = authorizeOwn(caller, 'notification.read')
  const { limit, offset, order, ...filter } = parse(NotificationQuery, input)
  return ports.notifications.listOf(caller.user, { ...filter, organizations }, { limit, offset, order })
}
