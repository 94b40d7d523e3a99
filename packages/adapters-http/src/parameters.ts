import { ControlId, DomainError, type Problem, Uuid } from '@security-management/domain'
import * as v from 'valibot'
import type { ParamKind, Route } from './route.ts'

/** One query parameter, decoded; the value is undefined where its percent-encoding is malformed. */
export type Pair = readonly [name: string, value: string | undefined]

/** The parameters of a query string, in order. One whose name cannot be decoded is unknown, and left out. */
export function pairsOf(search: string): Pair[] {
  if (search === '') return []
  return search.split('&').flatMap((part): Pair[] => {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(part.replaceAll('+', ' ')) ?? []
    const decoded = decode(name)
    return decoded ? [[decoded, decode(value)]] : []
  })
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Query parameters under the domain's names, and how the request spells them. */
export type Query = { query: { [name: string]: unknown }; spelling: ReadonlyMap<string, string> }

/**
 * Makes the reader of a route's query parameters, once. Names are exact; an unknown parameter is ignored. Integers and
 * booleans are read where the domain's schema asks for them; what is none stays text, for the domain to refuse.
 *
 * @returns a function that throws DomainError `invalid` for an empty value, and for a parameter that is given twice or
 *   in two spellings, and for a timestamp whose `+` was not encoded.
 */
export function queryReader({ query: schema, aliases = {} }: Route): (pairs: readonly Pair[]) => Query {
  const parameters = new Map<string, { name: string; type: string; entry: v.GenericSchema }>()
  for (const [name, entry] of Object.entries(schema?.entries ?? {})) {
    const type = baseType(entry)
    parameters.set(type === 'array' ? `${name}[]` : name, { name, type, entry })
  }
  for (const [alias, name] of Object.entries(aliases)) {
    const parameter = parameters.get(name)
    if (parameter) parameters.set(alias, parameter)
  }
  return (pairs) => {
    const query: { [name: string]: unknown } = {}
    const spelling = new Map<string, string>()
    const problems: Problem[] = []
    for (const [path, value] of pairs) {
      const parameter = parameters.get(path)
      if (!parameter) continue
      const { name, type, entry } = parameter
      const before = query[name]
      const first = spelling.get(name) ?? path
      if (value === undefined) problems.push({ path, message: 'Malformed percent-encoding' })
      else if (value === '') problems.push({ path, message: 'Must not be empty' })
      else if (first !== path) problems.push({ path, message: `Use one of ${first}, ${path}` })
      else if (lostItsPlus(value, entry)) problems.push({ path, message: LOST_PLUS })
      else if (type === 'array') query[name] = Array.isArray(before) ? [...before, value] : [value]
      else if (spelling.has(name)) problems.push({ path, message: 'Given more than once' })
      else query[name] = coerced(value, type)
      spelling.set(name, path)
    }
    if (problems.length > 0) throw new DomainError('invalid', problems)
    return { query, spelling }
  }
}

const LOST_PLUS = 'Must be an ISO 8601 date or timestamp, in which + is written %2B'

/** Whether a timestamp would fit, had the `+` of its zone not been read as a space, as every one in a query is. */
function lostItsPlus(value: string, entry: v.GenericSchema): boolean {
  const meant = value.replace(/ (?=\d{2}:?\d{2}$)/, '+')
  return meant !== value && !v.is(entry, value) && v.is(entry, meant)
}

/** `number`, `boolean`, `array` or another: what lies beneath a pipe, or beneath an entry that may be left out. */
function baseType(schema: v.GenericSchema): string {
  return 'wrapped' in schema ? baseType(schema.wrapped as v.GenericSchema) : schema.type
}

function coerced(value: string, type: string): unknown {
  if (type === 'number' && /^(?:0|-?[1-9]\d*)$/.test(value)) return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

/** Names of a path's parameters, in order. */
export function paramNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

/**
 * Makes the reader of a route's path parameters, once. It decodes each exactly once.
 *
 * @returns a function of the parts of the path as they were sent, which throws DomainError `not_found` for one of
 *   another form.
 */
export function paramsReader({ path, params: kinds = {} }: Route): (parts: readonly string[]) => ParamValues {
  const names = paramNames(path)
  return (parts) => Object.fromEntries(names.map((name, index) => [name, read(kinds[name] ?? 'text', parts[index])]))
}

type ParamValues = { [name: string]: number | string }

function read(kind: ParamKind, part = ''): number | string {
  const text = decode(part)
  const value = text === undefined ? undefined : FORMS[kind](text)
  if (value === undefined) throw new DomainError('not_found')
  return value
}

const FORMS: Record<ParamKind, (text: string) => number | string | undefined> = {
  id: idOf,
  'id-or-key': (text) => idOf(text) ?? uuidOf(text),
  user: (text) => (text === '0' ? text : uuidOf(text)),
  control: (text) => (v.is(ControlId, text) ? text : undefined),
  text: (text) => text || undefined,
}

function idOf(text: string): number | undefined {
  if (!/^[1-9]\d{0,15}$/.test(text)) return undefined
  return Number.isSafeInteger(Number(text)) ? Number(text) : undefined
}

function uuidOf(text: string): string | undefined {
  const parsed = v.safeParse(Uuid, text)
  return parsed.success ? parsed.output : undefined
}
