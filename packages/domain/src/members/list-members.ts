import * as v from 'valibot'
import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { type Page, pageEntries } from '../page.ts'
import { object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { ShortText } from '../values.ts'
import { type Member, RoleName } from './member.ts'
import { MEMBER_ORDER } from './member-store.ts'

/** Page and filters of the list of an organization's members. */
export const MemberQuery = object({
  ...pageEntries(MEMBER_ORDER, 'username'),
  role: v.optional(RoleName),
  search: v.optional(ShortText),
})

/**
 * Lists the members of one organization.
 *
 * @param input see `MemberQuery`.
 * @throws DomainError `not_found`, `forbidden`, `invalid`.
 */
export async function listMembers(
  ports: Needs<'organizations' | 'members'>,
  caller: Caller,
  organization: number,
  input: unknown = {},
): Promise<Page<Member>> {
  await authorize(ports, caller, organization, 'member.list')
  const { limit, offset, order, ...filter } = parse(MemberQuery, input)
  return ports.members.listActive(organization, filter, { limit, offset, order })
}
