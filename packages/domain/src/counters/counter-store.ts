/** How often something happened in one stretch of time. */
export type Tally = {
  /** What is counted. */
  name: string
  /** Start of the stretch, Unix milliseconds. */
  start: number
  count: number
}

/** Counts that several processes keep together, for limits. */
export type CounterStore = {
  /** Adds these to the counts; they are of different names or starts; returns what they then are, in any order. */
  add(tallies: Tally[]): Promise<Tally[]>
  /** Forgets the counts that start before `before` (Unix milliseconds). */
  forget(before: number): Promise<void>
}
