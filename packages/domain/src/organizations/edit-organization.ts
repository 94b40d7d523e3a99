import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { changesBetween, record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { type Organization, OrganizationEdit } from './organization.ts'

/**
 * Edits an organization's basic information: what `input` names is replaced, the rest stays.
 *
 * @throws DomainError `not_found`, `forbidden`, `invalid` (with the failing paths).
 */
export async function editOrganization(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  id: number,
  input: unknown,
): Promise<Organization> {
  return ports.transact(async (stores) => {
    await authorize(stores, caller, id, 'organization.edit')
    const edit = parse(OrganizationEdit, input)
    await stores.organizations.lock(id)
    const before = await stores.organizations.findActive(id)
    const after = await stores.organizations.update(id, edit)
    if (!before || !after) throw new DomainError('not_found')
    const changes = changesBetween(before, after)
    await record(ports, stores, caller, { type: 'organization.edited', organization: id, record: id, changes })
    return after
  })
}
