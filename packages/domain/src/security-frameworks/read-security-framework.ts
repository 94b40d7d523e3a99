import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Needs } from '../ports.ts'
import { permitSecurityFramework, type SecurityFrameworkPath } from './find-security-framework.ts'
import type { SecurityFramework } from './security-framework.ts'

/**
 * Reads one framework association with its evidence.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function readSecurityFramework(
  ports: Needs<'securityFrameworks' | 'organizations' | 'members'>,
  caller: Caller,
  path: SecurityFrameworkPath,
): Promise<SecurityFramework> {
  await permitSecurityFramework(ports, caller, path, 'security_framework.read')
  const framework = await ports.securityFrameworks.findActive(path.organization, path.framework)
  if (!framework) throw new DomainError('not_found')
  return framework
}
