import type * as v from 'valibot'
import { DomainError, invalid, type Problem } from './errors.ts'
import { parse } from './parse.ts'
import type { Stores } from './ports.ts'

/** Told after each record that was taken in, so that long work shows its progress. */
export type OnProgress = (done: number, total: number) => void

/**
 * Takes in the records of an operator's import file inside a running transaction: all or nothing. Records are counted
 * from 0 in the paths of errors (decisions.md §4, Import files).
 *
 * @throws DomainError `invalid`: no array, or wrong records, each named by index and path; an organization that does
 *   not exist counts as wrong.
 */
export async function importRecords<Schema extends v.GenericSchema<unknown, { organization: number }>>(
  stores: Pick<Stores, 'organizations'>,
  schema: Schema,
  input: unknown,
  take: (record: v.InferOutput<Schema>) => Promise<void>,
  onProgress: OnProgress = () => {},
): Promise<number> {
  if (!Array.isArray(input)) throw invalid('', 'An import file is a JSON array of records')
  const problems: Problem[] = []
  const records: v.InferOutput<Schema>[] = []
  for (const [index, item] of input.entries()) {
    try {
      records.push(parse(schema, item))
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      problems.push(
        ...error.details.map(({ path, message }) => ({ path: path ? `${index}.${path}` : `${index}`, message })),
      )
    }
  }
  if (problems.length > 0) throw new DomainError('invalid', problems)
  const known = new Map<number, boolean>()
  for (const [index, record] of records.entries()) {
    const { organization } = record
    if (!known.has(organization)) known.set(organization, await stores.organizations.isActive(organization))
    if (!known.get(organization)) throw invalid(`${index}.organization`, `There is no organization ${organization}`)
    await take(record)
    onProgress(index + 1, records.length)
  }
  return records.length
}
