import type { Page, PageRequest } from '../page.ts'
import type { Assessment, NewAssessment } from './assessment.ts'

/** Fields that assessments can be ordered by. */
export const ASSESSMENT_ORDER = ['id', 'created_at', 'score'] as const

/** Which assessments a list holds; what is undefined does not narrow it. */
export type AssessmentFilter = {
  /** ISO 8601, UTC, inclusive. */
  created_from?: string | undefined
  created_to?: string | undefined
  /** Case-insensitive substring of the organization's or the interviewed person's name. */
  search?: string | undefined
}

/** Assessments of active organizations. */
export type AssessmentStore = {
  /** Stores the record and returns its new id (integer >= 1). */
  insert(assessment: NewAssessment): Promise<number>
  /** The record, and the organization it belongs to. */
  findActive(id: number): Promise<{ assessment: Assessment; organization: number } | undefined>
  /** Records of these organizations. `total` counts all matches, not the page; no ids match nothing. */
  listActive(
    organizations: number[],
    filter: AssessmentFilter,
    page: PageRequest<(typeof ASSESSMENT_ORDER)[number]>,
  ): Promise<Page<Assessment>>
}
