import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { type Page, pageEntries } from '../page.ts'
import { object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import type { SecurityFramework } from './security-framework.ts'
import { SECURITY_FRAMEWORK_ORDER } from './security-framework-store.ts'

/** Page of the list of an organization's frameworks. */
export const SecurityFrameworkQuery = object(pageEntries(SECURITY_FRAMEWORK_ORDER, '-id'))

/**
 * Lists the framework associations of one organization.
 *
 * @param input see `SecurityFrameworkQuery`.
 * @throws DomainError `not_found`, `forbidden`, `invalid`.
 */
export async function listSecurityFrameworks(
  ports: Needs<'securityFrameworks' | 'organizations' | 'members'>,
  caller: Caller,
  organization: number,
  input: unknown = {},
): Promise<Page<SecurityFramework>> {
  await authorize(ports, caller, organization, 'security_framework.read')
  return ports.securityFrameworks.listActive(organization, parse(SecurityFrameworkQuery, input))
}
