import * as v from 'valibot'
import { ACCESSES } from '../access/policy.ts'
import { described, object } from '../parse.ts'
import { Id, list, Name, Timestamp } from '../values.ts'

/** An API token as its owner sees it: everything but the token itself. */
export const OwnToken = object({
  id: Id,
  name: v.string(),
  prefix: described(v.string(), 'The first characters of the present secret, by which its owner recognises it.'),
  access: described(v.picklist(ACCESSES), '`full`: all that its owner may; `read`: what changes nothing.'),
  organizations: described(
    v.nullable(v.array(Id)),
    "Ids of the only organizations that it reaches; null for all of its owner's.",
  ),
  created_at: Timestamp,
  expires_at: described(v.nullable(Timestamp), 'Null for a token that does not expire.'),
  last_used_at: described(v.nullable(Timestamp), 'To the minute: noted at most once in it. Null until it is used.'),
})
export type OwnToken = v.InferOutput<typeof OwnToken>

/** A token that was issued or rotated just now, with its secret, which is shown this once. */
export const IssuedToken = object({ ...OwnToken.entries, token: v.string() })
export type IssuedToken = v.InferOutput<typeof IssuedToken>

const narrowing = {
  access: v.optional(
    described(v.picklist(ACCESSES), '`full`: all that its owner may; `read`: what changes nothing.'),
    'full',
  ),
  organizations: v.optional(
    described(
      v.nullable(v.pipe(list(Id), v.nonEmpty('Must name an organization'))),
      "Ids of the only organizations that it reaches; null for all of its owner's.",
    ),
    null,
  ),
}
const expires_at = v.optional(described(v.nullable(Timestamp), 'Null for a token that does not expire.'), null)

/**
 * What a person says of a token that they issue for themselves: its name, when it expires, if it does, and how far it is
 * narrowed. `organizations` are some that the person is a member of.
 */
export const NewOwnToken = object({ name: Name, expires_at, ...narrowing })

/** What it takes to issue a token for somebody: the same, and whose it is (UUID or e-mail address). */
export const NewTokenInput = object({ user: Name, name: v.optional(Name, 'token'), expires_at, ...narrowing })

/** Longest time for which the secret before a rotation stays valid, in days. */
export const MAX_OVERLAP_DAYS = 30

/** How to rotate a token. */
export const Rotation = object({
  overlap_days: v.optional(
    described(
      v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_OVERLAP_DAYS)),
      'Days for which the secret of before stays valid, parts of a day included.',
    ),
    0,
  ),
})
