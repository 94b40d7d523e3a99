import { invalid } from '../errors.ts'
import type { Needs, Seal, Stores } from '../ports.ts'

/** How long an answer is kept, in milliseconds (decisions.md §2): 24 hours. */
export const KEPT_FOR = 24 * 60 * 60 * 1000

/** A call that may be sent again: what names it, and the SHA-256 of all that was sent with it. */
export type RepeatableCall = { seal: Seal; fingerprint: string }

/** What a call is known by that carries this key: its sender's secret and the key. */
export function sealOfCall(ports: Needs<'sealOf'>, secret: string, key: string): Seal {
  return ports.sealOf(secret, `Idempotency-Key ${key}`)
}

/**
 * Runs `work`, which is a unit or the last one of several, once for all calls with the same seal: the answer is kept in
 * the same unit as the change, so either both are there or neither is. A call that comes while the first is under way
 * waits for it. What fails is not kept, and runs again.
 *
 * @param work makes the change and its answer, whose text is kept.
 * @returns the text of the answer: of the earlier one where `work` was not run.
 * @throws DomainError `invalid` when something else was sent with the same key.
 */
export async function answerOnce(
  ports: Needs<'now'>,
  stores: Pick<Stores, 'answers'>,
  { seal, fingerprint }: RepeatableCall,
  work: () => Promise<string>,
): Promise<string> {
  const now = ports.now()
  const sealed = await stores.answers.claim(seal.id, now.toISOString(), sinceOf(now))
  if (sealed) return answerIn({ seal, fingerprint }, sealed)
  const answer = await work()
  await stores.answers.keep(seal.id, seal.seal(fingerprint + answer))
  return answer
}

/** Whether an answer is kept that was given to whoever holds this secret and key, whatever was sent. */
export async function hasAnswer(ports: Needs<'answers' | 'now'>, seal: Seal): Promise<boolean> {
  return (await ports.answers.find(seal.id, sinceOf(ports.now()))) !== undefined
}

/** Forgets the answers that have been kept long enough. */
export async function forgetAnswers(ports: Needs<'transact' | 'now'>): Promise<void> {
  await ports.transact((stores) => stores.answers.forget(sinceOf(ports.now())))
}

function answerIn({ seal, fingerprint }: RepeatableCall, sealed: Uint8Array): string {
  const text = seal.open(sealed)
  if (text.startsWith(fingerprint)) return text.slice(fingerprint.length)
  throw invalid('Idempotency-Key', 'The key was used with another request in the last 24 hours')
}

function sinceOf(now: Date): string {
  return new Date(now.getTime() - KEPT_FOR).toISOString()
}
