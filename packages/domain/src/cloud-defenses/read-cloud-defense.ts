import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Needs } from '../ports.ts'
import type { CloudDefense } from './cloud-defense.ts'

/**
 * Reads one cloud defense configuration.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function readCloudDefense(
  ports: Needs<'cloudDefenses' | 'organizations' | 'members'>,
  caller: Caller,
  id: number,
): Promise<CloudDefense> {
  const defense = await ports.cloudDefenses.findActive(id)
  if (!defense) throw new DomainError('not_found')
  await authorize(ports, caller, defense.organization.id, 'cloud_defense.read')
  return defense
}
