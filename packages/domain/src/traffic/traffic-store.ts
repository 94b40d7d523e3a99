import type { Page, PageRequest } from '../page.ts'
import type { NewThreat, Threat } from './threat.ts'
import type { Judgement, SlotCount } from './traffic-reading.ts'
import type { NewTrafficUpload, OutdatedUpload, RawTraffic, TrafficUpload } from './traffic-upload.ts'

/** Fields that uploads can be ordered by. */
export const TRAFFIC_UPLOAD_ORDER = ['id', 'received'] as const
/** Fields that threats can be ordered by. */
export const THREAT_ORDER = ['id', 'value', 'requests', 'first_seen', 'last_seen'] as const

/** Requests counted in one unit of time; `found_later` are those of the malicious that were not known as such at first. */
export type RequestCount = SlotCount & { found_later: number }

/** What the charts of one blocker are drawn from, both oldest first. */
export type TrafficCounts = {
  /** The hours with traffic among the 24 that end with the newest one that has any. */
  hours: SlotCount[]
  /** The newest 30 days with traffic. */
  days: SlotCount[]
}

/** Requests of one organization, in so many uploads, that were found to be malicious after they had been counted. */
export type FoundLater = { organization: number; uploads: number; requests: number }

/** Which threats a list holds; what is undefined does not narrow it. */
export type ThreatFilter = {
  kind?: Threat['kind'] | undefined
  /** Only those seen at or after this time, and at or before that one (ISO). */
  from?: string | undefined
  to?: string | undefined
}

/** Uploaded traffic files of threat blockers, the requests in them counted by five minutes, and what was malicious. */
export type TrafficStore = {
  /** Stores the upload and returns its id; undefined if the blocker has one of the same bytes. */
  insertUpload(upload: NewTrafficUpload): Promise<number | undefined>
  findUpload(threatBlocker: number, id: number): Promise<TrafficUpload | undefined>
  findUploadBySha256(threatBlocker: number, sha256: string): Promise<TrafficUpload | undefined>
  listUploads(
    threatBlocker: number,
    page: PageRequest<(typeof TRAFFIC_UPLOAD_ORDER)[number]>,
  ): Promise<Page<TrafficUpload>>
  /** Where the bytes of the upload are; undefined if they are not kept any more, or there is no such upload. */
  findRaw(threatBlocker: number, id: number): Promise<RawTraffic | undefined>
  /** Bytes that are kept, compressed, of all uploads of the organization, those of removed blockers included. */
  rawSizeOf(organization: number): Promise<number>
  /** Gives up the bytes of the uploads received before `before` (ISO), whose files nobody names then. */
  forgetRaw(before: string): Promise<void>
  /**
   * Whether there is anything for `leaseOutdated` or `takeFoundLater` to take; cheap to ask for. The parameters are those
   * of both.
   */
  hasOutdated(version: number, since: string, now: string): Promise<boolean>
  /**
   * Takes an upload of an active blocker, so that nobody else judges it until `leaseUntil`: the one received last of those
   * whose bytes are kept, that came at or after `since`, that were judged by feeds older than `version`, and that nobody
   * has at `now`. Undefined for none.
   */
  leaseOutdated(version: number, since: string, now: string, leaseUntil: string): Promise<OutdatedUpload | undefined>
  /**
   * Ends the lease that runs until `leaseUntil`: the upload is judged anew, and has `found` more malicious requests, which
   * nobody was told of; false, and nothing changed, if the lease is lost.
   */
  finishJudging(upload: number, leaseUntil: string, judgement: Judgement, found: number): Promise<boolean>
  /**
   * Takes what was found later, and nobody was told of, in an active organization that has no upload left to judge by
   * `version`, so that it is told once; undefined for none.
   */
  takeFoundLater(version: number, since: string): Promise<FoundLater | undefined>
  /**
   * Adds these counts to those of the blocker's slots of five minutes, and to what is summed up of them, so that uploads at
   * the same time add up. No two are of the same slot. Where they are many, they come in the order of `TrafficSummary`, so
   * that additions at the same time do not wait for each other.
   */
  addSlots(threatBlocker: number, slots: Iterable<RequestCount>): Promise<void>
  /** Counts of each of these blockers that has any. */
  counts(threatBlockers: number[]): Promise<Map<number, TrafficCounts>>
  /**
   * The requests of these blockers together, by units of `seconds` (a multiple of 300) that begin at a multiple of it,
   * from `from` to before `to` (Unix seconds, multiples, too); units without traffic are left out. Oldest first.
   */
  statistics(threatBlockers: number[], from: number, to: number, seconds: number): Promise<RequestCount[]>
  /** Adds to the threats of the blocker, which keep their first and last time and the newest snapshot; in order, as above. */
  addThreats(threatBlocker: number, threats: Iterable<NewThreat>): Promise<void>
  listThreats(
    threatBlocker: number,
    filter: ThreatFilter,
    page: PageRequest<(typeof THREAT_ORDER)[number]>,
  ): Promise<Page<Threat>>
}
