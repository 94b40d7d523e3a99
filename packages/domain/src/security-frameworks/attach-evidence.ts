import type { Caller } from '../access/caller.ts'
import { invalid, isUnavailable } from '../errors.ts'
import { record } from '../events.ts'
import type { StagedFile } from '../files/file-store.ts'
import { requireRoom, requireStorage } from '../files/storage-quota.ts'
import { inUnit, type UploadTerms } from '../files/upload-terms.ts'
import { utf8Length } from '../json-text.ts'
import { parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { evidenceStamp } from './evidence.ts'
import { extensionOf, FileName } from './file-name.ts'
import { type ControlPath, findControl } from './find-security-framework.ts'
import { MAX_EVIDENCES, requireStorable } from './security-framework.ts'

/** Bytes of a document, unless a server is told otherwise (decisions.md §2): 50 MiB. */
export const MAX_DOCUMENT_BYTES = 50 * 1024 * 1024

const MEDIA_TYPE =
  /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[\w !#$&'()*+,./:=?@^-]*"))*$/

/** An attached document: its safe file name, and the path under which a member can fetch the bytes. */
export type AttachedDocument = { file_name: string; file_path: string }

/** A document as it comes: its name and media type as sent, and its bytes. */
export type EvidenceUpload = {
  /** As sent by the client; made safe here. */
  file_name: string
  /** As sent by the client; what is no media type becomes `application/octet-stream`. */
  content_type: string
  content: AsyncIterable<Uint8Array>
}

/**
 * Attaches a document to a control: stores the bytes as they come, then appends an evidence entry that names them.
 *
 * @param terms what else holds for the upload, see `UploadTerms`.
 * @returns the safe file name, and the path under which a member can fetch the bytes.
 * @throws DomainError `not_found`, `forbidden`, `invalid` (no file name, 10,000 evidences already, or past
 *   `MAX_CONTROLS_BYTES`), `too_large`, `conflict` (the organization's storage is full).
 */
export async function attachEvidence(
  ports: Needs<'transact' | 'files' | 'now' | 'newUuid'>,
  caller: Caller,
  path: ControlPath,
  upload: EvidenceUpload,
  limit = MAX_DOCUMENT_BYTES,
  terms: UploadTerms<AttachedDocument> = {},
): Promise<AttachedDocument> {
  const file_name = parse(FileName, upload.file_name)
  await ports.transact(async (stores) => {
    await findControl(stores, caller, path, 'evidence.attach')
    await requireRoom(stores, path.organization, terms.quota)
  })
  const staged = await ports.files.stage(upload.content, limit)
  try {
    return await keep(ports, caller, path, { file_name, content_type: upload.content_type }, staged, terms)
  } catch (error) {
    // What cannot be erased now is swept away later; the first error is the one to tell of.
    if (!isUnavailable(error)) await ports.files.discard(staged.file).catch(() => {})
    throw error
  }
}

async function keep(
  ports: Needs<'transact' | 'now' | 'newUuid'>,
  caller: Caller,
  path: ControlPath,
  { file_name, content_type }: { file_name: string; content_type: string },
  staged: StagedFile,
  terms: UploadTerms<AttachedDocument>,
): Promise<AttachedDocument> {
  const name = `${ports.newUuid().replaceAll('-', '')}.${extensionOf(file_name) || 'bin'}`
  const file_path = documentPath(path, name)
  return inUnit(ports, terms, async (stores) => {
    const { organization, framework } = path
    await stores.securityFrameworks.lock(organization, framework)
    // Asked again: the control or the right may have gone while the file came in.
    const control = await findControl(stores, caller, path, 'evidence.attach')
    if (control.evidences.length >= MAX_EVIDENCES) {
      throw invalid('evidences', `A control has at most ${MAX_EVIDENCES} evidences`)
    }
    const stamp = await evidenceStamp(ports, stores, caller)
    const evidence = { files: [file_path], details: '', completed: 0, residual_risk: 0, ...stamp }
    const bytes = await stores.securityFrameworks.controlsSize(framework)
    requireStorable(bytes + utf8Length(`,${JSON.stringify(evidence)}`))
    await stores.documents.insert({
      ...path,
      ...staged,
      name,
      file_name,
      content_type:
        content_type.length <= 255 && MEDIA_TYPE.test(content_type) ? content_type : 'application/octet-stream',
    })
    await requireStorage(stores, organization, terms.quota)
    await stores.securityFrameworks.setEvidences(framework, path.control, [...control.evidences, evidence])
    await record(ports, stores, caller, {
      type: 'evidence.attached',
      organization,
      record: framework,
      changes: { evidence: [undefined, evidence] },
      details: { control: path.control, file_name, file_path, sha256: staged.sha256 },
    })
    return { file_name, file_path }
  })
}

/** Path of a document's bytes on the HTTP interface (decisions.md §4). */
export function documentPath({ organization, framework, control }: ControlPath, name: string): string {
  const place = `organizations/${organization}/security-frameworks/${framework}/documents/${encodeURIComponent(control)}`
  return `/api/v1/documents/${place}/${name}`
}

/** Names a document. */
export type DocumentRef = ControlPath & { name: string }
