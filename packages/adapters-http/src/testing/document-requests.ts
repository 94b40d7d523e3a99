import fc from 'fast-check'
import type { Route } from '../route.ts'
import { routes } from '../routes/index.ts'
import { breaks, broken, justOutside, valid } from './arbitraries.ts'
import { document, misfit, type Operation, type Parameter, resolve, type Schema } from './documented.ts'

/** A request as the document describes it, to be sent to its operation. */
export type Generated = { search: string; json?: unknown; multipart: boolean }

/** A request that breaks the document in one place, and how that place is called in `details`. */
export type Broken = Generated & { path: string }

export function operationOf({ path, method }: Route): Operation {
  const operation = document.paths[path]?.[method]
  if (!operation) throw new Error(`${method} ${path} is not documented`)
  return operation
}

function bodySchemaOf({ requestBody }: Operation): Schema | undefined {
  return requestBody?.content['application/json']?.schema
}

/** Parameters of the query, each with the names by which it goes. */
function queryOf(route: Route): { names: string[]; parameter: Parameter }[] {
  const { parameters = [] } = operationOf(route)
  const aliases = Object.entries(route.aliases ?? {})
  return parameters
    .filter((parameter) => parameter.in === 'query' && !(parameter.name in (route.aliases ?? {})))
    .map((parameter) => ({
      names: [parameter.name, ...aliases.filter(([, of]) => of === parameter.name).map(([alias]) => alias)],
      parameter,
    }))
}

function searchOf(pairs: readonly (readonly [name: string, value: unknown])[]): string {
  const flat = pairs.flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, `${one}`]))
  return new URLSearchParams(flat as [string, string][]).toString()
}

const offersForm = ({ requestBody }: Operation) => requestBody?.content['multipart/form-data'] !== undefined

/** Requests that the document allows. `settle` puts ids of what exists into a body. */
export function validRequests(route: Route, settle: (body: object) => object, whole = false): fc.Arbitrary<Generated> {
  const operation = operationOf(route)
  const schema = bodySchemaOf(operation)
  const pairs = queryOf(route).map(({ names, parameter }) => {
    const pair = fc.tuple(fc.constantFrom(...names), valid(parameter.schema, whole))
    return parameter.required ? pair : fc.option(pair, { nil: undefined })
  })
  return fc.record({
    search: fc.tuple(...pairs).map((given) => searchOf(given.filter((pair) => pair !== undefined))),
    ...(schema && { json: valid(schema, whole).map((body) => settle(body as object)) }),
    multipart: offersForm(operation) ? fc.boolean() : fc.constant(false),
  })
}

/** Requests that the document allows but for one place. */
export function brokenRequests(route: Route, settle: (body: object) => object): fc.Arbitrary<Broken>[] {
  const operation = operationOf(route)
  const schema = bodySchemaOf(operation)
  const inBody = schema ? breaks(schema) : []
  const inQuery = queryOf(route).flatMap(({ names, parameter }) =>
    wrongTexts(parameter).flatMap((wrong) => names.map((name) => ({ name, wrong }))),
  )
  const bodies: fc.Arbitrary<Broken>[] =
    inBody.length === 0
      ? []
      : [
          fc
            .tuple(validRequests(route, settle, true), fc.constantFrom(...inBody))
            .map(([request, way]) => ({ ...request, json: broken(request.json, way), path: way.path.join('.') })),
        ]
  const queries: fc.Arbitrary<Broken>[] =
    inQuery.length === 0
      ? []
      : [
          fc.constantFrom(...inQuery).map(({ name, wrong }) => ({
            search: searchOf([[name, wrong]]),
            multipart: false,
            path: name,
          })),
        ]
  return [...bodies, ...queries]
}

/** Texts that a parameter of the query does not allow. */
function wrongTexts({ schema: part, name }: Parameter): string[] {
  const schema = resolve(part)
  const item = schema.items ? resolve(schema.items) : schema
  const odd = [
    '',
    'nothing',
    '-1',
    '1.5',
    '99999999999999999999',
    '1e3',
    'TRUE',
    'a\u0007b',
    'x'.repeat(256),
    '2025-02-30',
  ]
  const meant = (text: string) => (item.type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text)
  const wrong = [...odd, ...justOutside(item).map(String)].filter(
    (text) => text === '' || misfit(item, meant(text)) !== '',
  )
  if (wrong.length === 0) throw new Error(`Nothing is wrong for ${name}`)
  return wrong
}

/** The operations whose requests have something to choose: a query or a body. */
export const described = routes.filter(({ query, body }) => query !== undefined || body !== undefined)

type Problem = { path: string }

/** What is refused although the document allows it, since no schema can say it: these places of a request. */
const RULES: { [id: string]: { path: RegExp; because: string } } = {
  addMember: { path: /^email$/, because: 'it is required where the path names nobody, and no member is added twice' },
  editMember: { path: /^role$/, because: 'an organization keeps an owner' },
  createSecurityFramework: { path: /^security_frameworks\.\d+\.id$/, because: 'control ids are unique' },
  editSecurityFramework: { path: /^security_frameworks\.\d+\.id$/, because: 'control ids are unique' },
  issueToken: { path: /^expires_at$/, because: 'a token expires in the future' },
  readStatistics: { path: /^(from|to|bucket)$/, because: 'a period has a beginning, an end, and not too many buckets' },
  readAllStatistics: { path: /^(from|to|bucket)$/, because: 'as above' },
}

/** Whether a 400 is for such a rule alone. */
export function isRule(id: string, details: Problem[]): boolean {
  const rule = RULES[id]
  return rule !== undefined && details.length > 0 && details.every(({ path }) => rule.path.test(path))
}

/** Whether a problem is said of this place, or of one inside it. */
export function names(details: Problem[], place: string): boolean {
  return details.some(({ path }) => place === '' || path === place || path.startsWith(`${place}.`))
}
