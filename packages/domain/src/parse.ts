import * as v from 'valibot'
import { DomainError, type Problem } from './errors.ts'

/** Longest message of one problem, in characters: what was sent is quoted in it and may be long. */
const MESSAGE_LENGTH = 200

/** Values that an input may hold for all of its failing paths to be told of. */
const MAX_VALUES = 20_000

/**
 * Reads unknown input as `schema` says and returns the parsed value.
 *
 * @throws DomainError `invalid`, with every failing path; with the first alone where the input is so large that a list
 *   of them could take seconds and gigabytes.
 */
export function parse<Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input, { abortEarly: true })
  if (result.success) return result.output
  const { issues = result.issues } = isLarge(input) ? result : v.safeParse(schema, input)
  throw new DomainError('invalid', issues.map(problem))
}

function isLarge(input: unknown): boolean {
  const open = [input]
  for (let values = 1; open.length > 0; values += 1) {
    if (values > MAX_VALUES || open.length > MAX_VALUES) return true
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    const inner = Object.values(value)
    if (inner.length > MAX_VALUES) return true
    open.push(...inner)
  }
  return false
}

function problem(issue: v.BaseIssue<unknown>): Problem {
  const path = (issue.path ?? []).map((item) => String(item.key)).join('.')
  const message = issue.message
  return { path, message: message.length > MESSAGE_LENGTH ? `${message.slice(0, MESSAGE_LENGTH)}…` : message }
}

/**
 * `v.object` that refuses an array, which valibot itself takes for an object whose keys are all missing.
 * Unknown keys are dropped, so an older service serves a newer client (decisions.md §2).
 */
export function object<const Entries extends v.ObjectEntries>(entries: Entries): v.ObjectSchema<Entries, undefined> {
  const schema = v.object(entries)
  const run = schema['~run'].bind(schema)
  return Object.assign(schema, {
    '~run'(dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) {
      if (!Array.isArray(dataset.value)) return run(dataset, config)
      v._addIssue(schema as never, 'type', dataset, config)
      return dataset
    },
  }) as v.ObjectSchema<Entries, undefined>
}

/** The same schema, with what a field of this shape means: for whoever reads the code, and the API document. */
export function described<const Schema extends v.GenericSchema>(schema: Schema, meaning: string) {
  return v.pipe(schema, v.description(meaning))
}

/** The entries of an edit: each may be left out, and what is left out stays as it is. No defaults. */
export function optionalEntries<const Entries extends v.ObjectEntries>(
  entries: Entries,
): { [Key in keyof Entries]: v.OptionalSchema<Entries[Key], undefined> } {
  return Object.fromEntries(Object.entries(entries).map(([key, schema]) => [key, v.optional(schema)])) as never
}
