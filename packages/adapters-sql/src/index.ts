import type { DomainEvent, EventBus, Ports, Stores } from '@security-management/domain'
import type { Kysely } from 'kysely'
import { sqlAssessments } from './assessments.ts'
import { sqlCloudDefenses } from './cloud-defenses.ts'
import type { Database } from './database.ts'
import { sqlDocuments } from './documents.ts'
import { sqlEvents } from './events.ts'
import { sqlFiles } from './files.ts'
import { sqlInvitations } from './invitations.ts'
import { sqlMembers } from './members.ts'
import { sqlNotifications } from './notifications.ts'
import { sqlOrganizations } from './organizations.ts'
import type { Schema } from './schema.ts'
import { sqlSecurityFrameworks } from './security-frameworks.ts'
import { sqlThreatBlockers } from './threat-blockers.ts'
import { sqlThreatFeeds } from './threat-feeds.ts'
import { sqlTokens } from './tokens.ts'
import { sqlTraffic } from './traffic.ts'
import { sqlUsers } from './users.ts'
import { sqlVpnProfiles } from './vpn-profiles.ts'

export type { Database } from './database.ts'
export { type Migrated, migrate } from './migrate.ts'
export { openDatabase } from './open-database.ts'

/** The domain's ports on an open, migrated database: the stores, for reads; units of work; the bytes of documents. */
export function sqlPorts(database: Database, bus: EventBus): Stores & Pick<Ports, 'transact' | 'files' | 'bus'> {
  return {
    ...sqlStores(database.reader, () => {}),
    transact: (work) => transact(database, bus, work),
    files: sqlFiles(database),
    bus,
  }
}

async function transact<Result>(
  database: Database,
  bus: EventBus,
  work: (stores: Stores) => Promise<Result>,
): Promise<Result> {
  let events: DomainEvent[] = []
  const result = await database.unit((db) => {
    // Anew at each run, since a unit that was broken off is run again.
    events = []
    return work(sqlStores(db, (event) => events.push(event)))
  })
  for (const event of events) bus.emit('event', event)
  return result
}

function sqlStores(db: Kysely<Schema>, onEvent: (event: DomainEvent) => void): Stores {
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
    events: sqlEvents(db, onEvent),
  }
}
