import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'
import { permitSecurityFramework, type SecurityFrameworkPath } from './find-security-framework.ts'
import type { SecurityFramework } from './security-framework.ts'

/**
 * Soft-removes a framework association.
 *
 * @returns the removed association.
 * @throws DomainError `not_found` (also when already removed), `forbidden`.
 */
export async function removeSecurityFramework(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  path: SecurityFrameworkPath,
): Promise<SecurityFramework> {
  return ports.transact(async (stores) => {
    const { organization, framework: id } = path
    await permitSecurityFramework(stores, caller, path, 'security_framework.remove')
    const framework = await stores.securityFrameworks.findActive(organization, id)
    const removed = await stores.securityFrameworks.remove(organization, id, ports.now().toISOString())
    if (!framework || !removed) throw new DomainError('not_found')
    await record(ports, stores, caller, {
      type: 'security_framework.removed',
      organization,
      record: id,
      details: { title: framework.title },
    })
    return framework
  })
}
