import * as v from 'valibot'
import { organizationsFor } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { type Page, pageEntries } from '../page.ts'
import { object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { Id, periodEntries, ShortText } from '../values.ts'
import type { Assessment } from './assessment.ts'
import { ASSESSMENT_ORDER } from './assessment-store.ts'

/** Page and filters of the list of assessments. */
export const AssessmentQuery = object({
  ...pageEntries(ASSESSMENT_ORDER, '-id'),
  ...periodEntries('created_from', 'created_to'),
  search: v.optional(ShortText),
  organization: v.optional(Id),
})

/**
 * Lists the assessments of the organizations that the caller belongs to.
 *
 * @param input see `AssessmentQuery`.
 * @throws DomainError `invalid`.
 */
export async function listAssessments(
  ports: Needs<'assessments' | 'members'>,
  caller: Caller,
  input: unknown = {},
): Promise<Page<Assessment>> {
  const { limit, offset, order, organization, ...filter } = parse(AssessmentQuery, input)
  const organizations = await organizationsFor(ports, caller, 'assessment.read', organization)
  return ports.assessments.listActive(organizations, filter, { limit, offset, order })
}
