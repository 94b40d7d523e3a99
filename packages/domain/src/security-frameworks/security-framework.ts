import * as v from 'valibot'
import { invalid } from '../errors.ts'
import { array, described, object } from '../parse.ts'
import { pattern } from '../pattern.ts'
import {
  Count,
  CronExpression,
  FreeText,
  Id,
  JsonObject,
  Label,
  list,
  Name,
  NO_CONTROL,
  ShortText,
  Timestamp,
  Weight,
} from '../values.ts'

/** Evidence entries of one control (decisions.md §2). */
export const MAX_EVIDENCES = 10_000

/**
 * Bytes of all controls of a framework, each as JSON: 32 MiB. What is sent is bounded by the request, and grows once it is
 * stamped; without a bound on what is kept, request by request could add to a framework that no process can read.
 */
export const MAX_CONTROLS_BYTES = 32 * 1024 * 1024

/**
 * @param bytes of all controls as they would be stored, each as JSON.
 * @throws DomainError `invalid` past `MAX_CONTROLS_BYTES`.
 */
export function requireStorable(bytes: number): void {
  if (bytes <= MAX_CONTROLS_BYTES) return
  throw invalid(
    'security_frameworks',
    `The controls would take more than ${MAX_CONTROLS_BYTES} bytes with their evidence`,
  )
}

/** Evidence entries that one request may send: many empty ones grow, once they are stamped, past what can be stored. */
const MAX_SENT_EVIDENCES = 100_000

/**
 * A path of an uploaded document. Longer than other texts, since a path of our own holds the control's id
 * percent-encoded, up to 12 characters for each of its 64.
 */
const FilePath = v.pipe(
  v.string(),
  v.maxLength(2048),
  v.check((value) => v.is(FreeText, value), 'Must be a path'),
  v.metadata({ pattern: NO_CONTROL }),
)

/** Who submitted an evidence entry. */
export const Submitter = object({ user_id: ShortText, user_email: ShortText })

/** One piece of evidence: entries are a history, the newest last. */
export const Evidence = object({
  files: described(
    v.array(v.string()),
    'Paths of uploaded documents; a path opens nothing by itself, every download checks rights anew.',
  ),
  details: v.string(),
  datetime: Timestamp,
  completed: described(Count, '0 is open, anything above is done.'),
  residual_risk: described(Weight, 'What remains at risk, from 0 up.'),
  submitted_by: Submitter,
})
export type Evidence = v.InferOutput<typeof Evidence>

/** The `datetime` of the last completed evidence; undefined for none. */
export function lastCompleted(evidences: Evidence[]): string | undefined {
  let last: string | undefined
  for (const { completed, datetime } of evidences) {
    if (completed > 0 && (last === undefined || datetime > last)) last = datetime
  }
  return last
}

/** Evidence as a client sends it: of `datetime` and `submitted_by` only what is stored already is taken (see `edit`). */
export const SentEvidence = object({
  files: v.optional(list(FilePath), []),
  details: v.optional(FreeText, ''),
  datetime: v.optional(Timestamp),
  completed: v.optional(Count, 0),
  residual_risk: v.optional(Weight, 0),
  submitted_by: v.optional(Submitter),
})
export type SentEvidence = v.InferOutput<typeof SentEvidence>

const unprintable = pattern(String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]`, 'u')

// The format characters of the first plane, as every language's regular expressions can tell them.
const PRINTABLE =
  '^[^\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]+$'

/** 1 to 64 printable characters, `/` included, but not `.` or `..`, which a path cannot carry. */
export const ControlId = v.pipe(
  v.string(),
  v.check(
    (value) => value !== '' && value.length <= 128 && [...value].length <= 64 && !unprintable().test(value),
    'A control id has 1 to 64 printable characters',
  ),
  v.check((value) => value !== '.' && value !== '..', 'A control id is not . or ..'),
  v.metadata({ minLength: 1, maxLength: 64, pattern: PRINTABLE, not: { enum: ['.', '..'] } }),
)

const EVIDENCE_TYPES = ['self', 'automated'] as const

const entries = {
  id: ControlId,
  type: v.optional(Label, 'control'),
  title: Name,
  weight: v.optional(described(Weight, 'From 0 up; weights need not add up to 1.'), 0),
  details: v.optional(JsonObject, {}),
  frequency: v.optional(described(CronExpression, 'When evidence is due, in UTC.'), ''),
  description: v.optional(FreeText, ''),
  evidence_type: v.optional(v.picklist(EVIDENCE_TYPES), 'self'),
}

/** A control as a client sends it. Where `evidences` is left out, those of a control that is there already stay. */
export const SentControl = object({
  ...entries,
  evidences: v.optional(
    v.pipe(array(SentEvidence), v.maxLength(MAX_EVIDENCES, `A control has at most ${MAX_EVIDENCES} evidences`)),
  ),
})
export type SentControl = v.InferOutput<typeof SentControl>

/** A control of a security framework, with its evidence. */
export const Control = object({
  id: ControlId,
  type: v.string(),
  title: v.string(),
  weight: Weight,
  details: JsonObject,
  evidences: v.array(Evidence),
  frequency: v.string(),
  description: v.string(),
  evidence_type: v.picklist(EVIDENCE_TYPES),
})
export type Control = v.InferOutput<typeof Control>

const SentControls = v.pipe(
  list(SentControl),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const sent = dataset.value.reduce((sum, { evidences = [] }) => sum + evidences.length, 0)
    if (sent > MAX_SENT_EVIDENCES) addIssue({ message: `At most ${MAX_SENT_EVIDENCES} evidences can be sent at once` })
    const seen = new Set<string>()
    for (const [index, control] of dataset.value.entries()) {
      if (seen.has(control.id)) {
        const input = dataset.value
        addIssue({
          message: 'Another control of this framework has the same id',
          path: [
            { type: 'array', origin: 'value', input, key: index, value: control },
            { type: 'object', origin: 'value', input: control, key: 'id', value: control.id },
          ],
        })
      }
      seen.add(control.id)
    }
  }),
)

/** What it takes to associate a framework with an organization: a title. */
export const NewSecurityFramework = object({
  title: Name,
  security_frameworks: v.optional(SentControls, []),
})

/** A partial edit: `title` and `security_frameworks` are replaced where they are named. */
export const SecurityFrameworkEdit = object({
  title: v.optional(Name),
  security_frameworks: v.optional(SentControls),
})

/** A security framework that an organization must satisfy, with its controls. */
export const SecurityFramework = object({
  id: Id,
  title: v.string(),
  security_frameworks: v.array(Control),
})
export type SecurityFramework = v.InferOutput<typeof SecurityFramework>
