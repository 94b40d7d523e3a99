import type { Narrowing } from './policy.ts'

/** Who acts: a person, known by the API token they sent. */
export type Caller = {
  /** The person's id (UUID). */
  user: string
  /** Id of the token; absent where a program embeds the domain and vouches for the person itself. */
  token?: number
  /** How far that token is narrowed; absent where there is none. Read by `access/authorize.ts` alone. */
  narrowing?: Narrowing
  /** Id of the request, for the audit trail; absent likewise. */
  request?: string
}

/** The operator at the command line, who stands outside every organization. */
export const OPERATOR = 'operator'

/** Who is named as the author of a change. */
export type Actor = Caller | typeof OPERATOR
