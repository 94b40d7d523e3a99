import type { Kysely } from 'kysely'
import { activeOrganizations } from './organization-summary.ts'
import type { Schema } from './schema.ts'

/**
 * Marks a record of an active organization as removed at `at`; false if it is not there, or was removed before. One
 * statement, so that of several callers at once one removes it.
 */
export async function softRemove(
  db: Kysely<Schema>,
  table: 'threat_blocker' | 'vpn_profile',
  id: number,
  at: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    // The columns that are named here are those that both tables have.
    .updateTable(table as 'vpn_profile')
    .set({ removed_at: at })
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .where('organization', 'in', activeOrganizations(db))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
