import type { DomainEvent } from '@security-management/domain'

/** The variable that tells a worker which of several it is, from 1 up. One that takes its place has the same number. */
export const WORKER = 'SECURITY_MANAGEMENT_WORKER'

/** What is said to a worker. */
export type ToWorker = { stop: true } | { id: number; ask: 'checks' | 'snapshot' }

/** What a worker says. */
export type FromWorker =
  /** It serves, here. */
  | { address: string }
  /** It cannot serve, for this reason in one line, and ends. */
  | { failed: string }
  /** Something was committed that wakes what runs in the primary process. */
  | { event: DomainEvent }
  | { id: number; answer: unknown }
