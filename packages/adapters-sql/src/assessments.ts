import { type Assessment, type AssessmentStore, fold } from '@security-management/domain'
import type { Kysely } from 'kysely'
import { bytesOf, contains, numbers, pageOf } from './expressions.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

const findById = hot((db, id: number) => active(db).select('assessment.organization').where('assessment.id', '=', id))

export function sqlAssessments(db: Kysely<Schema>): AssessmentStore {
  return {
    async insert({ name, description, ...assessment }) {
      const { id } = await db
        .insertInto('assessment')
        .values({
          ...assessment,
          name: JSON.stringify(name),
          description: JSON.stringify(description),
          interviewed_user_folded: fold(assessment.interviewed_user),
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    },
    async findActive(id) {
      const [row] = await findById(db, id)
      return row && { assessment: toAssessment(row), organization: row.organization }
    },
    async listActive(organizations, { created_from, created_to, search }, page) {
      let query = active(db).where('assessment.organization', 'in', numbers(db, JSON.stringify(organizations)))
      if (created_from !== undefined) query = query.where('assessment.created_at', '>=', created_from)
      if (created_to !== undefined) query = query.where('assessment.created_at', '<=', created_to)
      if (search !== undefined) {
        const part = fold(search)
        query = query.where((is) =>
          is.or([
            contains(db, 'organization.name_folded', part),
            contains(db, 'assessment.interviewed_user_folded', part),
          ]),
        )
      }
      const columns = { id: 'assessment.id', created_at: 'assessment.created_at', score: 'assessment.score' }
      return pageOf(query, page, columns, toAssessment, bytesOf('assessment.name', 'assessment.description'))
    },
  }
}

function active(db: Kysely<Schema>) {
  return db
    .selectFrom('assessment')
    .innerJoin('organization', 'organization.id', 'assessment.organization')
    .where('organization.removed_at', 'is', null)
    .select(['assessment.id', 'assessment.created_at', 'assessment.score', 'assessment.name', 'assessment.description'])
}

function toAssessment(row: {
  id: number
  created_at: string
  score: number
  name: string
  description: string
}): Assessment {
  const { id, created_at, score } = row
  return { id, created_at, score, name: JSON.parse(row.name), description: JSON.parse(row.description) }
}
