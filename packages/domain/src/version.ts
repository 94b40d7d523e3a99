import { DomainError } from './errors.ts'
import type { Needs } from './ports.ts'

/**
 * Names the state that a record is in: the same text while nothing of it has changed, another one afterwards.
 *
 * @param state the record, or the part of it that edits change.
 */
export function versionOf(ports: Needs<'newSha256'>, state: object): string {
  const hash = ports.newSha256()
  hash.update(JSON.stringify(state))
  return hash.digest()
}

/**
 * Lets a change go on if the record is in one of the states that the caller expects; they may expect nothing. Asked with
 * the record's lock held, so that of several changes at once that expect the same state one goes on.
 *
 * @throws DomainError `outdated`.
 */
export function requireVersion(
  ports: Needs<'newSha256'>,
  state: object,
  expected: readonly string[] | undefined,
): void {
  if (expected && !expected.includes(versionOf(ports, state))) throw new DomainError('outdated')
}
