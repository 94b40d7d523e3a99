import type { Kysely } from 'kysely'

/** Indexes for what else reads all that a threat blocker, an organization or a person ever had. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A page of uploads, the last one first.
  await db.schema.createIndex('traffic_upload_id').on('traffic_upload').columns(['threat_blocker', 'id']).execute()
  // What is kept for an organization, by removed threat blockers as well.
  await db.schema.createIndex('threat_blocker_organization').on('threat_blocker').column('organization').execute()
  // What a person has not read.
  await db.schema.createIndex('notification_read').on('notification').columns(['user', 'read', 'id']).execute()
}
