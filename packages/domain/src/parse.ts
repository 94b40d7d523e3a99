import * as v from 'valibot'
import { DomainError, type Problem } from './errors.ts'
import type { Needs } from './ports.ts'

/** Longest message of one problem, in characters: what was sent is quoted in it and may be long. */
const MESSAGE_LENGTH = 200

/** Longest quotation of what was sent where more is to be said, in characters. */
const QUOTE_LENGTH = 60

/** Values that an input may hold for all of its failing paths to be told of. */
const MAX_VALUES = 20_000

/**
 * Reads unknown input as `schema` says and returns the parsed value.
 *
 * @param input also what `checkInParts` made of it, for the same schema.
 * @throws DomainError `invalid`, with every failing path; with the first alone where the input is so large that a list
 *   of them could take seconds and gigabytes.
 */
export function parse<Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> {
  if (input instanceof CheckedInput) return input.outputOf(schema)
  const result = v.safeParse(schema, input, { abortEarly: true })
  if (result.success) return result.output
  throw refusal(schema, input, result.issues)
}

/** The error that tells of every issue, or of the first alone where the input is large. */
function refusal(schema: v.GenericSchema, input: unknown, first: v.BaseIssue<unknown>[]): DomainError {
  const { issues = first } = isLarge(input) ? { issues: first } : v.safeParse(schema, input)
  return new DomainError('invalid', issues.map(problem))
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

/** Input that was looked at before: what `parse` returns or throws for it is settled. */
class CheckedInput {
  readonly #schema: v.GenericSchema
  readonly #outcome: { output: unknown } | { refusal: DomainError }

  constructor(schema: v.GenericSchema, outcome: { output: unknown } | { refusal: DomainError }) {
    this.#schema = schema
    this.#outcome = outcome
  }

  outputOf<Schema extends v.GenericSchema>(schema: Schema): v.InferOutput<Schema> {
    if (schema !== this.#schema) throw new Error('The input was checked against another schema')
    if ('refusal' in this.#outcome) throw this.#outcome.refusal
    return this.#outcome.output as v.InferOutput<Schema>
  }
}

/**
 * Looks at input that may be large ahead of `parse`, a part at a time with a turn of the event loop between: before a
 * unit of work begins, which is to wait for nothing.
 *
 * @returns what `parse` takes in place of the input, and then returns or throws what it would for the input itself.
 */
export async function checkInParts(
  ports: Needs<'nextTurn'>,
  schema: v.GenericSchema,
  input: unknown,
): Promise<unknown> {
  if (input instanceof CheckedInput) return input
  const survey: Survey = { abortEarly: true, known: new Map(), seen: 0, failed: false }
  for (const _ of lookOf(schema)?.(input, survey) ?? []) await ports.nextTurn()
  const { value, issues } = schema['~run']({ value: input }, survey)
  return new CheckedInput(schema, issues ? { refusal: refusal(schema, input, issues) } : { output: value })
}

/** Values that are looked at in one turn of the event loop: a few milliseconds. */
const PART = 1000

/** A longer array is looked at by itself, a part at a time. */
const SHORT = 100

type Dataset = v.OutputDataset<unknown, v.BaseIssue<unknown>>

/** The configuration of a run that looks at the input in parts. The outer schemas take from it what is known of the inner. */
type Survey = v.Config<v.BaseIssue<unknown>> & {
  /** What a schema makes of a value. */
  known: Map<object, Map<unknown, Dataset>>
  /** Values since the last turn. */
  seen: number
  /** Whether something was found that ends the run. */
  failed: boolean
}

/** Looks at what may be large in the input, the innermost first, and yields whenever other work may have a turn. */
type Look = (input: unknown, survey: Survey) => Generator<void>

function lookOf(schema: object): Look | undefined {
  if ('wrapped' in schema) return lookOf(schema.wrapped as object)
  return '~look' in schema ? (schema['~look'] as Look) : undefined
}

/** The schema, run as `run` says where nothing is known of the value yet. A pipe that begins with it looks as it does. */
function looking<Schema extends v.GenericSchema>(schema: Schema, look: (self: Schema) => Look): Schema {
  const run = schema['~run'].bind(schema)
  const self: Schema = Object.assign(schema, {
    '~run'(dataset: v.UnknownDataset, config: Partial<Survey>) {
      const known = config.known?.get(self)?.get(dataset.value)
      return known ? Object.assign(dataset, known) : run(dataset, config as Survey)
    },
  })
  return Object.assign(self, { '~look': look(self) })
}

function note(survey: Survey, schema: object, input: unknown, dataset: Dataset): void {
  const known = survey.known.get(schema) ?? new Map<unknown, Dataset>()
  survey.known.set(schema, known.set(input, dataset))
  if (dataset.issues) survey.failed = true
}

/**
 * `v.object` that refuses an array, which valibot itself takes for an object whose keys are all missing.
 * Unknown keys are dropped, so an older service serves a newer client (decisions.md §2).
 */
export function object<const Entries extends v.ObjectEntries>(entries: Entries): v.ObjectSchema<Entries, undefined> {
  const schema = v.object(entries)
  const run = schema['~run'].bind(schema)
  const looks = Object.entries(entries).flatMap(([key, entry]) => {
    const look = lookOf(entry)
    return look ? [{ key, look }] : []
  })
  return Object.assign(schema, {
    '~run'(dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) {
      if (!Array.isArray(dataset.value)) return run(dataset, config)
      v._addIssue(schema as never, 'type', dataset, config)
      return dataset
    },
    ...(looks.length > 0 && {
      *'~look'(input: unknown, survey: Survey) {
        if (typeof input !== 'object' || input === null) return
        for (const { key, look } of looks) {
          if (survey.failed) return
          if (key in input) yield* look((input as { [key: string]: unknown })[key], survey)
        }
      },
    }),
  }) as v.ObjectSchema<Entries, undefined>
}

/** `v.array` that `checkInParts` looks at in parts. */
export function array<const Item extends v.GenericSchema>(item: Item): v.ArraySchema<Item, undefined> {
  const lookAtItem = lookOf(item)
  const plain = v.array(item)
  return looking(v.array(item), (schema) => {
    return function* (input, survey) {
      if (!Array.isArray(input)) return
      if (!lookAtItem && input.length <= SHORT) {
        survey.seen += input.length
        return
      }
      const output: v.InferOutput<Item>[] = []
      let issues: Dataset['issues']
      for (let from = 0, to = 0; to < input.length && !issues; from = to) {
        do {
          if (lookAtItem) yield* lookAtItem(input[to], survey)
          survey.seen += 1
          to += 1
        } while (to < input.length && survey.seen < PART && !survey.failed)
        const part = plain['~run']({ value: input.slice(from, to) }, survey)
        if (part.typed) for (const value of part.value) output.push(value)
        issues = part.issues
        for (const { path } of issues ?? []) if (path) Object.assign(path[0], { key: Number(path[0].key) + from })
        if (survey.seen >= PART) {
          yield
          survey.seen = 0
        }
      }
      note(survey, schema, input, issues ? { typed: false, value: output, issues } : { typed: true, value: output })
    }
  })
}

/**
 * `v.custom` whose check `checkInParts` runs in parts.
 *
 * @param check yields after each value that it has seen.
 */
export function custom<Type>(
  check: (value: unknown) => Generator<void, boolean>,
  message: string,
): v.CustomSchema<Type, v.ErrorMessage<v.CustomIssue> | undefined> {
  const atOnce = (value: unknown) => {
    const steps = check(value)
    for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
  }
  return looking(v.custom<Type>(atOnce, message), (schema) => {
    return function* (input, survey) {
      const steps = check(input)
      let step = steps.next()
      for (; !step.done; step = steps.next()) {
        survey.seen += 1
        if (survey.seen < PART) continue
        yield
        survey.seen = 0
      }
      const settled = v.custom<Type>(() => step.value === true, message)
      note(survey, schema, input, settled['~run']({ value: input }, survey))
    }
  })
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
