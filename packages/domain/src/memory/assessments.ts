import type { Assessment } from '../assessments/assessment.ts'
import type { AssessmentStore } from '../assessments/assessment-store.ts'
import { fold } from '../values.ts'
import { bytesOf, pageOf } from './page-of.ts'
import { type AssessmentRow, copy, isActive, type State, summaryOf } from './state.ts'

export function memoryAssessments(state: State): AssessmentStore {
  return {
    async insert(assessment) {
      const id = state.nextId('assessments')
      state.assessments.set(id, copy({ id, ...assessment }))
      return id
    },

    async findActive(id) {
      const row = state.assessments.get(id)
      if (!row || !isActive(state, row)) return undefined
      return { assessment: toAssessment(row), organization: row.organization }
    },

    async listActive(organizations, { created_from, created_to, search }, page) {
      const rows = [...state.assessments.values()]
        .filter((row) => organizations.includes(row.organization) && isActive(state, row))
        .filter((row) => created_from === undefined || row.created_at >= created_from)
        .filter((row) => created_to === undefined || row.created_at <= created_to)
        .filter((row) => search === undefined || matches(state, row, search))
      const { total, data } = pageOf(rows, page, ({ name, description }) => bytesOf(name, description))
      return { total, data: data.map(toAssessment) }
    },
  }
}

function matches(state: State, row: AssessmentRow, search: string): boolean {
  const texts = [summaryOf(state, row.organization).name, row.interviewed_user]
  return texts.some((text) => fold(text).includes(fold(search)))
}

function toAssessment({
  organization: _organization,
  interviewed_user: _user,
  ...assessment
}: AssessmentRow): Assessment {
  return copy(assessment)
}
