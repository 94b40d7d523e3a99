import * as v from 'valibot'
import { DomainError, type Problem } from './errors.ts'

/** Longest message of one problem, in characters: what was sent is quoted in it and may be long. */
const MESSAGE_LENGTH = 200

/** Longest quotation of what was sent where more is to be said, in characters. */
const QUOTE_LENGTH = 60

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
  return { path, message: shortened(messageOf(issue), MESSAGE_LENGTH) }
}

/** What is wrong, in words of ours where valibot has but its own. */
function messageOf({ kind, type, message, received, requirement, ...issue }: v.BaseIssue<unknown>): string {
  if (!message.startsWith('Invalid ')) return message
  if (kind === 'schema' && received === 'undefined') return 'Required'
  // The value first, since there may be more options than a message holds.
  if (type === 'picklist') return `${shortened(received ?? '', QUOTE_LENGTH)} is none of ${optionsOf(issue.expected)}`
  if (type === 'safe_integer') return 'Must be a whole number of at most 2^53 − 1'
  if (type === 'min_value') return `Must be at least ${requirement}, and is ${received}`
  if (type === 'max_value') return `Must be at most ${requirement}, and is ${received}`
  return message
}

/** `"a", "b"` of `("a" | "b")`. */
function optionsOf(expected: string | null): string {
  return (expected ?? '').replace(/^\(|\)$/g, '').replaceAll(' | ', ', ')
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
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
