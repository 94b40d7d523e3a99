import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { INVITATION_LIFETIME, type InvitationMail, type InvitationMailer } from '@security-management/domain'
import { createTransport } from 'nodemailer'
import { invitationMessage, type MailSettings } from './invitation-message.ts'

/**
 * Writes each invitation as an `.eml` file, which mail programs open, instead of sending it: for a service without a
 * mail server. Only the user that the service runs as can read the files, since they hold invitation codes. The name is
 * the time of the invitation and the id of the mail, so that a mail written again replaces itself.
 */
export function fileMailer({ directory, ...settings }: MailSettings & { directory: string }): InvitationMailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  return {
    async send(mail: InvitationMail) {
      const { message } = await transport.sendMail(invitationMessage(mail, settings))
      await mkdir(directory, { recursive: true, mode: 0o700 })
      await writeWhole(directory, fileName(mail), message)
    },
  }
}

function fileName(mail: InvitationMail): string {
  const invited = new Date(Date.parse(mail.expires_at) - INVITATION_LIFETIME)
  const time = invited.toISOString().slice(0, 19).replaceAll(':', '-')
  return `${time}Z-${mail.message_id.replace(/[^\w-]/g, '_')}.eml`
}

/** Writes the file under another name first, so that nobody who looks into the directory ever sees half of it. */
async function writeWhole(directory: string, name: string, content: Buffer | Readable): Promise<void> {
  const temporary = join(directory, `.${randomUUID()}.tmp`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, join(directory, name))
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
