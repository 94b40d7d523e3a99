import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Needs } from '../ports.ts'
import type { Assessment } from './assessment.ts'

/**
 * Reads one assessment.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function readAssessment(
  ports: Needs<'assessments' | 'organizations' | 'members'>,
  caller: Caller,
  id: number,
): Promise<Assessment> {
  const found = await ports.assessments.findActive(id)
  if (!found) throw new DomainError('not_found')
  await authorize(ports, caller, found.organization, 'assessment.read')
  return found.assessment
}
