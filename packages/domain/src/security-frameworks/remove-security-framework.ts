import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { changesInParts, record } from '../events.ts'
import type { Needs } from '../ports.ts'
import { requireVersion } from '../version.ts'
import { partsOf } from './edit-security-framework.ts'
import { permitSecurityFramework, type SecurityFrameworkPath } from './find-security-framework.ts'
import type { SecurityFramework } from './security-framework.ts'

/**
 * Soft-removes a framework association.
 *
 * @param expected versions of which the association must be in one.
 * @returns the removed association.
 * @throws DomainError `not_found` (also when already removed), `forbidden`, `outdated`.
 */
export async function removeSecurityFramework(
  ports: Needs<'transact' | 'now' | 'newSha256' | 'nextTurn'>,
  caller: Caller,
  path: SecurityFrameworkPath,
  expected?: readonly string[],
): Promise<SecurityFramework> {
  return ports.transact(async (stores) => {
    const { organization, framework: id } = path
    await permitSecurityFramework(stores, caller, path, 'security_framework.remove')
    await stores.securityFrameworks.lock(organization, id)
    const framework = await stores.securityFrameworks.findActive(organization, id)
    if (framework) await requireVersion(ports, framework, expected)
    const removed = await stores.securityFrameworks.remove(organization, id, ports.now().toISOString())
    if (!framework || !removed) throw new DomainError('not_found')
    await record(ports, stores, caller, {
      type: 'security_framework.removed',
      organization,
      record: id,
      changes: await changesInParts(ports, partsOf(framework), {}),
      details: { title: framework.title },
    })
    return framework
  })
}
