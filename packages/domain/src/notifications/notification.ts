import * as v from 'valibot'
import { OrganizationSummary } from '../organizations/organization.ts'
import { object } from '../parse.ts'
import { Id, Timestamp } from '../values.ts'

export const NOTIFICATION_TYPES = ['info', 'warning'] as const

/** A message to one person about something in one of their organizations. */
export const Notification = object({
  id: Id,
  organization: OrganizationSummary,
  title: v.string(),
  message: v.string(),
  type: v.picklist(NOTIFICATION_TYPES),
  /** What a click does; following `extra.href` is all there is. */
  action: v.literal('link'),
  read: v.boolean(),
  datetime: Timestamp,
  /** Font Awesome class names. */
  icon: v.string(),
  extra: object({ href: v.string() }),
})
export type Notification = v.InferOutput<typeof Notification>
