import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Needs } from '../ports.ts'
import type { Organization } from './organization.ts'

/**
 * Reads one organization that the caller belongs to.
 *
 * @throws DomainError `not_found`, `forbidden` (no member).
 */
export async function readOrganization(
  ports: Needs<'organizations' | 'members'>,
  caller: Caller,
  id: number,
): Promise<Organization> {
  await authorize(ports, caller, id, 'organization.read')
  const organization = await ports.organizations.findActive(id)
  if (!organization) throw new DomainError('not_found')
  return organization
}
