import {
  type AttachedDocument as AttachedFile,
  attachEvidence,
  type ControlPath,
  findControl,
  readDocument,
} from '@security-management/domain'
import { type Params, route } from '../route.ts'
import { AttachedDocument } from '../schemas.ts'

const control = { organizationid: 'id', frameworkid: 'id', controlid: 'control' } as const

function pathOf({ organizationid, frameworkid, controlid }: Params<typeof control>): ControlPath {
  return { organization: organizationid, framework: frameworkid, control: controlid }
}

export const attachEvidenceRoute = route({
  id: 'attachEvidence',
  summary: 'Attach an evidence document to a control',
  description:
    'Stores the file, then appends an evidence entry with it to the control. The stored name is made safe; a download of `file_path` checks rights anew.',
  method: 'post',
  path: '/api/v1/organizations/{organizationid}/security-frameworks/{frameworkid}/documents/{controlid}',
  right: 'evidence.attach',
  params: control,
  upload: 'document',
  permit: (ports, caller, params) => findControl(ports, caller, pathOf(params), 'evidence.attach'),
  invalidInput: 'Invalid data provided',
  status: 201,
  answer: { data: AttachedDocument },
  async handle({ ports, caller, params, upload, limits, termsOf }) {
    const answerOf = (data: AttachedFile) => ({ data })
    const terms = termsOf(answerOf)
    return answerOf(await attachEvidence(ports, caller, pathOf(params), upload, limits.document, terms))
  },
})

export const readDocumentRoute = route({
  id: 'readDocument',
  summary: 'Download an evidence document',
  description:
    'The bytes of a document that was attached to a control, as they were sent; a part of them where `Range` asks for one.',
  method: 'get',
  path: '/api/v1/documents/organizations/{organizationid}/security-frameworks/{frameworkid}/documents/{controlid}/{name}',
  extension: true,
  right: 'evidence.read',
  params: { ...control, name: 'text' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: 'document',
  handle: ({ ports, caller, params }) => readDocument(ports, caller, { ...pathOf(params), name: params.name }),
})
