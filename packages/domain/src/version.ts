import { DomainError } from './errors.ts'
import { jsonTurns } from './json-text.ts'
import type { Needs } from './ports.ts'

/**
 * Names the state that a record is in: the same text while nothing of it has changed, another one afterwards.
 *
 * @param state the record, or the part of it that edits change.
 */
export async function versionOf(ports: Needs<'newSha256' | 'nextTurn'>, state: object): Promise<string> {
  const hash = ports.newSha256()
  for await (const piece of jsonTurns(ports, state)) hash.update(piece)
  return hash.digest()
}

/**
 * Lets a change go on if the record is in one of the states that the caller expects; they may expect nothing. Asked with
 * the record's lock held, so that of several changes at once that expect the same state one goes on.
 *
 * @throws DomainError `outdated`.
 */
export async function requireVersion(
  ports: Needs<'newSha256' | 'nextTurn'>,
  state: object,
  expected: readonly string[] | undefined,
): Promise<void> {
  if (expected && !expected.includes(await versionOf(ports, state))) throw new DomainError('outdated')
}
