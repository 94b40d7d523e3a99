/**
 * What can go wrong, in domain words. An adapter decides what each means on its wire.
 *
 * - `invalid`: the input does not fit; `details` names every failing path.
 * - `conflict`: the input fits, but not what is stored (a member added twice, the last owner removed).
 * - `unauthenticated`: nobody known stands behind the request.
 * - `forbidden`: the caller is known and not permitted.
 * - `not_found`: no such record, or a removed one, or one of another person.
 * - `outdated`: the record is no longer in a state that the caller expects.
 * - `too_large`: a body passed its bound while it was read.
 * - `too_slow`: a body did not come in time.
 * - `too_many_requests`: the same call may succeed in `retryAfter` seconds.
 * - `unavailable`: a store cannot answer now; the same call may succeed later.
 */
export type ErrorCode =
  | 'invalid'
  | 'conflict'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'outdated'
  | 'too_large'
  | 'too_slow'
  | 'too_many_requests'
  | 'unavailable'

/** One thing wrong with the input. `path` is dotted, as in the input: `contacts.0.email`; `""` is the input itself. */
export type Problem = { path: string; message: string }

/** The only error that the domain throws on purpose. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly details: readonly Problem[]
  /** Of `too_many_requests`: after how many whole seconds the same call may succeed, at least 1. */
  readonly retryAfter: number | undefined

  constructor(
    code: ErrorCode,
    details: readonly Problem[] = [],
    options: { cause?: unknown; retryAfter?: number } = {},
  ) {
    super(details.length === 0 ? code : `${code}: ${details.map((d) => `${d.path}: ${d.message}`).join('; ')}`, options)
    this.code = code
    this.details = details
    this.retryAfter = options.retryAfter
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

/** Shorthand for a limit that is reached until then. */
export function tooManyRequests(milliseconds: number): DomainError {
  return new DomainError('too_many_requests', [], { retryAfter: Math.max(1, Math.ceil(milliseconds / 1000)) })
}

/**
 * Whether a store could not answer. Who asks may not know then whether a change was made, so nothing is to be undone that
 * it may need; and to try anything more would take as long again. What is left over is swept away.
 */
export function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'unavailable'
}
