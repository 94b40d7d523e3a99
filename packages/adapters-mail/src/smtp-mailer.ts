import type { InvitationMail, InvitationMailer } from '@security-management/domain'
import { createTransport } from 'nodemailer'
import { invitationMessage, type MailSettings } from './invitation-message.ts'

/** How long one mail may take in all, in milliseconds; well under the domain's `LEASE`. */
const SEND_TIMEOUT = 60_000

/** Options of nodemailer that would write the conversation, codes included, to standard output. */
const LOUD_OPTIONS = ['logger', 'debug', 'transactionLog']

/** The mail server, as `smtp://user:password@host:port` or `smtps://…`, and how long one mail may take. */
export type SmtpSettings = MailSettings & {
  /** `smtp://user:password@host:port` or `smtps://…`; options of nodemailer may follow as a query. */
  url: string
  /** How long one mail may take in all, in milliseconds. */
  timeout?: number
}

/**
 * Sends invitations over SMTP, each over a connection of its own. TLS is used where the server offers it; with
 * `?requireTLS=true` in the URL nothing is sent without. An error tells what the server said, and never a credential.
 *
 * @returns the mailer; `close` ends what is being sent, which fails.
 */
export function smtpMailer({ url, timeout = SEND_TIMEOUT, ...settings }: SmtpSettings): InvitationMailer & {
  close(): void
} {
  const transport = createTransport({
    url: quiet(url),
    connectionTimeout: timeout,
    dnsTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    socketCloseTimeout: 1000,
  })
  const closing = new AbortController()
  return {
    async send(mail: InvitationMail) {
      // Of the phases each has a limit of its own, but a server that says a little now and then passes them all.
      const deadline = AbortSignal.timeout(timeout)
      try {
        const signal = AbortSignal.any([closing.signal, deadline])
        await transport.sendMail({ ...invitationMessage(mail, settings), signal })
      } catch (error) {
        if (deadline.aborted) throw new Error(`The mail server did not take the mail within ${timeout / 1000} s`)
        if (closing.signal.aborted) throw new Error('The service was stopped while the mail was being sent')
        throw new Error(withoutCredentials(error, url))
      }
    },
    close() {
      closing.abort()
      transport.close()
    },
  }
}

function quiet(url: string): string {
  const parsed = new URL(url)
  for (const option of LOUD_OPTIONS) parsed.searchParams.delete(option)
  return parsed.href
}

/** The error's words, without the password in any form in which a server could give it back. */
function withoutCredentials(error: unknown, url: string): string {
  const message = error instanceof Error ? error.message : String(error)
  const { username, password } = new URL(url)
  if (!password) return message
  const [user, plain] = [decoded(username), decoded(password)]
  const forms = [password, plain, base64(plain), base64(`\0${user}\0${plain}`)]
  return forms.reduce((text, form) => text.replaceAll(form, '[password]'), message)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
