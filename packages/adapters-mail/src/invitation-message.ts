import type { InvitationMail } from '@security-management/domain'
import type { SendMailOptions } from 'nodemailer'
import { invitationText } from './invitation-text.ts'

/** What every mailer must know. */
export type MailSettings = {
  /** The address that mails come from: one bare address. */
  from: string
  /** Where the service is reached from outside, for instance `https://security.example.com`. */
  publicUrl: string
}

/** The invitation as nodemailer takes it. Its `Message-ID` is the same at every try. */
export function invitationMessage(mail: InvitationMail, { from, publicUrl }: MailSettings): SendMailOptions {
  const { subject, text, html } = invitationText(mail, publicUrl)
  return {
    // As objects, so that nothing in an address is read as a second one.
    from: { name: '', address: from },
    to: { name: '', address: mail.to },
    envelope: { from, to: [mail.to] },
    messageId: `<${mail.message_id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': mail.locale },
    subject,
    // Line breaks of mail: with others nodemailer breaks lines anew where it must encode them.
    text: text.replaceAll('\n', '\r\n'),
    html: html.replaceAll('\n', '\r\n'),
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}
