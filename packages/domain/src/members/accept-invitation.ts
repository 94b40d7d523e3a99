import * as v from 'valibot'
import { DomainError } from '../errors.ts'
import { changesBetween, record } from '../events.ts'
import { described, object, parse } from '../parse.ts'
import type { Needs } from '../ports.ts'
import { storeNewToken } from '../tokens/issue-token.ts'
import { hashSecret, INVITATION_PREFIX, isSecret } from '../tokens/secret.ts'
import { Label, Name } from '../values.ts'
import { LOCALES } from './user.ts'

/**
 * Body of accepting an invitation: what the person says of themselves, where what is left out stays as it is, and what
 * to call their token.
 */
export const Acceptance = object({
  first_name: v.optional(Label),
  last_name: v.optional(Label),
  locale: v.optional(v.picklist(LOCALES)),
  token_name: v.optional(described(Name, 'What to call the token.'), 'invitation'),
})

/**
 * Checks that `code` is an invitation that can still be used.
 *
 * @throws DomainError `unauthenticated`.
 */
export async function checkInvitation(ports: Needs<'invitations' | 'now' | 'newSha256'>, code: string): Promise<void> {
  if (!isSecret(ports, INVITATION_PREFIX, code)) throw new DomainError('unauthenticated')
  const found = await ports.invitations.findUsable(hashSecret(ports, code), ports.now().toISOString())
  if (!found) throw new DomainError('unauthenticated')
}

/**
 * Uses an invitation up and gives the person their first token.
 *
 * @param request id of the request, for the audit trail.
 * @returns the person's id, and the token, which is shown this once.
 * @throws DomainError `unauthenticated` (no such code, used, expired, or no member any more), `invalid`.
 */
export async function acceptInvitation(
  ports: Needs<'transact' | 'now' | 'newSha256' | 'randomBytes'>,
  code: string,
  input: unknown,
  request?: string,
): Promise<{ user: string; token: string }> {
  if (!isSecret(ports, INVITATION_PREFIX, code)) throw new DomainError('unauthenticated')
  return ports.transact(async (stores) => {
    const at = ports.now().toISOString()
    const invitation = await stores.invitations.findUsable(hashSecret(ports, code), at)
    if (!invitation) throw new DomainError('unauthenticated')
    const { organization, user } = invitation
    const { token_name: name, ...person } = parse(Acceptance, input)
    if (!(await stores.invitations.use(invitation.id, at))) throw new DomainError('unauthenticated')
    const before = await stores.users.find(user)
    await stores.users.update(user, person)
    const after = await stores.users.find(user)
    const caller = { user, ...(request !== undefined && { request }) }
    const wanted = { user_id: user, name, expires_at: null, access: 'full', organizations: null } as const
    const { token } = await storeNewToken(ports, stores, caller, wanted)
    await record(ports, stores, caller, {
      type: 'invitation.accepted',
      organization,
      record: user,
      changes: changesBetween(before ?? {}, after ?? {}),
    })
    return { user, token }
  })
}
