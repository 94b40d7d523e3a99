import * as v from 'valibot'
import { authorize } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Needs } from '../ports.ts'
import type { DocumentRef } from './attach-evidence.ts'
import type { Document } from './document-store.ts'
import { ControlId } from './security-framework.ts'

/** A document and the way to its bytes. */
export type ReadableDocument = Pick<Document, 'file_name' | 'content_type' | 'size' | 'sha256'> & {
  /** The bytes from position `from` up to and including `to`. Pieces belong to who reads. */
  read(from: number, to: number): AsyncIterable<Uint8Array>
}

/**
 * Opens an evidence document. Rights are checked anew at every read, whatever named the path.
 *
 * @throws DomainError `not_found`, `forbidden`.
 */
export async function readDocument(
  ports: Needs<'documents' | 'files' | 'organizations' | 'members'>,
  caller: Caller,
  ref: DocumentRef,
): Promise<ReadableDocument> {
  // Other texts name no document, and not every store can look for them.
  const isName = v.is(ControlId, ref.control) && /^[0-9a-f]{32}\.[0-9a-z]{1,10}$/.test(ref.name)
  const document = isName ? await ports.documents.findActive(ref) : undefined
  if (!document) throw new DomainError('not_found')
  await authorize(ports, caller, ref.organization, 'evidence.read')
  const { file, file_name, content_type, size, sha256 } = document
  return { file_name, content_type, size, sha256, read: (from, to) => ports.files.read(file, from, to) }
}
