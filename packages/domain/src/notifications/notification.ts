import * as v from 'valibot'
import { OrganizationSummary } from '../organizations/organization.ts'
import { described, object } from '../parse.ts'
import { Id, Timestamp } from '../values.ts'

/** How urgent a notification is (decisions.md §4). */
export const NOTIFICATION_TYPES = ['info', 'warning'] as const

/** A message to one person about something in one of their organizations. */
export const Notification = object({
  id: Id,
  organization: OrganizationSummary,
  title: v.string(),
  message: v.string(),
  type: v.picklist(NOTIFICATION_TYPES),
  action: described(v.literal('link'), 'What a click does; following `extra.href` is all there is.'),
  read: v.boolean(),
  datetime: Timestamp,
  icon: described(v.string(), 'Font Awesome class names.'),
  extra: object({ href: v.string() }),
})
export type Notification = v.InferOutput<typeof Notification>
