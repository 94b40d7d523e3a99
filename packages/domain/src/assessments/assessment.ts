import * as v from 'valibot'
import { object } from '../parse.ts'
import { FreeText, Id, Label, Name, Timestamp } from '../values.ts'

/** 0 to 100. */
const Score = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))

/** The result of an assessment; read-only but for the operator's import. */
export const Assessment = object({
  id: Id,
  created_at: Timestamp,
  score: Score,
  name: object({ en: v.string(), it: v.string() }),
  description: object({ en: v.string(), it: v.string() }),
})
export type Assessment = v.InferOutput<typeof Assessment>

/** One record of an import file: the fields of the contract, `organization` being an id. */
export const ImportedAssessment = object({
  organization: Id,
  /** The time of the import where it is left out. */
  created_at: v.optional(Timestamp),
  score: Score,
  name: object({ en: Name, it: Name }),
  description: v.optional(object({ en: FreeText, it: FreeText }), { en: '', it: '' }),
  /** Plain name of the person who was interviewed, if any. */
  interviewed_user: v.optional(Label, ''),
})
/** An assessment to be stored, its organization by id; `interviewed_user` is a plain name, `""` for none. */
export type NewAssessment = Omit<Assessment, 'id'> & { organization: number; interviewed_user: string }
