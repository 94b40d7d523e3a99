import type { OrganizationSummary } from '@security-management/domain'
import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** Columns of the joined organization that records embed, apart from the record's own. */
export const SUMMARY = [
  'organization.id as organization_id',
  'organization.name as organization_name',
  'organization.logo as organization_logo',
] as const

/** The organization as a record embeds it. */
export function summaryOf(row: {
  organization_id: number
  organization_name: string
  organization_logo: string
}): OrganizationSummary {
  return { id: row.organization_id, name: row.organization_name, logo: row.organization_logo }
}

/** Ids of the organizations that are not removed: what a change to a record of theirs is limited to. */
export function activeOrganizations(db: Kysely<Schema>) {
  return db.selectFrom('organization').select('organization.id').where('organization.removed_at', 'is', null)
}
