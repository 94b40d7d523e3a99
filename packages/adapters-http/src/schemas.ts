import { Count, Id, OrganizationSummary, object, RoleName, User, Uuid } from '@security-management/domain'
import * as v from 'valibot'

/** Answer of a list: `total` counts what matches the filter, `data` is the page. */
export function listOf<const Item extends v.GenericSchema>(item: Item) {
  return { total: Count, data: v.array(item) }
}

/** Which person of which organization: the answer of every change to a membership. */
export const MemberReference = object({ organization: Id, user: Uuid })

/** The caller, with their organizations and their role in each. */
export const Me = object({
  ...User.entries,
  organizations: v.array(object({ ...OrganizationSummary.entries, role: RoleName })),
})

/** A new token, shown this once, and whose it is. */
export const FirstToken = object({ user: Uuid, token: v.string() })

/** An attached document: its safe name, and where its bytes are. */
export const AttachedDocument = object({ file_name: v.string(), file_path: v.string() })

/** How many notifications were marked. */
export const Marked = object({ marked: Count })

const Messages = v.array(v.union([v.string(), v.number()]))

/** What is wrong in detail, on a 400; the path is written as in the request. */
export const Details = v.array(object({ path: v.string(), message: v.string() }))

/** Envelope of an operation that succeeded: these keys and no other. */
export function successOf<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject({ error: v.literal(0), messages: v.pipe(Messages, v.length(0)), ...entries })
}

/** Envelope of an operation that failed. */
export const Failure = v.strictObject({ error: v.literal(1), messages: Messages, details: v.optional(Details) })
