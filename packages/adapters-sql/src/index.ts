import type { DomainEvent, EventBus, Ports, Stores } from '@security-management/domain'
import type { Kysely } from 'kysely'
import { sqlAnswers } from './answers.ts'
import { sqlAssessments } from './assessments.ts'
import { sqlCloudDefenses } from './cloud-defenses.ts'
import { sqlCounters } from './counters.ts'
import type { Database } from './database.ts'
import { sqlDocuments } from './documents.ts'
import { createTrail, sqlEvents, type Trail } from './events.ts'
import { sqlFiles } from './files.ts'
import { integrity } from './integrity.ts'
import { sqlInvitations } from './invitations.ts'
import { sqlMembers } from './members.ts'
import { sqlNotifications } from './notifications.ts'
import { sqlOrganizations } from './organizations.ts'
import { sqlRemovedRecords } from './removed-records.ts'
import type { Schema } from './schema.ts'
import { sqlSecurityFrameworks } from './security-frameworks.ts'
import { sqlThreatBlockers } from './threat-blockers.ts'
import { sqlThreatFeeds } from './threat-feeds.ts'
import { sqlTokens } from './tokens.ts'
import { sqlTraffic } from './traffic.ts'
import { sqlUsers } from './users.ts'
import { sqlVpnProfiles } from './vpn-profiles.ts'

export { backUpSqlite, restoreSqlite } from './backup.ts'
export type { Database, OnTimed } from './database.ts'
export { type Migrated, migrate, type SchemaState, schemaStateOf } from './migrate.ts'
export { openDatabase, sqliteFileOf } from './open-database.ts'

/** The domain's ports on an open, migrated database: the stores, for reads; units of work; the bytes of documents. */
export function sqlPorts(
  database: Database,
  bus: EventBus,
): Stores & Pick<Ports, 'transact' | 'files' | 'integrity' | 'bus'> {
  return {
    ...sqlStores(database.reader),
    transact: (work) => transact(database, bus, work),
    files: sqlFiles(database),
    integrity: () => integrity(database),
    bus,
  }
}

async function transact<Result>(
  database: Database,
  bus: EventBus,
  work: (stores: Stores) => Promise<Result>,
): Promise<Result> {
  let events: DomainEvent[] = []
  const result = await database.unit(async (db) => {
    // Anew at each run, since a unit that was broken off is run again.
    const trail = createTrail(db)
    events = trail.events
    const done = await work(sqlStores(db, trail))
    await trail.write()
    return done
  })
  if (events.length > 0) await database.settle?.()
  for (const event of events) bus.emit('event', event)
  return result
}

function sqlStores(db: Kysely<Schema>, trail?: Trail): Stores {
  return {
    organizations: sqlOrganizations(db),
    users: sqlUsers(db),
    members: sqlMembers(db),
    invitations: sqlInvitations(db),
    tokens: sqlTokens(db),
    threatBlockers: sqlThreatBlockers(db),
    traffic: sqlTraffic(db),
    threatFeeds: sqlThreatFeeds(db),
    cloudDefenses: sqlCloudDefenses(db),
    vpnProfiles: sqlVpnProfiles(db),
    securityFrameworks: sqlSecurityFrameworks(db),
    documents: sqlDocuments(db),
    assessments: sqlAssessments(db),
    notifications: sqlNotifications(db),
    answers: sqlAnswers(db),
    counters: sqlCounters(db),
    removedRecords: sqlRemovedRecords(db),
    events: sqlEvents(db, trail),
  }
}
