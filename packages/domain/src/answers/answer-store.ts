/**
 * Answers that are kept for a while, so that a call which is sent again gets the first one. A row is named by the id of
 * the seal that its content is shut with.
 */
export type AnswerStore = {
  /**
   * Claims the name until the unit ends, at `at` (ISO): of several units that claim it at once the others wait for the
   * first one. What was claimed before `since` is forgotten. What it finds cannot be lost any more once the unit has been
   * acknowledged, even where it was kept by one that has not.
   *
   * @returns what is kept under the name; undefined if nothing is: then the name is this unit's, to `keep` under.
   */
  claim(id: string, at: string, since: string): Promise<Uint8Array | undefined>
  /** Keeps the sealed answer under a name that this unit has claimed. */
  keep(id: string, sealed: Uint8Array): Promise<void>
  /** What is kept under the name since `since`. */
  find(id: string, since: string): Promise<Uint8Array | undefined>
  /** Forgets what was claimed before `before`. */
  forget(before: string): Promise<void>
}
