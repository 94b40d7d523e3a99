import type { Needs } from '../ports.ts'
import { REMOVABLE_KINDS, type RemovableKind, type RemovedRecord } from './removed-record.ts'

/** Records that are read at a time. */
const PAGE = 500

/**
 * What is soft-removed, for the operator: by kind, then by id.
 *
 * @param before only what was removed before this time (ISO).
 */
export async function* listRemovedRecords(
  ports: Needs<'removedRecords'>,
  kinds: readonly RemovableKind[] = REMOVABLE_KINDS,
  before?: string,
): AsyncGenerator<RemovedRecord> {
  for (const kind of kinds) {
    for (let after = 0; ; ) {
      const range = { after, limit: PAGE, ...(before !== undefined && { before }) }
      const page = await ports.removedRecords.list(kind, range)
      yield* page
      const last = page.at(-1)
      if (!last) break
      after = last.id
    }
  }
}
