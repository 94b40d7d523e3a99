/**
 * What can go wrong, in domain words. An adapter decides what each means on its wire.
 *
 * - `invalid`: the input does not fit; `details` names every failing path.
 * - `conflict`: the input fits, but not what is stored (a member added twice, the last owner removed).
 * - `unauthenticated`: nobody known stands behind the request.
 * - `forbidden`: the caller is known and not permitted.
 * - `not_found`: no such record, or a removed one, or one of another person.
 * - `too_large`: a body passed its bound while it was read.
 * - `unavailable`: a store cannot answer now; the same call may succeed later.
 */
export type ErrorCode =
  | 'invalid'
  | 'conflict'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'too_large'
  | 'unavailable'

/** One thing wrong with the input. `path` is dotted, as in the input: `contacts.0.email`; `""` is the input itself. */
export type Problem = { path: string; message: string }

/** The only error that the domain throws on purpose. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly details: readonly Problem[]

  constructor(code: ErrorCode, details: readonly Problem[] = [], options?: { cause: unknown }) {
    super(details.length === 0 ? code : `${code}: ${details.map((d) => `${d.path}: ${d.message}`).join('; ')}`, options)
    this.code = code
    this.details = details
  }
}

/** Shorthand for one invalid path. */
export function invalid(path: string, message: string): DomainError {
  return new DomainError('invalid', [{ path, message }])
}

/** Shorthand for one path that contradicts what is stored. */
export function conflict(path: string, message: string): DomainError {
  return new DomainError('conflict', [{ path, message }])
}
