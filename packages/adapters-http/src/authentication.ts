import type { IncomingHttpHeaders } from 'node:http'
import { authenticate, type Caller, DomainError, noteTokenUse, type Ports } from '@security-management/domain'
import type { Log } from './context.ts'
import type { Pair } from './parameters.ts'

/** Name of the query parameter, matched as written; as a header, without case. */
const SERVICE_TOKEN = 'X-Service-Token'

/**
 * The token, or the code, that a request carries in its header or in its query.
 *
 * @throws DomainError `unauthenticated`: none, two that differ, one given twice, or the query form where it is refused.
 */
export function secretOf(headers: IncomingHttpHeaders, pairs: readonly Pair[], tokenInQuery: boolean): string {
  // A repeated header arrives joined with a comma, which no secret holds.
  const inHeader = headers['x-service-token']
  const [inQuery, second] = pairs.filter(([name]) => name === SERVICE_TOKEN)
  const [, value] = inQuery ?? []
  const refused = second || (inQuery && !tokenInQuery) || (inQuery && inHeader !== undefined && inHeader !== value)
  const secret = inHeader ?? value
  if (refused || typeof secret !== 'string') throw new DomainError('unauthenticated')
  return secret
}

/**
 * Says who sent a token, and notes its use where that is due: after the answer, and once however many requests come at
 * the same time.
 *
 * @returns a function of the token, and of what runs work after the answer.
 */
export function tokenReader(
  ports: Ports,
  log: Log,
): (token: string, afterAnswer: (work: () => void) => void) => Promise<Caller & { token: number }> {
  const noting = new Set<number>()

  async function note(token: number): Promise<void> {
    try {
      await noteTokenUse(ports, token)
    } catch (err) {
      log.warn({ err, tokenId: token }, 'use of a token not noted')
    } finally {
      noting.delete(token)
    }
  }

  return async (text, afterAnswer) => {
    const { useIsDue, ...caller } = await authenticate(ports, text)
    if (useIsDue && !noting.has(caller.token)) {
      noting.add(caller.token)
      afterAnswer(() => void note(caller.token))
    }
    return caller
  }
}
