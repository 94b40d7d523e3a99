import { fileMailer, smtpMailer } from '@security-management/adapters-mail'
import type { InvitationMailer } from '@security-management/domain'
import type { Config } from '../config.ts'

/** Where mails are written while there is no mail server, relative to the working directory. */
const MAIL_DIRECTORY = 'data/mail'

/** The mailer of the configuration: SMTP, or files where no mail server is named. */
export function openMailer(config: Config, publicUrl: string): InvitationMailer & { close(): void } {
  const settings = { from: config.MAIL_FROM, publicUrl }
  if (config.SMTP_URL) return smtpMailer({ ...settings, url: config.SMTP_URL })
  return { ...fileMailer({ ...settings, directory: MAIL_DIRECTORY }), close() {} }
}
