import { DomainError, type ErrorCode } from '@security-management/domain'
import { withoutSecrets } from '../log.ts'

/** Problems of an import that are told of; of more, only their number. */
const MAX_PROBLEMS = 5
const MAX_LENGTH = 2000

const WORDS: Record<ErrorCode, string> = {
  invalid: 'The input is not valid',
  conflict: 'This contradicts what is stored',
  unauthenticated: 'Not authenticated',
  forbidden: 'Not permitted',
  not_found: 'There is no such record',
  outdated: 'The record was changed meanwhile',
  too_large: 'The input is too large',
  too_slow: 'The input did not come in time',
  too_many_requests: 'Too many requests',
  unavailable: 'The database cannot answer',
}

/** What went wrong, on one line of bounded length. */
export function explain(error: unknown): string {
  const line = withoutSecrets(wordsOf(error)).replace(/\s+/g, ' ').trim()
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!(error instanceof DomainError)) return error.message || innerMessages(error) || error.name
  const problems = error.details
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => (path ? `${path}: ${message}` : message))
  const more = error.details.length - problems.length
  if (more > 0) problems.push(`and ${more} more`)
  if (problems.length > 0) return problems.join('; ')
  const cause = error.cause instanceof Error ? wordsOf(error.cause) : ''
  return cause ? `${WORDS[error.code]}: ${cause}` : WORDS[error.code]
}

/** Node tells of a host with several addresses, none of which answers, in an error without a message. */
function innerMessages(error: Error): string {
  return error instanceof AggregateError ? error.errors.map(wordsOf).join(', ') : ''
}
