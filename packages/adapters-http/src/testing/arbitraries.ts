import fc from 'fast-check'
import { misfit, resolve, type Schema } from './documented.ts'

/** Texts of each format, as the service should take them. */
const FORMATS: { [format: string]: fc.Arbitrary<string> } = {
  email: fc.emailAddress(),
  uuid: fc.uuid(),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
  iri: fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.constant('https://bücher.example/straße')),
  'idn-hostname': fc.oneof(fc.domain(), fc.constantFrom('bücher.example', 'пример.example', 'localhost')),
  'date-time': fc
    .date({ min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  date: fc
    .date({ min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  cron: fc
    .tuple(fc.nat(59), fc.nat(23), fc.integer({ min: 1, max: 31 }), fc.integer({ min: 1, max: 12 }), fc.nat(7))
    .chain((fields) => fc.tuple(...fields.map((field) => fc.constantFrom(`${field}`, '*', '*/2'))))
    .map((fields) => fields.join(' ')),
}

/** Values that a schema of the document allows. With `whole`, nothing that may be there is missing. */
export function valid(part: Schema, whole = false): fc.Arbitrary<unknown> {
  const schema = resolve(part)
  return anyOf(schema, whole).filter((value) => misfit(schema, value) === '')
}

function anyOf(schema: Schema, whole: boolean): fc.Arbitrary<unknown> {
  if (!schema.anyOf) return ofType(schema, whole)
  const { anyOf: _, ...rest } = schema
  return fc.oneof(...schema.anyOf.map((alternative) => valid({ ...rest, ...resolve(alternative) }, whole)))
}

function ofType(schema: Schema, whole: boolean): fc.Arbitrary<unknown> {
  const { type, format, properties, items, minimum, maximum, minLength, maxLength, maxItems } = schema as Schema &
    Bounds
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...(schema.enum as unknown[]))
  if (type === 'null') return fc.constant(null)
  if (type === 'boolean') return fc.boolean()
  if (type === 'integer') {
    const bounds = { min: minimum ?? Number.MIN_SAFE_INTEGER, max: maximum ?? Number.MAX_SAFE_INTEGER }
    return fc.oneof(fc.integer(bounds), fc.constantFrom(bounds.min, bounds.max))
  }
  if (type === 'number') return fc.double({ min: minimum ?? -1e300, max: maximum ?? 1e300, noNaN: true })
  if (type === 'string' && format && FORMATS[format]) return FORMATS[format]
  if (type === 'string') {
    const short = fc.string({ unit: 'grapheme', minLength: minLength ?? 0, maxLength: Math.min(maxLength ?? 30, 30) })
    return maxLength === undefined
      ? short
      : fc.oneof({ weight: 9, arbitrary: short }, fc.constant('é'.repeat(maxLength)))
  }
  if (type === 'array') {
    return fc.array(valid(items ?? {}, whole), { minLength: whole ? 1 : 0, maxLength: Math.min(maxItems ?? 3, 3) })
  }
  if (properties) {
    const entries = Object.entries(properties).map(([name, property]) => [name, valid(property, whole)] as const)
    const requiredKeys = whole ? Object.keys(properties) : ((schema.required ?? []) as string[])
    return fc.record(Object.fromEntries(entries), { requiredKeys, noNullPrototype: true })
  }
  if (type === 'object')
    return fc.dictionary(fc.string(), JSON_VALUE, { maxKeys: 3, noNullPrototype: true }).filter(isOwn)
  throw new Error(`No values for ${JSON.stringify(schema)}`)
}

type Bounds = {
  type?: string
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
}

const JSON_VALUE = fc.jsonValue({ maxDepth: 2 })
const isOwn = (value: object) => JSON.stringify(JSON.parse(JSON.stringify(value))) === JSON.stringify(value)

/** Values that hardly any schema allows; which of them one does not, the schema itself says. */
const ODD: unknown[] = [
  ...[null, true, 0, -1, 1.5, 101, 2 ** 53, -1e300, '', ' ', 'nothing', 'a\u0007b', '\u0000', '-', '%', '.', '..'],
  ...['javascript:alert(1)', 'http:/x', '300.1.1.1', 'fe80::1%eth0', 'a b@example.com', 'a@@b', 'x'.repeat(256)],
  ...[
    'x'.repeat(10_001),
    'yesterday',
    '2025-02-30T00:00:00Z',
    '* * * *',
    '61 * * * *',
    'a..b',
    '-a.example',
    '1.2.3.4',
  ],
  ...[[], {}, [[]], [null], { data: {} }, ['x']],
]

/** One way to break a value: a wrong one in one place of it, or nothing there (`undefined`). */
export type Break = { path: string[]; wrong: unknown }

/** Every way to break a value that is whole, one constraint at a time. */
export function breaks(part: Schema, path: string[] = []): Break[] {
  const schema = resolve(part)
  const { properties = {}, items, maxItems } = schema as Schema & Bounds
  const required = (schema.required ?? []) as string[]
  const wrong = [...ODD, ...justOutside(schema)].filter((odd) => misfit(schema, odd) !== '' && !isInside(schema, odd))
  return [
    ...wrong.map((value) => ({ path, wrong: value })),
    ...required.map((name) => ({ path: [...path, name], wrong: undefined })),
    ...Object.entries(properties).flatMap(([name, property]) => breaks(property, [...path, name])),
    ...(items ? breaks(items, [...path, '0']) : []),
    ...(items && maxItems ? [{ path, wrong: Array(maxItems + 1).fill(smallest(items)) }] : []),
  ]
}

/** Values that miss a bound of the schema by one. */
export function justOutside({ type, minimum, maximum, minLength, maxLength }: Schema & Bounds): unknown[] {
  const beside = (bound: number | undefined, by: number) => (bound === undefined ? [] : [bound + by])
  const lengths = [...beside(minLength, -1), ...beside(maxLength, 1)].filter((length) => length >= 0)
  return [
    ...(type === 'integer' ? [...beside(minimum, -1), ...beside(maximum, 1)] : []),
    ...lengths.map((length) => 'x'.repeat(length)),
  ]
}

/** A value that is allowed and short, so that very many of them are not too large for a body. */
function smallest(schema: Schema): unknown {
  const length = (value: unknown) => JSON.stringify(value).length
  return fc.sample(valid(schema), 50).sort((a, b) => length(a) - length(b))[0]
}

/** Whether what is wrong with the value lies deeper inside: that is broken one by one. */
function isInside({ type, properties }: Schema & Bounds, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  return properties !== undefined && typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value, broken. */
export function broken(value: unknown, { path, wrong }: Break): unknown {
  const [name, ...rest] = path
  if (name === undefined) return wrong
  if (Array.isArray(value)) return [broken(value[0], { path: rest, wrong }), ...value.slice(1)]
  const { [name]: before, ...others } = value as { [name: string]: unknown }
  const after = broken(before, { path: rest, wrong })
  return after === undefined ? others : { ...others, [name]: after }
}
