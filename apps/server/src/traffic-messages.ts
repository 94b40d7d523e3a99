import type { Judging, Problem, ThreatIndex, TrafficSummary } from '@security-management/domain'

/** What is said to the thread that reads traffic files. `reading` tells the files apart that it reads at a time. */
export type ToThread =
  /** What files that are opened from now on are judged by. Its memory is shared, not copied. */
  | { feeds: ThreatIndex }
  | { reading: number; open: Judging }
  /** The first `length` bytes of the shared buffer come next; it is not written to before they were read. */
  | { reading: number; bytes: SharedArrayBuffer; length: number }
  | { reading: number; end: true }
  | { reading: number; abort: true }

/** What the thread says. */
export type FromThread =
  /** The oldest buffer that was not read yet, was. */
  | { reading: number; read: true }
  | { reading: number; summary: PackedSummary }
  /** The file is none; nothing more is read of it. */
  | { reading: number; refused: readonly Problem[] }
  | { reading: number; failed: string }

/** A summary whose long lists are packed, see `packRows`. */
export type PackedSummary = Omit<TrafficSummary, 'slots' | 'threats'> & {
  slots: Uint8Array<ArrayBuffer>[]
  threats: Uint8Array<ArrayBuffer>[]
}
