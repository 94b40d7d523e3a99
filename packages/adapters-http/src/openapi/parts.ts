import type { Authentication, Route, UploadKind } from '../route.ts'
import type { Json } from './shapes.ts'

export const text = { type: 'string' }
export const anyObject = { type: 'object', additionalProperties: true }
const etag = { type: 'string', pattern: '^"[^"]+"$' }

/** Headers of answers. */
export const HEADERS: { [name: string]: { description: string; 'x-extension'?: true; schema: Json } } = {
  'X-Request-Id': {
    description: "The request's id, in the service's log too: the client's own if it sent one, else a new one.",
    schema: { type: 'string', pattern: '^[\\w.-]{1,64}$' },
  },
  'Cache-Control': {
    description: 'Answers are not to be kept.',
    schema: { type: 'string', const: 'no-store' },
  },
  'Referrer-Policy': {
    description: 'Keeps an address with a token in it to this service.',
    schema: { type: 'string', const: 'no-referrer' },
  },
  'X-Content-Type-Options': {
    description: 'The media type is the one that is stated.',
    schema: { type: 'string', const: 'nosniff' },
  },
  Location: {
    description: 'Path of what was stored.',
    'x-extension': true,
    schema: { type: 'string', format: 'uri-reference' },
  },
  ETag: { description: 'Tells one version from every other.', 'x-extension': true, schema: etag },
  'Retry-After': {
    description: 'Seconds after which the same request may succeed.',
    schema: { type: 'string', pattern: '^[1-9]\\d*$' },
  },
  'Content-Disposition': { description: '`attachment`, with the name of the file.', schema: text },
  'Accept-Ranges': { description: 'A part can be asked for.', schema: { type: 'string', const: 'bytes' } },
  'Content-Range': {
    description: 'Which bytes these are, of how many.',
    schema: { type: 'string', pattern: '^bytes (\\d+-\\d+|\\*)/\\d+$' },
  },
}
/** Headers of every answer. */
export const COMMON_HEADERS = ['X-Request-Id', 'Cache-Control', 'Referrer-Policy', 'X-Content-Type-Options']

/** An answer that says no. */
export type Refusal = {
  /** Name among the document's components. */
  name: string
  description: string
  messages: readonly (string | number)[]
  details?: true
  headers?: readonly string[]
}

const BAD_REQUEST = 'The request does not fit, or conflicts with what is stored; `details` says where.'

/** The 400 of an operation, by its text. */
export const INVALID: Record<Route['invalidInput'], Refusal> = {
  'Malformed data structure': {
    name: 'MalformedDataStructure',
    description: BAD_REQUEST,
    messages: ['Malformed data structure'],
    details: true,
  },
  'Invalid data provided': {
    name: 'InvalidDataProvided',
    description: BAD_REQUEST,
    messages: ['Invalid data provided'],
    details: true,
  },
}

/** Every other refusal, by its status. */
export const REFUSALS = {
  401: { name: 'NotPermitted', description: 'The caller is not authenticated, or not permitted.', messages: [9153] },
  404: { name: 'NotFound', description: 'What is asked for, or named, does not exist or is removed.', messages: [] },
  408: { name: 'RequestTimeout', description: 'The request did not come in time.', messages: [] },
  412: {
    name: 'PreconditionFailed',
    description: 'What is stored is in no version that `If-Match` lists, or has no versions. Nothing was changed.',
    messages: [],
  },
  413: { name: 'PayloadTooLarge', description: 'The body is too large.', messages: ['Payload too large'] },
  416: {
    name: 'RangeNotSatisfiable',
    description: 'The part that was asked for lies beyond the end.',
    messages: [],
    headers: ['Content-Range'],
  },
  417: { name: 'ExpectationFailed', description: 'The header `Expect` asks for what is not offered.', messages: [] },
  429: {
    name: 'TooManyRequests',
    description:
      'Too many requests with this token, failed authentications from this address, invitations, or large bodies at the same time; a while later it may succeed.',
    messages: ['Too many requests'],
    headers: ['Retry-After'],
  },
  431: { name: 'HeaderFieldsTooLarge', description: 'The headers are too large.', messages: [] },
  500: {
    name: 'Fault',
    description: 'A fault of the service; its log tells more, under the request id.',
    messages: [],
  },
  503: { name: 'Unavailable', description: 'The service cannot answer now; try again.', messages: [] },
} as const satisfies { [status: number]: Refusal }
export type RefusalStatus = keyof typeof REFUSALS

