/** Bytes that have arrived, and that no record names yet. */
export type StagedFile = {
  /** Number of the file. */
  file: number
  /** Bytes. */
  size: number
  /** In hexadecimal. */
  sha256: string
}

/** Files with which something is wrong, by number, ascending. */
export type FileCheck = {
  /** A record names it, and its bytes are not all there, or more than the record says. */
  damaged: number[]
  /** No record names it, though it was staged before the time that was asked for; or it has bytes and is no file. */
  orphans: number[]
}

/**
 * Bytes that are too many for a transaction: those of evidence documents, and the snapshots of threat feeds. They are
 * written and read piece by piece, outside of any transaction; a record that is stored in one then names them. What no
 * record names is swept away.
 */
export type FileStore = {
  /**
   * Stores the bytes as they come. If the content fails or is larger than `limit` bytes, nothing is left.
   *
   * @throws DomainError `too_large`, or what `content` throws.
   */
  stage(content: AsyncIterable<Uint8Array>, limit: number): Promise<StagedFile>
  /** Erases a staged file, unless a record names it. */
  discard(file: number): Promise<void>
  /** The bytes from position `from` up to and including `to`; both lie within the file. Pieces belong to who reads. */
  read(file: number, from: number, to: number): AsyncIterable<Uint8Array>
  /**
   * Erases the files that were staged before `before` (ISO) and that no record names; returns how many. It does so bit by
   * bit: what is done stays done if it fails on the way.
   */
  sweep(before: string): Promise<number>
  /** Looks at all files, by their numbers. */
  check(before: string): Promise<FileCheck>
}
