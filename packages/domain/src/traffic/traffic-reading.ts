import type { Address } from './line-addresses.ts'
import type { TrafficShape } from './traffic-scanner.ts'

/** Length of the shortest unit of time that requests are counted by, in seconds. */
export const SLOT = 300

/** Stands for the values that are too many to be told apart. */
export const MANY = '*'

/** Where in the feeds something was found; -1 for nowhere. */
export type Judge = {
  /** Of the feeds, see `ThreatFeedStore`. */
  version: number
  address(address: Address): number
  /** @param host in lower case; its first `length` bytes. */
  host(host: Uint8Array, length: number): number
  /** What a number of the two above stands for. */
  explain(finding: number): Finding
}

/** Finds nothing: where there are no feeds, or the service that uses them is off. */
export const NO_FEEDS: Judge = {
  version: 0,
  address: () => -1,
  host: () => -1,
  explain() {
    throw new RangeError('Nothing was found')
  },
}

/** The entry of a threat feed that speaks against an address or a host. */
export type Finding = { feed: string; snapshot: number; entry: string }

/** Requests counted in one slot, `start` in Unix seconds. */
export type SlotCount = { start: number; total: number; malicious: number }

/** Malicious requests of one file that have their source, or host, and their reason in common. */
export type ThreatCount = {
  /** What was found: the client's address, the host that was asked for, or the log's own verdict. */
  kind: 'address' | 'host' | 'verdict'
  /** The source address, or the host; of a verdict the source address, `""` where the line has none. */
  value: string
  /** The feed, its snapshot and the entry that matched; null for a verdict. */
  finding: Finding | null
  /** The log's own verdict; null for a finding. */
  verdict: string | null
  requests: number
  /** Milliseconds since 1970. */
  first_seen: number
  last_seen: number
}

/** A line that could not be read. `line` counts from 1, in rows the blank ones too; `field` is what was missing or wrong, `""` for the line itself. */
export type RejectedLine = { line: number; field: string; reason: string }

/** Which lines of a file are malicious, and what was asked to know it. */
export type Judgement = {
  /** Of the feeds, see `ThreatFeedStore`. */
  version: number
  /** Marks on the malicious lines, rejected ones counted along, see `LineMarks`. */
  malicious_lines: Uint8Array
}

/** What was read of a whole file. */
export type TrafficSummary = {
  shape: TrafficShape
  lines: number
  accepted: number
  rejected: number
  malicious: number
  /** Earliest and latest time of an accepted line, milliseconds since 1970; null where none was accepted. */
  from: number | null
  to: number | null
  /** The first 20. */
  rejects: RejectedLine[]
  /** By their start. */
  slots: SlotCount[]
  /** By what they are told apart by, see `byKey`. */
  threats: ThreatCount[]
  /** What speaks against the most requests; null where nothing does. */
  strongest: ThreatCount | null
  judgement: Judgement
}

/** Reads one traffic file. */
export type TrafficReading = {
  /** @throws DomainError `invalid` when the file is none. */
  push(bytes: Uint8Array): void
  /** @throws DomainError `invalid` when the file is none. */
  end(): TrafficSummary
}

/**
 * Begins to read a traffic file, judging its lines by what they say themselves and by what `judge` finds.
 *
 * @param known marks on the lines that were found to be malicious when the file was read before, see `LineMarks`: they are
 *   not found again, so what the summary counts as malicious is new.
 */
export type CreateTrafficReading = (judge: Judge, known?: Uint8Array) => TrafficReading
