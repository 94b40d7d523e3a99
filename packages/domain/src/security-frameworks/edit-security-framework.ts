import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { type Changes, changesBetween, record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { evidenceStamp, mergeControls } from './evidence.ts'
import { permitSecurityFramework, type SecurityFrameworkPath } from './find-security-framework.ts'
import { type Control, type SecurityFramework, SecurityFrameworkEdit } from './security-framework.ts'

/**
 * Edits a framework association: `title` and `security_frameworks` are replaced where `input` names them. Evidence that
 * is left out is kept in the audit trail.
 *
 * @returns the stored association with its evidence.
 * @throws DomainError `not_found`, `forbidden`, `invalid` (with the failing paths).
 */
export async function editSecurityFramework(
  ports: Needs<'transact' | 'now'>,
  caller: Caller,
  path: SecurityFrameworkPath,
  input: unknown,
): Promise<SecurityFramework> {
  return ports.transact(async (stores) => {
    const { organization, framework: id } = path
    await permitSecurityFramework(stores, caller, path, 'security_framework.edit')
    const edit = parse(SecurityFrameworkEdit, input)
    await stores.securityFrameworks.lock(organization, id)
    const before = await stores.securityFrameworks.findActive(organization, id)
    if (!before) throw new DomainError('not_found')
    const after: SecurityFramework = { ...before, title: edit.title ?? before.title }
    if (edit.security_frameworks) {
      const stamp = await evidenceStamp(ports, stores, caller)
      after.security_frameworks = mergeControls(before.security_frameworks, edit.security_frameworks, stamp)
    }
    await stores.securityFrameworks.update(after)
    await record(ports, stores, caller, {
      type: 'security_framework.edited',
      organization,
      record: id,
      changes: { ...changesBetween({ title: before.title }, { title: after.title }), ...controlChanges(before, after) },
    })
    return after
  })
}

/** The controls that differ, old and new, under `control:ID`. */
function controlChanges(before: SecurityFramework, after: SecurityFramework): Changes {
  return changesBetween(byId(before.security_frameworks), byId(after.security_frameworks))
}

function byId(controls: Control[]): { [id: string]: Control } {
  return Object.fromEntries(controls.map((control) => [`control:${control.id}`, control]))
}
