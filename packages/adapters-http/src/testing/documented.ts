import { appendFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { ANSWERS, type Json } from '../openapi/shapes.ts'
import { printOpenApi } from '../openapi.ts'
import { routes } from '../routes/index.ts'

export type Schema = Json & {
  $ref?: string
  properties?: { [name: string]: Schema }
  items?: Schema
  anyOf?: Schema[]
  additionalProperties?: boolean | Schema
}
export type Parameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Schema }
type Response = {
  $ref?: string
  headers: { [name: string]: { $ref?: string; schema: Schema } }
  content?: { [type: string]: { schema: Schema } }
}
export type Operation = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: { [type: string]: { schema: Schema } } }
  responses: { [status: string]: Response }
}
type Document = {
  paths: { [path: string]: { [method: string]: Operation } }
  components: { schemas: { [name: string]: Schema }; responses: { [name: string]: Response } }
}

/**
 * The document that every answer of the tests is held against. Clients are told to expect fields that are not listed;
 * here an answer with one is wrong, since it was forgotten in the document.
 */
export const document = closeAnswers(printOpenApi(routes) as unknown as Document)

function closeAnswers(document: Document): Document {
  const { paths, components } = document
  close(components.responses)
  for (const name of Object.keys(ANSWERS)) close(components.schemas[name])
  for (const operation of Object.values(paths).flatMap(Object.values)) close(operation.responses)
  return document
}

/** Lets no object in this part of the document have other fields than those that are listed. */
function close(part: unknown): void {
  if (typeof part !== 'object' || part === null) return
  for (const inner of Object.values(part)) close(inner)
  if ('properties' in part && 'type' in part && part.type === 'object') {
    Object.assign(part, { additionalProperties: false, ...part })
  }
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
// What these mean, the validator does not know, or (an address at `localhost`) not fully; patterns stand beside them.
for (const format of ['email', 'iri', 'idn-hostname', 'cron']) ajv.addFormat(format, true)
ajv.addSchema(document, 'document', undefined, false)

/** What `part` stands for, references followed. */
export function resolve<Part extends { $ref?: string }>(part: Part): Part {
  if (part.$ref === undefined) return part
  const names = part.$ref.replace('#/', '').split('/')
  return resolve(names.reduce<unknown>((at, name) => (at as Json)[name], document) as Part)
}

const validators = new Map<Schema, ValidateFunction>()

/** Says what does not fit a schema of the document, or `""`. */
export function misfit(schema: Schema, value: unknown): string {
  let validate = validators.get(schema)
  if (!validate) {
    validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')))
    validators.set(schema, validate)
  }
  return validate(value) ? '' : ajv.errorsText(validate.errors)
}

/** Headers that belong to the connection, to the form of a body, or to every answer of HTTP. */
const OF_HTTP = new Set(['date', 'connection', 'keep-alive', 'content-type', 'content-length', 'transfer-encoding'])

const patterns = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    operation,
  })),
)

/** The operation that a request asks for; undefined where there is none, which the document does not speak of. */
export function operationAt(method: string, target: string): Operation | undefined {
  const [path = ''] = target.replace(/^http:\/\/[^/]*/, '').split('?')
  return patterns.find((known) => known.method === method.toLowerCase() && known.pattern.test(path))?.operation
}

/** An answer as any client sees it. */
export type Seen = { status: number; headers: IncomingHttpHeaders; body: unknown }

/**
 * Holds an answer against the document: its status, its headers, every field. What was seen is noted for the end of the
 * run, where everything that is documented must have been.
 *
 * @throws Error when the answer is not as documented.
 */
export function checkDocumented(method: string, target: string, { status, headers, body }: Seen): void {
  const operation = operationAt(method, target)
  if (!operation) return
  const { operationId } = operation
  const what = `${operationId} ${status}`
  const found = operation.responses[status]
  if (!found) throw new Error(`${what} is not documented`)
  const response = resolve(found)
  const documented = new Map(Object.entries(response.headers).map(([name, header]) => [name.toLowerCase(), header]))
  note(what)
  for (const [name, value] of Object.entries(headers)) {
    if (OF_HTTP.has(name)) continue
    const header = documented.get(name)
    const problem = header ? misfit(resolve(header).schema, value) : 'not documented'
    if (problem) throw new Error(`${what}, header ${name}: ${problem}`)
    note(`${what} ${name}:`)
  }
  const content = response.content?.['application/json']
  if (!content) return
  const problem = misfit(content.schema, body)
  if (problem) throw new Error(`${what}: ${problem}`)
  for (const field of fieldsOf(content.schema, body)) note(`${what} ${field}`)
}

/** Everything that the document says can be seen, in the form in which it is noted. */
export function everythingDocumented(): string[] {
  return patterns.flatMap(({ operation: { operationId, responses } }) =>
    Object.entries(responses).flatMap(([status, found]) => {
      const { headers, content } = resolve(found)
      const schema = content?.['application/json']?.schema
      return [
        '',
        ...Object.keys(headers).map((name) => ` ${name.toLowerCase()}:`),
        ...(schema ? allFieldsOf(schema).map((field) => ` ${field}`) : []),
      ].map((seen) => `${operationId} ${status}${seen}`)
    }),
  )
}

/** Names of all fields of a schema: `data[].check.status`, `data[].changes.*.before`. */
function allFieldsOf(part: Schema, at = ''): string[] {
  const { properties = {}, additionalProperties, items, anyOf = [] } = resolve(part)
  return [
    ...Object.entries(properties).flatMap(([name, schema]) => {
      const field = at ? `${at}.${name}` : name
      return [field, ...allFieldsOf(schema, field)]
    }),
    ...(typeof additionalProperties === 'object' ? allFieldsOf(additionalProperties, `${at}.*`) : []),
    ...(items ? allFieldsOf(items, `${at}[]`) : []),
    ...anyOf.flatMap((schema) => allFieldsOf(schema, at)),
  ]
}

/** Names of those fields of a schema that a value has. */
function fieldsOf(part: Schema, value: unknown, at = ''): string[] {
  const { properties = {}, additionalProperties, items, anyOf = [] } = resolve(part)
  if (Array.isArray(value)) return items ? value.flatMap((item) => fieldsOf(items, item, `${at}[]`)) : []
  if (typeof value !== 'object' || value === null) return []
  return [
    ...Object.entries(properties).flatMap(([name, schema]) => {
      const field = at ? `${at}.${name}` : name
      return Object.hasOwn(value, name) ? [field, ...fieldsOf(schema, (value as Json)[name], field)] : []
    }),
    ...(typeof additionalProperties === 'object'
      ? Object.values(value).flatMap((item) => fieldsOf(additionalProperties, item, `${at}.*`))
      : []),
    ...anyOf.flatMap((schema) => fieldsOf(schema, value, at)),
  ]
}

const noted = new Set<string>()

function note(seen: string): void {
  const file = process.env.SEEN_ANSWERS
  if (noted.has(seen) || !file) return
  noted.add(seen)
  appendFileSync(file, `${seen}\n`)
}