/** Alternatives, one of which a request must carry. */
export const SECURITY: Record<Authentication, Json[]> = {
  token: [{ ServiceToken: [] }, { ServiceTokenInQuery: [] }],
  invitation: [{ InvitationCode: [] }, { InvitationCodeInQuery: [] }],
}

const TOKEN = { type: 'apiKey', name: 'X-Service-Token' }
/** How a token, or a code, is sent. */
export const SECURITY_SCHEMES = {
  ServiceToken: { ...TOKEN, in: 'header', description: 'An API token. The header keeps it out of addresses and logs.' },
  ServiceTokenInQuery: { ...TOKEN, in: 'query', description: 'An API token, for clients that cannot set headers.' },
  InvitationCode: { ...TOKEN, in: 'header', description: 'The code of an invitation, in the place of a token.' },
  InvitationCodeInQuery: { ...TOKEN, in: 'query', description: 'The code of an invitation, in the place of a token.' },
}

/** Versions of what a change is about. */
export const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  'x-extension': true,
  description:
    'The `ETag` of the version to change, in its quotes as it was sent, or several, separated by commas; any other version is a 412, and stays as it is. `*` is any version. What is not quoted is a 400.',

  schema: text,
}

/** Makes a request that can be sent again. */
export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  'x-extension': true,
  description:
    "A text of the client's own, best a new UUID, for a request that may be sent again: within 24 hours the same request with the same key and token gets the first answer again, and changes nothing more. Another request with that key is a 400.",
  schema: { type: 'string', pattern: '^[ -~]{1,255}$' },
}

/** What a request can ask of the bytes of a document. */
export const DOWNLOAD_PARAMETERS = [
  {
    name: 'Range',
    in: 'header',
    description: 'One part of the content, such as `bytes=0-1023`; several parts, or another unit, get the whole.',
    schema: text,
  },
  {
    name: 'If-Range',
    in: 'header',
    description: 'The `ETag` of the version that the part belongs to; another version is sent whole.',
    schema: etag,
  },
  {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of the version that the client has.',
    schema: text,
  },
]

const fileName = (example: string) => ({
  name: 'Content-Disposition',
  in: 'header',
  required: true,
  description: '`attachment`, with the name of the file.',
  schema: {
    type: 'string',
    pattern: '^[aA][tT][tT][aA][cC][hH][mM][eE][nN][tT]\\s*;.*[fF][iI][lL][eE][nN][aA][mM][eE]',
  },
  example: `attachment; filename="${example}"`,
})

const BYTES = { schema: { contentMediaType: 'application/octet-stream' } }
/** The type of the document that stands as an example. */
export const DOCUMENT_EXAMPLE = 'text/plain'
/** Types that evidence often has. Any other may be sent; a page that offers these to choose from sends the right one. */
const DOCUMENT_TYPES = [
  'application/pdf',
  DOCUMENT_EXAMPLE,
  'text/csv',
  'image/png',
  'image/jpeg',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/zip',
  'application/octet-stream',
  '*/*',
]

/** Bodies that are files. */
export const UPLOADS: Record<
  UploadKind,
  { description: string; parameters: Json[]; content: { [type: string]: Json } }
> = {
  traffic: {
    description:
      'A file of access log lines, read as it comes: a JSON array of lines, an object with one such array, one line, or ' +
      'one JSON value per row. A line is a text in Common or Combined Log Format, or an object as common servers write it. ' +
      'At most 256 MiB, inflated, unless an operator has set another limit.',
    parameters: [
      fileName('access-log.json'),
      {
        name: 'Content-Encoding',
        in: 'header',
        'x-extension': true,
        description: 'How the file is compressed.',
        schema: { type: 'string', enum: ['identity', 'gzip', 'x-gzip', 'deflate', 'br'], default: 'identity' },
      },
    ],
    content: {
      'application/json': { schema: { anyOf: [{ type: 'array', items: { anyOf: [text, anyObject] } }, anyObject] } },
      'application/x-ndjson': { schema: text },
      'application/jsonl': { schema: text },
    },
  },
  document: {
    description:
      'The file itself, of any type, kept byte for byte and given back with the type it was sent with: not a form, whose ' +
      'envelope would be kept as well. At most 50 MiB, unless an operator has set another limit.',
    parameters: [fileName('policy.pdf')],
    content: Object.fromEntries(DOCUMENT_TYPES.map((type) => [type, BYTES])),
  },
}
