import type { Role } from '../access/policy.ts'
import type { Locale } from './user.ts'

/** All that an invitation says. */
export type InvitationMail = {
  /** Unique part of the `Message-ID`, the same at every try. */
  message_id: string
  /** The address it goes to. */
  to: string
  first_name: string
  locale: Locale
  organization_name: string
  role: Role
  /** Name or address of the person who invites. */
  invited_by: string
  /** Single-use code: a secret, for this person's eyes. */
  code: string
  /** ISO 8601. */
  expires_at: string
}

/** Sends invitations. `send` resolves once the mail server has accepted the mail, and rejects otherwise. */
export type InvitationMailer = { send(mail: InvitationMail): Promise<void> }
