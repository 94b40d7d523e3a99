import { type Action, ControlId, MAX_INTEGER, WEAKEST_ROLE } from '@security-management/domain'
import * as v from 'valibot'
import { failure } from './errors.ts'
import examples from './examples.json' with { type: 'json' }
import {
  COMMON_HEADERS,
  DOCUMENT_EXAMPLE,
  DOWNLOAD_PARAMETERS,
  HEADERS,
  IDEMPOTENCY_KEY,
  IF_MATCH,
  INVALID,
  REFUSALS,
  type Refusal,
  type RefusalStatus,
  SECURITY,
  SECURITY_SCHEMES,
  text,
  UPLOADS,
} from './openapi/parts.ts'
import { ANSWERS, convert, type Json, REQUESTS, type Schemas } from './openapi/shapes.ts'
import {
  DESCRIPTION,
  PATH_DESCRIPTIONS,
  QUERY_DESCRIPTIONS,
  REQUIRED_CODE,
  REQUIRED_ROLES,
  TAGS,
} from './openapi/words.ts'
import type { AnswerHeader, ParamKind, Route } from './route.ts'
import { successOf } from './schemas.ts'

/** Where the document is served. */
export const OPENAPI_PATH = '/api/v1/openapi.json'

/** The refusals that a route can answer with, beside its 400. */
function refusalsOf(route: Route): RefusalStatus[] {
  // A right on an organization that no path names is one on the organization that the body names.
  const hasTarget = route.params !== undefined || (route.right !== 'anyone' && route.right !== 'self')
  const can: Partial<Record<RefusalStatus, boolean>> = {
    404: hasTarget,
    412: route.method === 'put' || route.method === 'delete',
    413: route.body !== undefined || route.upload !== undefined,
    416: route.answer === 'document',
  }
  return Object.keys(REFUSALS)
    .map((status) => Number(status) as RefusalStatus)
    .filter((status) => can[status] ?? true)
}

const id = { type: 'integer', minimum: 1, maximum: MAX_INTEGER }
const uuid = { type: 'string', format: 'uuid' }

/** What was recorded of an operation on a fixed world, for `testing/document-examples.ts` to write. */
export type Example = { params?: Json; query?: Json; body?: unknown; answer?: unknown; part?: string }
/** Of a refusal that says what does not fit: what was wrong with the request, and what was answered. */
export type RefusalExamples = { [name: string]: { summary: string; value: unknown } }
export const EXAMPLES: {
  operations: { [id: string]: Example }
  refusals: { [name: string]: RefusalExamples }
} = examples

/** Fields of the envelope that go past the contract. */
const ADDED_DETAILS = { 'x-extension': true }

/** The OpenAPI 3.1 document of these operations. */
export function printOpenApi(routes: readonly Route[]): Json {
  const kinds = pathSchemas()
  const requests = convert({ ...REQUESTS, ...wrap(routes, requestPartsOf) }, 'input')
  const answers = convert({ ...ANSWERS, ...wrap(routes, answerOf) }, 'output')
  const paths: { [path: string]: Json } = {}
  for (const route of routes) {
    const operation = {
      operationId: route.id,
      summary: route.summary,
      description: `${route.description}\n\n${requirementOf(route)}`,
      tags: [tagOf(route.path)],
      'x-required-role': roleOf(route.right),
      ...(route.extension === true && { 'x-extension': true }),
      security: SECURITY[route.authentication ?? 'token'],
      ...parametersOf(route, kinds, requests),
      ...bodyOf(route, requests),
      responses: responsesOf(route, answers),
    }
    paths[route.path] = { ...paths[route.path], [route.method]: operation }
  }
  paths[OPENAPI_PATH] = { get: ITSELF }
  const named = (all: Json, names: Schemas) => Object.fromEntries(Object.keys(names).map((name) => [name, all[name]]))
  const document = {
    openapi: '3.1.1',
    info: {
      title: 'Security Management Service',
      // The version of the contract that is served; additions are marked, and do not count.
      version: '1.0.3',
      summary: 'Manages the security of many organizations.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that serves this document.' }],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: sorted({ ...named(requests, REQUESTS), ...named(answers, ANSWERS) }),
      responses: Object.fromEntries(
        [...Object.values(INVALID), ...Object.values(REFUSALS)].map((refusal) => [
          refusal.name,
          responseOfRefusal(refusal),
        ]),
      ),
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
  return withoutUnused(JSON.parse(JSON.stringify(document)))
}

/** The document as it is served and committed. */
export function servedOpenApi(routes: readonly Route[]): string {
  return `${JSON.stringify(printOpenApi(routes), null, 2)}\n`
}

function tagOf(path: string): string {
  const tag = TAGS.find((tag) => tag.path.test(path))
  if (!tag) throw new Error(`No subject for ${path}`)
  return tag.name
}

function roleOf(right: Action | 'anyone' | 'self'): string {
  if (right === 'anyone') return 'authenticated'
  return right === 'self' ? 'self' : WEAKEST_ROLE[right]
}

