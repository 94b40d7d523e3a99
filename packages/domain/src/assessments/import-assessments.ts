import { OPERATOR } from '../access/caller.ts'
import { creationOf, record } from '../events.ts'
import { importRecords, type OnProgress } from '../import-records.ts'
import type { Needs } from '../ports.ts'
import { ImportedAssessment } from './assessment.ts'

/**
 * Takes in the operator's file of assessments, all or nothing.
 *
 * @param input an array of `ImportedAssessment`.
 * @returns how many were stored.
 * @throws DomainError `invalid`, with the index and path of each wrong record.
 */
export async function importAssessments(
  ports: Needs<'transact' | 'now'>,
  input: unknown,
  onProgress?: OnProgress,
): Promise<number> {
  return ports.transact((stores) =>
    importRecords(
      stores,
      ImportedAssessment,
      input,
      async ({ created_at = ports.now().toISOString(), ...assessment }) => {
        const stored = { ...assessment, created_at }
        const id = await stores.assessments.insert(stored)
        await record(ports, stores, OPERATOR, {
          type: 'assessment.imported',
          organization: assessment.organization,
          record: id,
          changes: creationOf(stored),
          details: { name: assessment.name.en, score: assessment.score },
        })
      },
      onProgress,
    ),
  )
}
