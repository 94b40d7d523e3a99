import { authorizeOwn } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { creationOf, record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { NewOrganization } from './organization.ts'

/**
 * Creates an organization; the caller becomes its owner.
 *
 * @param input see `NewOrganization`; only `name` is required.
 * @returns id of the new organization, an integer >= 1.
 * @throws DomainError `forbidden` (a narrowed token), `invalid` (with the failing paths).
 */
export async function createOrganization(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  input: unknown,
): Promise<number> {
  authorizeOwn(caller, 'organization.create')
  const organization = parse(NewOrganization, input)
  return ports.transact(async (stores) => {
    const id = await stores.organizations.insert(organization)
    await stores.members.insert({ organization: id, user: caller.user, role: 'owner' })
    await record(ports, stores, caller, {
      type: 'organization.created',
      organization: id,
      record: id,
      changes: { ...creationOf(organization), owner: [undefined, caller.user] },
    })
    return id
  })
}
