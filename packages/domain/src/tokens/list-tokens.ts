import type { Needs } from '../ports.ts'
import type { Token } from './token-store.ts'

/** All tokens, for the operator, revoked ones included, oldest first. */
export async function listTokens(ports: Needs<'tokens'>): Promise<Token[]> {
  return ports.tokens.list()
}
