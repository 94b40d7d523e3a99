import type { IncomingMessage } from 'node:http'
import { DomainError, type Needs, tooManyRequests } from '@security-management/domain'
import { clientAddress, networkOf } from './client-address.ts'
import type { Log } from './context.ts'
import { createSharedLimit, type Rate } from './shared-limit.ts'

/** What is limited, and how far. */
export type ThrottleOptions = {
  /** Failed authentications of one address; not limited, where it is not said. */
  failures?: Rate | undefined
  /** Requests with one token; not limited, where it is not said. */
  requests?: Rate | undefined
  /** How many proxies of our own a request comes through; 0, where it is not said. */
  proxies?: number | undefined
}

/** Keeps those away who try secrets, and those who ask too often (docs/adr/0008-limits-shared-beside-requests.md). */
export type Throttle = {
  /**
   * Runs `authenticate`, unless its sender has failed too often.
   *
   * @param mayBeGood whether the secret has the form of one that is asked for; if not, `authenticate` looks nothing up.
   * @throws DomainError `too_many_requests`, and what `authenticate` throws.
   */
  authenticated<Who>(
    req: IncomingMessage,
    secret: string,
    mayBeGood: () => boolean,
    authenticate: () => Promise<Who>,
  ): Promise<Who>
  /**
   * Counts a request with the token.
   *
   * @throws DomainError `too_many_requests`.
   */
  admit(token: number): void
  stop(): void
}

/** Look-ups of secrets that this process does not know which an address past the limit gets each second. */
const TRIES_A_SECOND = 10

/** Secrets that a process remembers to be good, by characters that are too few to be one. */
const MAX_KNOWN = 10_000
const HINT_LENGTH = 14

/** Begins to count, for an application on these ports; `stop` it when the application ends. */
export function createThrottle(
  ports: Needs<'transact' | 'now'>,
  log: Log,
  { failures, requests, proxies = 0 }: ThrottleOptions,
): Throttle {
  const failed = failures && createSharedLimit(ports, log, 'failed authentications', failures)
  const asked = requests && createSharedLimit(ports, log, 'requests', requests)
  const known = new Set<string>()
  let tries = { second: 0, by: new Map<string, number>() }

  function mayTry(network: string): boolean {
    const second = Math.floor(ports.now().getTime() / 1000)
    if (tries.second !== second) tries = { second, by: new Map() }
    const before = tries.by.get(network) ?? 0
    tries.by.set(network, before + 1)
    return before < TRIES_A_SECOND
  }

  function remember(hint: string): void {
    // Taken out and put in again, so that the first one is the one that was longest unused.
    known.delete(hint)
    known.add(hint)
    const [oldest] = known
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
  }

  return {
    async authenticated(req, secret, mayBeGood, authenticate) {
      if (!failed) return authenticate()
      const network = networkOf(clientAddress(req, proxies))
      const hint = secret.slice(-HINT_LENGTH)
      const wait = failed.wait(network)
      // One that cannot be good uses up no try: whoever has a good one behind the same address may need it.
      const isRefused = () => !known.has(hint) && (!mayBeGood() || !mayTry(network))
      if (wait !== undefined && isRefused()) throw tooManyRequests(wait)
      try {
        const who = await authenticate()
        remember(hint)
        return who
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'unauthenticated') throw error
        known.delete(hint)
        if (wait !== undefined) throw tooManyRequests(wait)
        failed.count(network)
        throw error
      }
    },
    admit(token) {
      if (!asked) return
      const wait = asked.wait(String(token))
      if (wait !== undefined) throw tooManyRequests(wait)
      asked.count(String(token))
    },
    stop() {
      failed?.stop()
      asked?.stop()
    },
  }
}