function requirementOf({ authentication, right }: Route): string {
  return authentication === 'invitation' ? REQUIRED_CODE : (REQUIRED_ROLES[roleOf(right)] ?? '')
}

/** Schemas of every route under names that no component has, so that all are converted in one go. */
function wrap(routes: readonly Route[], of: (route: Route) => Schemas): Schemas {
  return Object.fromEntries(
    routes.flatMap((route) => Object.entries(of(route)).map(([part, schema]) => [`${route.id} ${part}`, schema])),
  )
}

/** A wrapper around each, since a schema can have but one name, and some are components or shared. */
function requestPartsOf({ query, body }: Route): Schemas {
  return {
    ...(query && { query: v.object({ ...query.entries }) }),
    ...(body && { body: v.object({ body }) }),
  }
}

function answerOf({ answer }: Route): Schemas {
  return answer === 'document' ? {} : { answer: successOf(answer) }
}

/** Where the body has an e-mail address. */
const USER_OR_NEW = {
  anyOf: [uuid, { type: 'string', const: '0' }],
  description: "The person's id; `0` means the one with the e-mail address in the body.",
}

function pathSchemas(): Record<ParamKind, Json> {
  const { control = {} } = convert({ control: ControlId }, 'input')
  return {
    id,
    'id-or-key': { anyOf: [id, uuid], description: 'The id of the configuration, or its `atb_key`.' },
    user: uuid,
    control: { ...control, description: "The control's id, percent-encoded." },
    text: { type: 'string', minLength: 1 },
  }
}

function parametersOf(route: Route, kinds: Record<ParamKind, Json>, requests: { [name: string]: Json }): Json {
  const recorded = EXAMPLES.operations[route.id]
  const inPath = Object.entries(route.params ?? {}).map(([name, kind]) => {
    const { description = PATH_DESCRIPTIONS[name], ...schema } =
      kind === 'user' && route.body ? USER_OR_NEW : kinds[kind]
    return {
      name,
      in: 'path',
      required: true,
      description,
      schema,
      ...exampleOf(recorded?.params, name),
    }
  })
  const { properties = {}, required = [] } = (requests[`${route.id} query`] ?? {}) as {
    properties?: { [name: string]: Json }
    required?: string[]
  }
  const aliases = Object.entries(route.aliases ?? {})
  const inQuery = Object.entries(properties).flatMap(([name, property]) => {
    const { description: said, ...schema } = property
    const isArray = schema.type === 'array'
    const nonEmpty = schema.type === 'string' && !schema.enum ? { minLength: 1 } : {}
    const parameter = {
      name: isArray ? `${name}[]` : name,
      in: 'query',
      ...(required.includes(name) && { required: true }),
      description: said ?? QUERY_DESCRIPTIONS[name],
      ...(isAdded(route, name) && { 'x-extension': true }),
      schema: { ...schema, ...nonEmpty },
      ...exampleOf(recorded?.query, name),
    }
    const others = aliases.filter(([, of]) => of === parameter.name)
    const { default: _, ...bare } = parameter.schema as Json
    return [
      parameter,
      ...others.map(([alias]) => ({
        name: alias,
        in: 'query',
        description: `Another spelling of \`${parameter.name}\`; one of them can be given.`,
        ...(isAdded(route, name) && { 'x-extension': true }),
        schema: bare,
      })),
    ]
  })
  const inHeader = [
    ...(route.method === 'post' ? [IDEMPOTENCY_KEY] : []),
    ...(route.ifMatch ? [IF_MATCH] : []),
    ...(route.upload ? UPLOADS[route.upload].parameters : []),
    ...(route.answer === 'document' ? DOWNLOAD_PARAMETERS : []),
  ]
  const all = [...inPath, ...inQuery, ...inHeader]
  return all.length > 0 ? { parameters: all } : {}
}

/** Whether this query parameter goes past the contract, of an operation that does not. */
function isAdded({ extension = [] }: Route, name: string): boolean {
  return extension !== true && extension.includes(name)
}

function exampleOf(recorded: Json | undefined, name: string): Json {
  return recorded && name in recorded ? { example: recorded[name] } : {}
}

function bodyOf(route: Route, requests: { [name: string]: Json }): Json {
  const example = EXAMPLES.operations[route.id]?.body
  const shown = example !== undefined && { example }
  if (route.upload) {
    const { description, content } = UPLOADS[route.upload]
    const all = Object.entries(content).map(([type, media]) => [type, { ...media, ...fileExample(type, example) }])
    return { requestBody: { description, required: true, content: Object.fromEntries(all) } }
  }
  if (!route.body) return {}
  const schema = (requests[`${route.id} body`] as { properties: { body: Json } }).properties.body
  const content = {
    'application/json': { schema, ...shown },
    ...(route.formats === 'json+multipart' && {
      'multipart/form-data': {
        schema: { type: 'object', required: ['data'], properties: { data: schema }, additionalProperties: false },
        encoding: { data: { contentType: 'application/json' } },
        ...(shown && { example: { data: example } }),
      },
    }),
  }
  return { requestBody: { required: !route.bodyMayBeMissing, content } }
}

