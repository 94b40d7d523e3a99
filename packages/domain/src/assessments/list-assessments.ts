import * as v from 'valibot'
import { organizationsFor } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { type Page, pageEntries } from '../page.ts'
import { object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { Id, parseTime, ShortText } from '../values.ts'
import type { Assessment } from './assessment.ts'
import { ASSESSMENT_ORDER } from './assessment-store.ts'

const DAY = 24 * 60 * 60 * 1000

/** A bound of a period: a timestamp, or a date, which as the end of a period means all of that day. */
function bound(side: 'from' | 'to') {
  return v.pipe(
    v.string(),
    v.check((value) => parseTime(value) !== undefined, 'Must be an ISO 8601 date or timestamp'),
    v.transform((value) => {
      const time = parseTime(value) ?? 0
      return new Date(side === 'to' && value.length === 10 ? time + DAY - 1 : time).toISOString()
    }),
  )
}

/** Page and filters of the list of assessments. */
export const AssessmentQuery = object({
  ...pageEntries(ASSESSMENT_ORDER, '-id'),
  created_from: v.optional(bound('from')),
  created_to: v.optional(bound('to')),
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
