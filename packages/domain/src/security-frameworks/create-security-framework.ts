import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { changesInParts, record } from '../events.ts'
import { checkInParts, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { boundOfControls, partsOf } from './edit-security-framework.ts'
import { evidenceStamp, mergeControls } from './evidence.ts'
import { NewSecurityFramework, type SecurityFramework } from './security-framework.ts'

/**
 * Associates a security framework with an organization.
 *
 * @param input see `NewSecurityFramework`.
 * @returns the stored association.
 * @throws DomainError `not_found`, `forbidden`, `invalid` (with the failing paths; also past `MAX_CONTROLS_BYTES`).
 */
export async function createSecurityFramework(
  ports: Needs<'transact' | 'now' | 'nextTurn'>,
  caller: Caller,
  organization: number,
  input: unknown,
): Promise<SecurityFramework> {
  const checked = await checkInParts(ports, NewSecurityFramework, input)
  return ports.transact(async (stores) => {
    await authorize(stores, caller, organization, 'security_framework.create')
    const { title, security_frameworks: sent } = parse(NewSecurityFramework, checked)
    const stamp = await evidenceStamp(ports, stores, caller)
    const framework = { title, security_frameworks: await mergeControls(ports, [], sent, stamp) }
    const changes = await changesInParts(ports, {}, partsOf(framework), boundOfControls())
    const id = await stores.securityFrameworks.insert({ ...framework, organization, created_at: stamp.datetime })
    await record(ports, stores, caller, {
      type: 'security_framework.created',
      organization,
      record: id,
      changes,
      details: { title, controls: sent.length },
    })
    return { id, ...framework }
  })
}
