import type { Needs, Stores } from '../ports.ts'

/** What holds for an upload beside its greatest size. */
export type UploadTerms<Result> = {
  /** Bytes that its organization may store at the most; without it there is no such bound. */
  quota?: number | undefined
  /** Runs around the unit that keeps the upload, so that more can be done in that same unit. */
  around?: Around<Result> | undefined
}

/** Runs `work` in the unit of these stores, with more before or after it. */
export type Around<Result> = <More extends Result>(stores: Stores, work: () => Promise<More>) => Promise<More>

/** Runs the unit that keeps an upload. */
export function inUnit<Result, More extends Result>(
  ports: Needs<'transact'>,
  { around }: UploadTerms<Result>,
  work: (stores: Stores) => Promise<More>,
): Promise<More> {
  return ports.transact((stores) => (around ? around(stores, () => work(stores)) : work(stores)))
}
