import type { AnswerStore } from './answers/answer-store.ts'
import type { AssessmentStore } from './assessments/assessment-store.ts'
import type { CloudDefenseStore } from './cloud-defenses/cloud-defense-store.ts'
import type { CounterStore } from './counters/counter-store.ts'
import type { EventBus, EventStore } from './events.ts'
import type { FileStore } from './files/file-store.ts'
import type { InvitationStore } from './members/invitation-store.ts'
import type { MemberStore } from './members/member-store.ts'
import type { UserStore } from './members/user-store.ts'
import type { NotificationStore } from './notifications/notification-store.ts'
import type { OrganizationStore } from './organizations/organization-store.ts'
import type { RemovedRecordStore } from './removed-records/removed-record-store.ts'
import type { DocumentStore } from './security-frameworks/document-store.ts'
import type { SecurityFrameworkStore } from './security-frameworks/security-framework-store.ts'
import type { ThreatBlockerStore } from './threat-blockers/threat-blocker-store.ts'
import type { ThreatFeedStore } from './threat-feeds/threat-feed-store.ts'
import type { TokenStore } from './tokens/token-store.ts'
import type { OpenTrafficReader } from './traffic/traffic-reader.ts'
import type { Judge } from './traffic/traffic-reading.ts'
import type { TrafficStore } from './traffic/traffic-store.ts'
import type { VpnProfileStore } from './vpn-profiles/vpn-profile-store.ts'

/** Everything that is remembered, one store a subject. */
export type Stores = {
  organizations: OrganizationStore
  users: UserStore
  members: MemberStore
  invitations: InvitationStore
  tokens: TokenStore
  threatBlockers: ThreatBlockerStore
  traffic: TrafficStore
  threatFeeds: ThreatFeedStore
  cloudDefenses: CloudDefenseStore
  vpnProfiles: VpnProfileStore
  securityFrameworks: SecurityFrameworkStore
  documents: DocumentStore
  assessments: AssessmentStore
  notifications: NotificationStore
  removedRecords: RemovedRecordStore
  events: EventStore
  answers: AnswerStore
  counters: CounterStore
}

/** A running SHA-256. Text is hashed as UTF-8. */
export type Sha256 = {
  update(data: Uint8Array | string): void
  /** 64 lower-case hexadecimal digits; ends the hash. */
  digest(): string
}

/** Shuts texts so that only who has the secret that it was made from can read them again. */
export type Seal = {
  /** 64 hexadecimal digits that tell the seal from others, and nothing of the secret. */
  id: string
  seal(text: string): Uint8Array
  /** @throws Error for bytes that were not sealed with it. */
  open(sealed: Uint8Array): string
}

/** Time, identity and randomness, so that a test can fix them. */
export type Surroundings = {
  now(): Date
  /** Resolves in another turn of the event loop, so that what came in meanwhile is not held up by work that takes long. */
  nextTurn(): Promise<void>
  /** A random UUID, version 4. */
  newUuid(): string
  /** Bytes that nobody can guess. */
  randomBytes(count: number): Uint8Array
  newSha256(): Sha256
  /** The seal that belongs to the secret, a text that nobody can guess, and to `name`: always the same one. */
  sealOf(secret: string, name: string): Seal
  /**
   * The content, compressed so that `decompress` gives it back; both throw what the content throws. Of the content a
   * piece is done with before the next one is asked for.
   */
  compress(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  decompress(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
}

/**
 * All that the use cases ask of the world. Each asks for `transact` or for named stores, never for both: a store from
 * outside, used inside `transact`, escapes the transaction.
 */
export type Ports = Stores &
  Surroundings & {
    /**
     * Runs `work` as one unit: all of its changes are kept once the promise resolves, none if it rejects. The stores it
     * receives belong to the unit. After the commit its events go to `bus`. `work` may be run again when the store asks
     * for it (a deadlock), so it changes nothing but stores.
     */
    transact<Result>(work: (stores: Stores) => Promise<Result>): Promise<Result>
    /** The bytes of documents and feeds, which are too many for a transaction. */
    files: FileStore
    /** What is wrong with the stores themselves, a line each. */
    integrity(): Promise<string[]>
    openTrafficReader: OpenTrafficReader
    /** What the present threat feeds find. */
    feeds(): Judge
    bus: EventBus
  }

/** The part of the ports that a use case asks for. */
export type Needs<Key extends keyof Ports> = Pick<Ports, Key>
