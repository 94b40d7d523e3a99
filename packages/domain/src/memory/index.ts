import { createEventBus, type DomainEvent } from '../events.ts'
import type { Ports, Stores, Surroundings } from '../ports.ts'
import { readTrafficHere } from '../traffic/traffic-reader.ts'
import { NO_FEEDS } from '../traffic/traffic-reading.ts'
import { memoryAnswers } from './answers.ts'
import { memoryAssessments } from './assessments.ts'
import { memoryCloudDefenses } from './cloud-defenses.ts'
import { memoryCounters } from './counters.ts'
import { memoryDocuments } from './documents.ts'
import { memoryEvents, toEvent } from './events.ts'
import { memoryFiles } from './files.ts'
import { memoryInvitations } from './invitations.ts'
import { memoryMembers } from './members.ts'
import { memoryNotifications } from './notifications.ts'
import { memoryOrganizations } from './organizations.ts'
import { memoryRemovedRecords } from './removed-records.ts'
import { memorySecurityFrameworks } from './security-frameworks.ts'
import { draftOf, emptyState, type State } from './state.ts'
import { systemSurroundings } from './surroundings.ts'
import { memoryThreatBlockers } from './threat-blockers.ts'
import { memoryThreatFeeds } from './threat-feeds.ts'
import { memoryTokens } from './tokens.ts'
import { memoryTraffic } from './traffic.ts'
import { memoryUsers } from './users.ts'
import { memoryVpnProfiles } from './vpn-profiles.ts'

export { systemSurroundings }

/** All ports, in memory. `published` holds the events of every committed unit of work, in order. */
export type MemoryPorts = Ports & { published: DomainEvent[] }

/** Every port in the memory of this process, complete and empty. `options` stand in for the clock, ids and randomness. */
export function memoryPorts(options: Partial<Pick<Surroundings, 'now' | 'newUuid' | 'randomBytes'>> = {}): MemoryPorts {
  const state = emptyState()
  const surroundings = { ...systemSurroundings(), ...options }
  const bus = createEventBus()
  const published: DomainEvent[] = []
  let lastUnit: Promise<unknown> = Promise.resolve()

  async function run<Result>(work: (stores: Stores) => Promise<Result>): Promise<Result> {
    const draft = draftOf(state)
    const result = await work(memoryStores(draft))
    const events = [...draft.events.values()].slice(state.events.size).map(toEvent)
    Object.assign(state, draft)
    published.push(...events)
    for (const event of events) bus.emit('event', event)
    return result
  }

  return {
    ...memoryStores(state),
    ...surroundings,
    files: memoryFiles(surroundings, state),
    integrity: async () => [],
    openTrafficReader: readTrafficHere(surroundings.newSha256),
    feeds: () => NO_FEEDS,
    bus,
    published,
    transact(work) {
      const unit = lastUnit.then(() => run(work))
      lastUnit = unit.catch(() => {})
      return unit
    },
  }
}

function memoryStores(state: State): Stores {
  return {
    organizations: memoryOrganizations(state),
    users: memoryUsers(state),
    members: memoryMembers(state),
    invitations: memoryInvitations(state),
    tokens: memoryTokens(state),
    threatBlockers: memoryThreatBlockers(state),
    traffic: memoryTraffic(state),
    threatFeeds: memoryThreatFeeds(state),
    cloudDefenses: memoryCloudDefenses(state),
    vpnProfiles: memoryVpnProfiles(state),
    securityFrameworks: memorySecurityFrameworks(state),
    documents: memoryDocuments(state),
    assessments: memoryAssessments(state),
    notifications: memoryNotifications(state),
    removedRecords: memoryRemovedRecords(state),
    events: memoryEvents(state),
    answers: memoryAnswers(state),
    counters: memoryCounters(state),
  }
}
