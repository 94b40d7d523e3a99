import type { InvitationMail } from './invitation-mailer.ts'

/** An invitation to be stored, whose mail is owed from then on. */
export type NewInvitation = {
  /** Id of the membership that the invitation belongs to; it ends with it. */
  membership: number
  /** The person who added the member (UUID). */
  invited_by: string
  /** The code itself, kept only while the mail is owed: it has to be written into it. */
  code: string
  code_hash: string
  message_id: string
  created_at: string
  expires_at: string
}

/** Who invites, on behalf of which organization, and who is invited; persons by UUID. */
export type Inviting = { actor: string; organization: number; recipient: string }

/** An invitation whose mail this process has leased, with what the mail says as of now. */
export type OwedMail = InvitationMail & {
  id: number
  /** Tries so far, this one included. */
  attempts: number
}

/**
 * Invitations and the mails owed for them: the two are one row, since each addition of a member, and each time that a code
 * is replaced, sends one mail. An invitation whose membership or organization is removed is neither usable nor owed.
 */
export type InvitationStore = {
  insert(invitation: NewInvitation): Promise<void>
  /**
   * When the `n`th newest (1 = the newest) of the invitations after `since` was made that fit all of `by`; undefined if
   * there are fewer. Counts every one: used, expired, replaced, of removed members and organizations.
   */
  nthNewest(by: Partial<Inviting>, n: number, since: string): Promise<string | undefined>
  /**
   * Ends the open invitation of a membership, so that its code works no more and its mail is no longer owed. False if it
   * has none that is open: not used and not replaced, expired or not. Of several at once one wins, also against `use`.
   */
  replace(membership: number, at: string): Promise<boolean>
  /** The invitation with this code, neither used, nor replaced, nor expired. */
  findUsable(codeHash: string, now: string): Promise<{ id: number; organization: number; user: string } | undefined>
  /**
   * Uses the invitation up, and forgets the code if it is still there. False if that happened before, or it was replaced,
   * so that of several at once one wins.
   */
  use(id: number, at: string): Promise<boolean>
  /**
   * Leases up to `limit` owed mails that are due at `now` and not leased by somebody else, until `leaseUntil`. Counts
   * the attempt.
   */
  leaseOwed(now: string, leaseUntil: string, limit: number): Promise<OwedMail[]>
  /** The mail is out: forgets the code, so that only its hash is left. */
  markSent(id: number, at: string): Promise<void>
  /** The try failed: next one at `next`. */
  postpone(id: number, next: string, error: string): Promise<void>
  /** No further try: forgets the code. Returns the organization and person it was for. */
  giveUp(id: number, at: string, error: string): Promise<{ organization: number; user: string } | undefined>
  /** Forgets the codes that are still there of an organization, or of a person in it: their mails are owed no more. */
  forgetCodes(organization: number, user?: string): Promise<void>
  /**
   * Forgets the codes of invitations that had expired by `now` and whose mails nobody sends or gives up any more, since
   * their membership or organization is removed.
   */
  forgetExpiredCodes(now: string): Promise<void>
  /** When the next owed mail is due, whoever leases it; undefined if none is owed. */
  nextDue(): Promise<string | undefined>
  /** How many mails are owed, leased ones included. */
  countOwed(): Promise<number>
}
