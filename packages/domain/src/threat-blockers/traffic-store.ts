import type { Page, PageRequest } from '../page.ts'
import type { NewTrafficUpload, TrafficUpload } from './traffic-upload.ts'

/** Fields that uploads can be ordered by. */
export const TRAFFIC_UPLOAD_ORDER = ['id', 'received'] as const

/** Requests counted in one unit of time: an hour or a UTC day, `start` in Unix seconds. */
export type RequestCount = { start: number; total: number; malicious: number }

/** What the charts of one blocker are drawn from, both oldest first. */
export type TrafficCounts = {
  /** The hours with traffic among the 24 that end with the newest one that has any. */
  hours: RequestCount[]
  /** The newest 30 days with traffic. */
  days: RequestCount[]
}

/** Uploaded traffic files of threat blockers, and the requests in them counted by the hour. */
export type TrafficStore = {
  /** Stores the upload and returns its id; undefined if the blocker has one of the same bytes. */
  insertUpload(upload: NewTrafficUpload): Promise<number | undefined>
  findUpload(threatBlocker: number, id: number): Promise<TrafficUpload | undefined>
  findUploadBySha256(threatBlocker: number, sha256: string): Promise<TrafficUpload | undefined>
  listUploads(
    threatBlocker: number,
    page: PageRequest<(typeof TRAFFIC_UPLOAD_ORDER)[number]>,
  ): Promise<Page<TrafficUpload>>
  /** Adds these counts to those of the blocker's hours, so that uploads at the same time add up. */
  addHours(threatBlocker: number, hours: RequestCount[]): Promise<void>
  /** Counts of each of these blockers that has any. */
  counts(threatBlockers: number[]): Promise<Map<number, TrafficCounts>>
}