/** The recorded file as this type has it; none of a type that it is not. */
function fileExample(type: string, recorded: unknown): Json {
  if (typeof recorded === 'string') return type === DOCUMENT_EXAMPLE ? { example: recorded } : {}
  if (!Array.isArray(recorded)) return {}
  if (type === 'application/json') return { example: recorded }
  return { example: recorded.map((line) => JSON.stringify(line)).join('\n') }
}

function responsesOf(route: Route, answers: { [name: string]: Json }): Json {
  const refusals = refusalsOf(route).map((status) => [status, refer('responses', REFUSALS[status].name)])
  return {
    ...(route.answer === 'document'
      ? downloadsOf(EXAMPLES.operations[route.id])
      : { [route.status]: successOfRoute(route, answers) }),
    400: refer('responses', INVALID[route.invalidInput].name),
    ...Object.fromEntries(refusals),
  }
}

function successOfRoute(route: Route, answers: { [name: string]: Json }): Json {
  const example = EXAMPLES.operations[route.id]?.answer
  return {
    description: route.status === 201 ? 'Created.' : 'Done.',
    headers: headersOf([...(route.headers ?? []), ...(route.etagOf ? ['ETag'] : [])]),
    content: {
      'application/json': { schema: answers[`${route.id} answer`], ...(example !== undefined && { example }) },
    },
  }
}

const DOWNLOAD_HEADERS = ['Content-Disposition', 'Accept-Ranges', 'ETag']
function downloadsOf({ answer, part }: Example = {}): Json {
  const schema = { contentMediaType: 'application/octet-stream' }
  return {
    200: {
      description: 'The bytes, of the type they came with.',
      headers: headersOf(DOWNLOAD_HEADERS),
      content: { '*/*': { schema, example: answer } },
    },
    206: {
      description: 'The part that was asked for.',
      headers: headersOf([...DOWNLOAD_HEADERS, 'Content-Range']),
      content: { '*/*': { schema, example: part } },
    },
    304: { description: 'The client has this version.', headers: headersOf(['ETag']) },
  }
}

function headersOf(names: readonly (AnswerHeader | string)[]): Json {
  return Object.fromEntries([...COMMON_HEADERS, ...names].map((name) => [name, refer('headers', name)]))
}

function responseOfRefusal({ name, description, messages, details, headers = [] }: Refusal): Json {
  const kind = typeof messages[0] === 'number' ? 'integer' : 'string'
  const length = messages.length
  const properties = {
    error: { type: 'integer', const: 1 },
    messages: {
      type: 'array',
      ...(length > 0 && { items: { type: kind, const: messages[0] } }),
      minItems: length,
      maxItems: length,
    },
    ...(details && { details: { ...refer('schemas', 'Details'), ...ADDED_DETAILS } }),
  }
  const shown = details ? { examples: EXAMPLES.refusals[name] } : { example: failure(messages) }
  return {
    description,
    headers: headersOf(headers),
    content: {
      'application/json': {
        schema: { type: 'object', properties, required: Object.keys(properties) },
        ...shown,
      },
    },
  }
}

const REVALIDATED = {
  ...HEADERS['Cache-Control'],
  description: 'To be asked for again, with its `ETag`.',
  schema: { type: 'string', const: 'no-cache' },
}
const ITS_HEADERS = { ...headersOf(['ETag']), 'Cache-Control': REVALIDATED }

/** The one operation that no route declares, since it needs nothing of the domain. */
const ITSELF = {
  operationId: 'readOpenApi',
  summary: 'Read this document',
  description: 'The interface in OpenAPI 3.1, printed from what mounts it and checks requests. Needs no token.',
  tags: ['Interface'],
  'x-required-role': 'none',
  'x-extension': true,
  security: [],
  parameters: DOWNLOAD_PARAMETERS.filter(({ name }) => name === 'If-None-Match'),
  responses: {
    200: {
      description: 'The document.',
      headers: ITS_HEADERS,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['openapi', 'info', 'paths'],
            properties: { openapi: text, info: { type: 'object' }, paths: { type: 'object' } },
            additionalProperties: true,
          },
        },
      },
    },
    304: { description: 'The client has this version.', headers: ITS_HEADERS },
    400: refer('responses', INVALID['Invalid data provided'].name),
    ...Object.fromEntries(
      ([408, 417, 431] as const).map((status) => [status, refer('responses', REFUSALS[status].name)]),
    ),
  },
}

function refer(kind: 'schemas' | 'responses' | 'headers', name: string): Json {
  return { $ref: `#/components/${kind}/${name}` }
}

function sorted(entries: Json): Json {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Leaves out the named shapes that no operation of this list needs. */
function withoutUnused<Document extends { paths: Json; components: { schemas: Json; responses: Json } }>(
  document: Document,
): Document {
  const { schemas, responses } = document.components
  const used = new Set<string>()
  const visit = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      visit(schemas[name])
    }
  }
  visit([document.paths, responses])
  document.components.schemas = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)))
  return document
}
