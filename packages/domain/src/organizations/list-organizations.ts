import * as v from 'valibot'
import { isPermitted, membershipsFor } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { type Page, pageEntries } from '../page.ts'
import { described, object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { list, ShortText } from '../values.ts'
import { Industry, type Organization, Sector } from './organization.ts'
import { ORGANIZATION_ORDER } from './organization-store.ts'

/** Page and filters of the list of organizations. */
export const OrganizationQuery = object({
  ...pageEntries(ORGANIZATION_ORDER, '-id'),
  name: v.optional(ShortText),
  editable: v.optional(
    described(v.boolean(), 'Only those whose basic information the caller may edit (`true`), or may not (`false`).'),
  ),
  owned: v.optional(described(v.boolean(), 'Only those that the caller owns (`true`), or does not (`false`).')),
  sectors: v.optional(list(Sector)),
  industries: v.optional(list(Industry)),
})

/**
 * Lists the organizations that the caller belongs to.
 *
 * @param input see `OrganizationQuery`.
 * @throws DomainError `invalid`.
 */
export async function listOrganizations(
  ports: Needs<'organizations' | 'members'>,
  caller: Caller,
  input: unknown = {},
): Promise<Page<Organization>> {
  const { limit, offset, order, editable, owned, ...filter } = parse(OrganizationQuery, input)
  const memberships = await membershipsFor(ports, caller)
  const ids = memberships
    .filter(({ organization: { id }, role }) => {
      return editable === undefined || isPermitted(caller, role, id, 'organization.edit') === editable
    })
    .filter(({ role }) => owned === undefined || (role === 'owner') === owned)
    .map(({ organization }) => organization.id)
  return ports.organizations.listActive(ids, filter, { limit, offset, order })
}
