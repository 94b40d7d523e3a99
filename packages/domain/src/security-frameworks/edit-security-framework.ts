import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import { changesInParts, record } from '../events.ts'
import { utf8Length } from '../json-text.ts'
import { checkInParts, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { requireVersion } from '../version.ts'
import { evidenceStamp, mergeControls } from './evidence.ts'
import { permitSecurityFramework, type SecurityFrameworkPath } from './find-security-framework.ts'
import { requireStorable, type SecurityFramework, SecurityFrameworkEdit } from './security-framework.ts'

/**
 * Edits a framework association: `title` and `security_frameworks` are replaced where `input` names them. Evidence that
 * is left out is kept in the audit trail.
 *
 * @param expected versions of which the association must be in one.
 * @returns the stored association with its evidence.
 * @throws DomainError `not_found`, `forbidden`, `invalid` (with the failing paths; also past `MAX_CONTROLS_BYTES`),
 *   `outdated`.
 */
export async function editSecurityFramework(
  ports: Needs<'transact' | 'now' | 'nextTurn' | 'newSha256' | 'nextTurn'>,
  caller: Caller,
  path: SecurityFrameworkPath,
  input: unknown,
  expected?: readonly string[],
): Promise<SecurityFramework> {
  const checked = await checkInParts(ports, SecurityFrameworkEdit, input)
  return ports.transact(async (stores) => {
    const { organization, framework: id } = path
    await permitSecurityFramework(stores, caller, path, 'security_framework.edit')
    const edit = parse(SecurityFrameworkEdit, checked)
    await stores.securityFrameworks.lock(organization, id)
    const before = await stores.securityFrameworks.findActive(organization, id)
    if (!before) throw new DomainError('not_found')
    await requireVersion(ports, before, expected)
    const after: SecurityFramework = { ...before, title: edit.title ?? before.title }
    if (edit.security_frameworks) {
      const stamp = await evidenceStamp(ports, stores, caller)
      after.security_frameworks = await mergeControls(
        ports,
        before.security_frameworks,
        edit.security_frameworks,
        stamp,
      )
    }
    const bound = edit.security_frameworks && boundOfControls()
    const changes = await changesInParts(ports, partsOf(before), partsOf(after), bound)
    await stores.securityFrameworks.update(after)
    await record(ports, stores, caller, {
      type: 'security_framework.edited',
      organization,
      record: id,
      changes,
    })
    return after
  })
}

/** What the audit trail tells apart of a framework: its title, and each control, under `control:ID`. */
export function partsOf({ title, security_frameworks }: Omit<SecurityFramework, 'id'>): { [part: string]: unknown } {
  return { title, ...Object.fromEntries(security_frameworks.map((control) => [`control:${control.id}`, control])) }
}

/** Adds up the controls among the parts of a framework as they are written, and refuses them past `MAX_CONTROLS_BYTES`. */
export function boundOfControls(): (part: string, piece: string) => void {
  let bytes = 0
  return (part, piece) => {
    if (part === 'title') return
    bytes += utf8Length(piece)
    requireStorable(bytes)
  }
}
