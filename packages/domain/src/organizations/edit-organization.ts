import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { changesBetween, record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { requireVersion } from '../version.ts'
import { type Organization, OrganizationEdit } from './organization.ts'

/**
 * Edits an organization's basic information: what `input` names is replaced, the rest stays.
 *
 * @param expected versions of which the organization must be in one.
 * @throws DomainError `not_found`, `forbidden`, `invalid` (with the failing paths), `outdated`.
 */
export async function editOrganization(
  ports: Needs<'transact' | 'now' | 'newSha256' | 'nextTurn'>,
  caller: Caller,
  id: number,
  input: unknown,
  expected?: readonly string[],
): Promise<Organization> {
  return ports.transact(async (stores) => {
    await authorize(stores, caller, id, 'organization.edit')
    const edit = parse(OrganizationEdit, input)
    await stores.organizations.lock(id)
    const before = await stores.organizations.findActive(id)
    if (!before) throw new DomainError('not_found')
    await requireVersion(ports, before, expected)
    const after = await stores.organizations.update(id, edit)
    if (!after) throw new DomainError('not_found')
    const changes = changesBetween(before, after)
    await record(ports, stores, caller, { type: 'organization.edited', organization: id, record: id, changes })
    return after
  })
}
