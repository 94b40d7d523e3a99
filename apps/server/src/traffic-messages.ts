import type { Judging, Problem, TrafficSummary } from '@security-management/domain'

/** What is said to the thread that reads traffic files. `reading` tells the files apart that it reads at a time. */
export type ToThread =
  | { reading: number; open: Judging }
  /** The first `length` bytes come next; the buffer changes hands. */
  | { reading: number; bytes: ArrayBuffer; length: number }
  | { reading: number; end: true }
  | { reading: number; abort: true }

/** What the thread says. */
export type FromThread =
  /** The bytes were read; the buffer comes back. */
  | { reading: number; read: ArrayBuffer }
  | { reading: number; summary: TrafficSummary }
  /** The file is none; nothing more is read of it. */
  | { reading: number; refused: readonly Problem[] }
  | { reading: number; failed: string }
