import type { Migration } from 'kysely/migration'
import * as organizations from './0001-organizations.ts'
import * as people from './0002-people.ts'
import * as threatBlockers from './0003-threat-blockers.ts'
import * as securityFrameworks from './0004-security-frameworks.ts'
import * as assessmentsAndMessages from './0005-assessments-and-messages.ts'
import * as threatFeeds from './0006-threat-feeds.ts'
import * as traffic from './0007-traffic.ts'
import * as foundLater from './0008-found-later.ts'
import * as tokens from './0009-tokens.ts'
import * as audit from './0010-audit.ts'
import * as limits from './0011-limits.ts'
import * as lastCompleted from './0012-last-completed.ts'
import * as chunksAsTheyAre from './0013-chunks-as-they-are.ts'
import * as trafficSums from './0014-traffic-sums.ts'
import * as foundByIndex from './0015-found-by-index.ts'

/** Every migration, by name, in order. One that has landed is never edited; a change is a new one. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-organizations': organizations,
  '0002-people': people,
  '0003-threat-blockers': threatBlockers,
  '0004-security-frameworks': securityFrameworks,
  '0005-assessments-and-messages': assessmentsAndMessages,
  '0006-threat-feeds': threatFeeds,
  '0007-traffic': traffic,
  '0008-found-later': foundLater,
  '0009-tokens': tokens,
  '0010-audit': audit,
  '0011-limits': limits,
  '0012-last-completed': lastCompleted,
  '0013-chunks-as-they-are': chunksAsTheyAre,
  '0014-traffic-sums': trafficSums,
  '0015-found-by-index': foundByIndex,
}
