import * as v from 'valibot'
import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import type { Action } from '../access/policy.ts'
import { DomainError } from '../errors.ts'
import type { Stores } from '../ports.ts'
import { type Control, ControlId } from './security-framework.ts'

/** Names a framework of an organization. */
export type SecurityFrameworkPath = { organization: number; framework: number }

/** Names a control of a framework. */
export type ControlPath = SecurityFrameworkPath & { control: string }

type Reads = Pick<Stores, 'securityFrameworks' | 'organizations' | 'members'>

/**
 * What can be refused of a framework before a body is read: it exists, and the caller may perform the action on it.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function permitSecurityFramework(
  stores: Reads,
  caller: Caller,
  { organization, framework }: SecurityFrameworkPath,
  action: Action,
): Promise<void> {
  if (!(await stores.securityFrameworks.isActive(organization, framework))) throw new DomainError('not_found')
  await authorize(stores, caller, organization, action)
}

/**
 * Finds a control on which the caller may perform the action.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function findControl(stores: Reads, caller: Caller, path: ControlPath, action: Action): Promise<Control> {
  // A text that is no control id (NUL, for instance) is one that not every store can look for.
  const control = v.is(ControlId, path.control)
    ? await stores.securityFrameworks.findControl(path.organization, path.framework, path.control)
    : undefined
  if (!control) throw new DomainError('not_found')
  await authorize(stores, caller, path.organization, action)
  return control
}
