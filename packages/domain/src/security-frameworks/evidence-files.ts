/** Bytes that have arrived, and that no document names yet. */
export type StagedFile = {
  /** Number of the file. */
  file: number
  /** Bytes. */
  size: number
  /** In hexadecimal. */
  sha256: string
}

/**
 * The bytes of evidence documents. They are written and read piece by piece, outside of any transaction; a document
 * that is stored in a transaction then names them. What nobody names is swept away.
 */
export type EvidenceFiles = {
  /**
   * Stores the bytes as they come. If the content fails or is larger than `limit` bytes, nothing is left.
   *
   * @throws DomainError `too_large`, or what `content` throws.
   */
  stage(content: AsyncIterable<Uint8Array>, limit: number): Promise<StagedFile>
  /** Erases a staged file. */
  discard(file: number): Promise<void>
  /** The bytes from position `from` up to and including `to`; both lie within the file. */
  read(file: number, from: number, to: number): AsyncIterable<Uint8Array>
  /** Erases the files that were staged before `before` (ISO) and that no document names; returns how many. */
  sweep(before: string): Promise<number>
}
