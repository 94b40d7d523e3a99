import type { Caller } from '../access/caller.ts'
import type { Needs, Stores } from '../ports.ts'
import { hashSecret, INVITATION_PREFIX, newSecret } from '../tokens/secret.ts'

/** How long an invitation's code can be used (decisions.md §4): 7 days, in milliseconds. */
export const INVITATION_LIFETIME = 7 * 24 * 60 * 60 * 1000

/** Owes the person of this membership one invitation; the mail goes out after the commit. */
export async function oweInvitation(
  ports: Needs<'now' | 'newUuid' | 'randomBytes' | 'newSha256'>,
  stores: Pick<Stores, 'invitations'>,
  caller: Caller,
  membership: number,
): Promise<void> {
  const code = newSecret(ports, INVITATION_PREFIX)
  const now = ports.now()
  await stores.invitations.insert({
    membership,
    invited_by: caller.user,
    code,
    code_hash: hashSecret(ports, code),
    message_id: ports.newUuid(),
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + INVITATION_LIFETIME).toISOString(),
  })
}
