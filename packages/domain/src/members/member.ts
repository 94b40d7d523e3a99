import * as v from 'valibot'
import { ROLES } from '../access/policy.ts'
import { object } from '../parse.ts'
import { EmailAddress, Uuid } from '../values.ts'

/** One of `ROLES`. */
export const RoleName = v.picklist(ROLES)

/** A person as a member of one organization. */
export const Member = object({
  id: Uuid,
  username: v.string(),
  email: v.string(),
  first_name: v.string(),
  last_name: v.string(),
  role: RoleName,
})
export type Member = v.InferOutput<typeof Member>

/** Body of adding and of editing a member. `email` says who when the path does not; `role` see the use cases. */
export const MemberInput = object({ email: v.optional(EmailAddress), role: v.optional(RoleName) })
export type MemberInput = v.InferOutput<typeof MemberInput>

/** Who is meant: a registered person's UUID, or `'0'` for "the one with the e-mail address in the body". */
export const NOT_REGISTERED = '0'
/** A person in an organization: a UUID, or `0` for somebody who is not registered yet. */
export type MemberPath = { organization: number; user: string }

/** Answer of every change to a membership. */
export type MemberReference = MemberPath
