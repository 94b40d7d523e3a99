import {
  listNotifications,
  markAllNotificationsRead,
  markNotificationRead,
  Notification,
  NotificationQuery,
} from '@security-management/domain'
import { route } from '../route.ts'
import { listOf, Marked } from '../schemas.ts'

export const listNotificationsRoute = route({
  id: 'listNotifications',
  summary: "List the caller's notifications",
  description: 'What the caller was told: one entry for each event in their organizations that concerns them.',
  method: 'get',
  path: '/api/v1/notifications',
  right: 'self',
  query: NotificationQuery,
  aliases: { ordering: 'order', organization_id: 'organization' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(Notification),
  handle: ({ ports, caller, query }) => listNotifications(ports, caller, query),
})

export const markAllNotificationsReadRoute = route({
  id: 'markAllNotificationsRead',
  summary: "Mark all of the caller's notifications as read",
  description: 'Marks all that are unread, and says how many there were.',
  method: 'put',
  path: '/api/v1/notifications',
  extension: true,
  right: 'self',
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: Marked },
  async handle({ ports, caller }) {
    return { data: { marked: await markAllNotificationsRead(ports, caller) } }
  },
})

export const markNotificationReadRoute = route({
  id: 'markNotificationRead',
  summary: "Mark one of the caller's notifications as read",
  description: 'Marks the notification as read and returns it. One that belongs to somebody else is a 404.',
  method: 'put',
  path: '/api/v1/notifications/{id}',
  right: 'self',
  params: { id: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: Notification },
  async handle({ ports, caller, params }) {
    return { data: await markNotificationRead(ports, caller, params.id) }
  },
})
