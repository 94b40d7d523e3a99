import * as v from 'valibot'
import { object } from '../parse.ts'
import { EmailAddress, Label, Uuid } from '../values.ts'

/** Languages that the service writes to people in. */
export const LOCALES = ['en', 'it'] as const
/** A language that mails are written in. */
export type Locale = (typeof LOCALES)[number]

/** A person, registered once, whatever number of organizations they belong to. */
export const User = object({
  id: Uuid,
  username: Label,
  email: EmailAddress,
  first_name: Label,
  last_name: Label,
  locale: v.picklist(LOCALES),
})
export type User = v.InferOutput<typeof User>

/** What it takes to register a person; `username` defaults to the e-mail address, names to `""`. */
export const NewUser = object({
  email: EmailAddress,
  username: v.optional(Label),
  first_name: v.optional(Label, ''),
  last_name: v.optional(Label, ''),
  locale: v.optional(v.picklist(LOCALES), 'en'),
})
export type NewUser = v.InferOutput<typeof NewUser>
