import type { RemovableKind, RemovedRecord } from './removed-record.ts'

/** What went with one step of a purge. */
export type Purged = {
  /** Whether the record itself is gone, and with it everything that hung on it. */
  isDone: boolean
  /** Rows that went in this step, by what they were. */
  counts: { [what: string]: number }
  /** Numbers of the files that nothing names any more, to be discarded once the step is kept. */
  files: number[]
}

/** What is soft-removed, of every kind: for the operator, who alone sees it. */
export type RemovedRecordStore = {
  /** By id, those after `after`; with `before` (ISO), only those removed before that. */
  list(kind: RemovableKind, range: { after: number; limit: number; before?: string }): Promise<RemovedRecord[]>
  find(kind: RemovableKind, id: number): Promise<RemovedRecord | undefined>
  /** Undoes the removal; false if the record is not there, or not removed any more. */
  restore(kind: RemovableKind, id: number): Promise<boolean>
  /**
   * Erases a record that was removed before `before` (ISO), with everything that hangs on it and whatever its own state:
   * about `limit` rows at a time, what hangs on others first, the record itself last. Undefined if it is not there, or
   * not removed.
   */
  purge(kind: RemovableKind, id: number, before: string, limit: number): Promise<Purged | undefined>
}
