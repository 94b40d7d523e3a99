import type { Action, Caller, Ports, ReadableDocument, UploadTerms } from '@security-management/domain'
import type * as v from 'valibot'

/** Greatest number of bytes of each kind of body, inflated (decisions.md §2). */
export type Limits = { json: number; framework: number; document: number; traffic: number }

/**
 * Form of a path parameter; another form is no path of the service, so 404.
 *
 * `id`: an integer from 1 to 2^53 − 1 in decimal digits. `id-or-key`: that or a UUID. `user`: a UUID, or `0` for
 * somebody who is not registered yet. `control`: the id of a control. `text`: anything that is not empty.
 */
export type ParamKind = 'id' | 'id-or-key' | 'user' | 'control' | 'text'
/** The parameters of a path, and the form of each. */
export type ParamKinds = { readonly [name: string]: ParamKind }

/** The parameters of a path, decoded. */
export type Params<Kinds extends ParamKinds> = { [Name in keyof Kinds]: Param<Kinds[Name]> }
type Param<Kind extends ParamKind> = Kind extends 'id' ? number : Kind extends 'id-or-key' ? number | string : string

/** A file as it comes: what its headers say, and its bytes, inflated, which throw if the client goes away. */
export type Upload = { file_name: string; content_type: string; content: AsyncIterable<Uint8Array> }
/** Which limit holds for a file, and what may be said of it. */
export type UploadKind = 'traffic' | 'document'

/** What the caller shows: an API token, or the code of an invitation. */
export type Authentication = 'token' | 'invitation'

/** What a handler is called with. */
export type Request<Kinds extends ParamKinds, Shown extends Authentication, Sent extends UploadKind | undefined> = {
  ports: Ports
  params: Params<Kinds>
  /** Query parameters under the names of the domain's schema, not yet parsed by it. */
  query: { [name: string]: unknown }
  /** The JSON value that was sent, not yet parsed by the domain. */
  body: unknown
  limits: Limits
  /** Versions that `If-Match` lists; undefined where any will do. */
  expected: readonly string[] | undefined
  setHeader(name: AnswerHeader, value: string): void
} & (Shown extends 'invitation' ? { code: string; requestId: string } : { caller: Caller }) &
  (Sent extends UploadKind ? { upload: Upload; termsOf: TermsOf } : { upload?: Upload })

/** Makes the terms of an upload, for a use case whose result becomes an answer by `answerOf`. */
export type TermsOf = <Kept>(answerOf: (kept: Kept) => { [name: string]: unknown }) => UploadTerms<Kept>

/** Entries of an answer beside `error` and `messages`; or the bytes of a document. */
export type Answer = v.ObjectEntries | 'document'
type Result<Shape extends Answer> = Shape extends v.ObjectEntries
  ? { [Name in keyof Shape]: v.InferOutput<Shape[Name]> }
  : ReadableDocument

/** Headers of an answer that an operation sets by itself. */
export type AnswerHeader = 'Location'

/** One operation of the interface. It is mounted, and described in the API document, from this alone. */
export type Declaration<
  Kinds extends ParamKinds,
  Shape extends Answer,
  Shown extends Authentication,
  Sent extends UploadKind | undefined,
> = {
  /** Name of the operation, unique. */
  id: string
  summary: string
  /** What a caller should know beyond the summary, in CommonMark: what it does, to whom, and what else happens. */
  description: string
  method: 'get' | 'post' | 'put' | 'delete'
  /** With parameters in braces, as OpenAPI writes them. */
  path: `/api/v1/${string}`
  /** Whether it goes past the contract: as a whole, or by these query parameters. */
  extension?: true | readonly string[]
  /** A token, where it is not said. */
  authentication?: Shown
  /**
   * The action of the policy table that the use case asks for; `anyone`: every authenticated caller, whose answer holds
   * what they may see; `self`: what is the caller's own.
   */
  right: Action | 'anyone' | 'self'
  params?: Kinds
  /** The domain's schema of the query. */
  query?: v.ObjectSchema<v.ObjectEntries, undefined>
  /** Other spellings of query parameters, each with the one that the document names first: `sectors` with `sectors[]`. */
  aliases?: { readonly [alias: string]: string }
  /** The domain's schema of a JSON body. */
  body?: v.GenericSchema
  /** JSON alone, where it is not said. */
  formats?: 'json' | 'json+multipart'
  /** Whether a request without any body means `{}`. */
  bodyMayBeMissing?: true
  /** Which limit holds for the body; `json`, where it is not said. */
  limit?: 'json' | 'framework'
  /** The body is a file, which streams. */
  upload?: Sent
  /** What the domain can refuse before anything more of the request is read. The use case asks again. */
  permit?(ports: Ports, caller: Caller, params: Params<Kinds>): Promise<unknown>
  /** The same, where it is the body that names the organization; asked where a kept answer stands in for the use case. */
  permitBody?(ports: Ports, caller: Caller, body: unknown): Promise<unknown>
  /** The part of the answer that its `ETag` names the version of; there is no `ETag`, where it is not said. */
  etagOf?(answer: Result<Shape>): object
  /** Whether the use case takes versions to expect. Where it does not, none that `If-Match` lists can fit. */
  ifMatch?: true
  /** Text of every 400 (decisions.md §1). */
  invalidInput: 'Malformed data structure' | 'Invalid data provided'
  status: 200 | 201
  /** Headers that every answer of this status carries beside the common ones. */
  headers?: readonly AnswerHeader[]
  answer: Shape
  /** Calls one use case. */
  handle(request: Request<Kinds, Shown, Sent>): Promise<Result<Shape>>
}

/** Any operation. */
export type Route =
  | Declaration<ParamKinds, v.ObjectEntries, Authentication, UploadKind | undefined>
  | Declaration<ParamKinds, 'document', Authentication, UploadKind | undefined>

/** Declares an operation; infers what its handler is called with and must return. */
export function route<
  const Kinds extends ParamKinds = Record<never, never>,
  const Shape extends Answer = v.ObjectEntries,
  const Shown extends Authentication = 'token',
  const Sent extends UploadKind | undefined = undefined,
>(declaration: Declaration<Kinds, Shape, Shown, Sent>): Declaration<Kinds, Shape, Shown, Sent> {
  return declaration
}
