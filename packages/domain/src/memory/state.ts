import type { Role } from '../access/policy.ts'
import type { NewAssessment } from '../assessments/assessment.ts'
import type { ChainRow } from '../audit/chain.ts'
import type { NewCloudDefense } from '../cloud-defenses/cloud-defense.ts'
import type { Tally } from '../counters/counter-store.ts'
import type { NewInvitation } from '../members/invitation-store.ts'
import type { User } from '../members/user.ts'
import type { NewNotification } from '../notifications/notification-store.ts'
import type { Organization, OrganizationSummary } from '../organizations/organization.ts'
import type { Document } from '../security-frameworks/document-store.ts'
import type { SecurityFramework } from '../security-frameworks/security-framework.ts'
import type { StoredThreatBlocker } from '../threat-blockers/threat-blocker.ts'
import type { ThreatFeed } from '../threat-feeds/threat-feed.ts'
import type { Token } from '../tokens/token-store.ts'
import type { Threat } from '../traffic/threat.ts'
import type { RequestCount } from '../traffic/traffic-store.ts'
import type { NewTrafficUpload } from '../traffic/traffic-upload.ts'
import type { VpnProfile } from '../vpn-profiles/vpn-profile.ts'

type Numbered = { id: number }
type Removable = { removed_at: string | null }
/** A record as it is stored: it names its organization by id. */
type Belonging<Entity> = Omit<Entity, 'organization'> & { organization: number }

/** `sealed` is null from the claim to the answer, which are one unit. */
export type AnswerRow = { sealed: Uint8Array | null; claimed_at: string }
export type OrganizationRow = Organization & Removable
export type MembershipRow = Numbered & Removable & { organization: number; user: string; role: Role }
export type InvitationRow = Numbered &
  Omit<NewInvitation, 'code'> & {
    /** Null once the mail is no longer owed. */
    code: string | null
    used_at: string | null
    replaced_at: string | null
    /** When the mail is to be tried next; a lease puts it off. */
    due_at: string
    attempts: number
    sent_at: string | null
    given_up_at: string | null
    error: string | null
  }
export type TokenRow = Token & {
  hash: string
  /** The secret before the last rotation, and until when it works; null for none. */
  previous_hash: string | null
  previous_expires_at: string | null
}
export type ThreatBlockerRow = Belonging<Omit<StoredThreatBlocker, 'last_upload_at' | 'has_vpn'>> & Removable
export type ThreatFeedRow = ThreatFeed & {
  /** Until when somebody refreshes it; null for nobody. */
  lease_until: string | null
}
export type ThreatRow = Threat & { threat_blocker: number }
export type TrafficUploadRow = Numbered &
  NewTrafficUpload & {
    found_later: number
    /** Of those, how many nobody was told of. */
    untold: number
    /** Until when somebody judges it again; null for nobody. */
    lease_until: string | null
  }
export type CloudDefenseRow = Numbered & NewCloudDefense
export type VpnProfileRow = Belonging<VpnProfile> & Removable
export type SecurityFrameworkRow = SecurityFramework & Removable & { organization: number; created_at: string }
export type AssessmentRow = Numbered & NewAssessment
export type NotificationRow = Numbered & NewNotification & { user: string; read: boolean }

/** Everything that is remembered. Rows are replaced, never edited, so that a copy of the maps is a copy of all. */
type Tables = {
  organizations: Map<number, OrganizationRow>
  users: Map<string, User>
  memberships: Map<number, MembershipRow>
  invitations: Map<number, InvitationRow>
  tokens: Map<number, TokenRow>
  threatBlockers: Map<number, ThreatBlockerRow>
  trafficUploads: Map<number, TrafficUploadRow>
  /** The slots of five minutes of each blocker, by their start, ascending. */
  trafficSlots: Map<number, RequestCount[]>
  threats: Map<number, ThreatRow>
  threatFeeds: Map<string, ThreatFeedRow>
  /** How often the snapshots that count have changed, and which of these times was the last that they gained entries. */
  threatFeedVersion: Map<'version' | 'gained', number>
  cloudDefenses: Map<number, CloudDefenseRow>
  vpnProfiles: Map<number, VpnProfileRow>
  securityFrameworks: Map<number, SecurityFrameworkRow>
  /** The due time told of last, by framework and control. */
  toldDue: Map<string, string>
  documents: Map<number, Document>
  assessments: Map<number, AssessmentRow>
  notifications: Map<number, NotificationRow>
  events: Map<number, ChainRow>
  answers: Map<string, AnswerRow>
  /** By name and start. */
  counters: Map<string, Tally>
}

export type State = Tables & {
  /** The next id of a table. As with a sequence in SQL, one that was given is never given again. */
  nextId(table: keyof Tables): number
}

export function emptyState(): State {
  const last = new Map<keyof Tables, number>()
  return {
    organizations: new Map(),
    users: new Map(),
    memberships: new Map(),
    invitations: new Map(),
    tokens: new Map(),
    threatBlockers: new Map(),
    trafficUploads: new Map(),
    trafficSlots: new Map(),
    threats: new Map(),
    threatFeeds: new Map(),
    threatFeedVersion: new Map(),
    cloudDefenses: new Map(),
    vpnProfiles: new Map(),
    securityFrameworks: new Map(),
    toldDue: new Map(),
    documents: new Map(),
    assessments: new Map(),
    notifications: new Map(),
    events: new Map(),
    answers: new Map(),
    counters: new Map(),
    nextId(table) {
      const id = (last.get(table) ?? 0) + 1
      last.set(table, id)
      return id
    },
  }
}

/** A copy to work on, which leaves the original as it is. */
export function draftOf({ nextId, ...tables }: State): State {
  const copies = Object.entries(tables).map(([name, rows]) => [name, new Map<unknown, unknown>(rows)])
  return { ...Object.fromEntries(copies), nextId }
}

/**
 * A copy as a store that keeps JSON text gives it, so that no caller can edit what is stored: fields that are undefined
 * are left out, as in an edit that does not name them.
 */
export function copy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value))
}

export function activeOrganization(state: State, id: number): OrganizationRow | undefined {
  const row = state.organizations.get(id)
  return row?.removed_at === null ? row : undefined
}

/** Whether a record stands: it is not removed, and neither is its organization. */
export function isActive(state: State, row: { organization: number; removed_at?: string | null }): boolean {
  return (row.removed_at ?? null) === null && activeOrganization(state, row.organization) !== undefined
}

export function summaryOf(state: State, id: number): OrganizationSummary {
  const row = state.organizations.get(id)
  if (!row) throw new Error(`There is no organization ${id}`)
  return { id, name: row.name, logo: row.logo }
}
