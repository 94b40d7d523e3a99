import type { Caller } from '../access/caller.ts'
import { tooManyRequests } from '../errors.ts'
import type { Needs, Stores } from '../ports.ts'
import { hashSecret, INVITATION_PREFIX, newSecret } from '../tokens/secret.ts'
import type { Inviting } from './invitation-store.ts'

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR

/** How long an invitation's code can be used (decisions.md §4): 7 days, in milliseconds. */
export const INVITATION_LIFETIME = 7 * DAY

/** At most `limit` invitations within any `period`, in milliseconds. */
export type Cap = { limit: number; period: number }

/** What bounds how many invitations there are: of one inviting person, of one organization, and to one address. */
export type InvitationCaps = Record<keyof Inviting, Cap>

/**
 * The caps that hold unless a program says otherwise. An organization may take on a few hundred people in a day, and a
 * consultant may join many organizations, while nobody's mailbox is filled by it.
 */
export const INVITATION_CAPS: InvitationCaps = {
  actor: { limit: 100, period: HOUR },
  organization: { limit: 200, period: HOUR },
  recipient: { limit: 20, period: DAY },
}

/** For the operator, who may add as many people at once as there are. */
export const NO_INVITATION_CAPS: Partial<InvitationCaps> = {}

/** Whom an invitation is for: a person's membership of an organization. */
export type Invited = { membership: number; organization: number; user: string }

/**
 * Owes a person one invitation, within the caps; the mail goes out after the commit. Counted from the stored
 * invitations, under the locks of both persons; the caller of this function holds that of the organization.
 *
 * @throws DomainError `too_many_requests`.
 */
export async function oweInvitation(
  ports: Needs<'now' | 'newUuid' | 'randomBytes' | 'newSha256'>,
  stores: Pick<Stores, 'invitations' | 'users'>,
  caller: Caller,
  { membership, organization, user }: Invited,
  caps: Partial<InvitationCaps>,
): Promise<void> {
  const now = ports.now()
  await stores.users.lock([caller.user, user])
  await keepCaps(stores, { actor: caller.user, organization, recipient: user }, caps, now.getTime())
  const code = newSecret(ports, INVITATION_PREFIX)
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

async function keepCaps(
  stores: Pick<Stores, 'invitations'>,
  inviting: Inviting,
  caps: Partial<InvitationCaps>,
  now: number,
): Promise<void> {
  let wait = 0
  for (const [kind, { limit, period }] of Object.entries(caps) as [keyof Inviting, Cap][]) {
    const since = new Date(now - period).toISOString()
    // The one that has to leave the period before there is room for another.
    const oldest = await stores.invitations.nthNewest({ [kind]: inviting[kind] }, limit, since)
    if (oldest !== undefined) wait = Math.max(wait, Date.parse(oldest) + period - now)
  }
  if (wait > 0) throw tooManyRequests(wait)
}
