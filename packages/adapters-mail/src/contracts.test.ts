import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ArrivedMail, invitationMailerContract } from '@security-management/domain/contracts'
import PostalMime from 'postal-mime'
import { fileMailer } from './file-mailer.ts'
import { smtpMailer } from './smtp-mailer.ts'
import { startSmtpServer } from './testing/smtp-test-server.ts'

const SETTINGS = { from: 'service@example.org', publicUrl: 'https://security.example.com' }

async function read(message: string): Promise<ArrivedMail> {
  const { messageId = '', to, text = '' } = await PostalMime.parse(message)
  return { message_id: /^<(.*)@/.exec(messageId)?.[1] ?? '', to: to?.[0]?.address ?? '', text }
}

invitationMailerContract('SMTP', async () => {
  const server = await startSmtpServer()
  const mailer = smtpMailer({ ...SETTINGS, url: `smtp://127.0.0.1:${server.port}` })
  return {
    mailer,
    arrived: () => Promise.all(server.taken.map(({ message }) => read(message))),
    breakDown: server.close,
    async close() {
      mailer.close()
      await server.close().catch(() => {})
    },
  }
})

invitationMailerContract('files', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'mails-'))
  const directory = join(parent, 'mail')
  return {
    mailer: fileMailer({ ...SETTINGS, directory }),
    async arrived() {
      const names = await readdir(directory).catch(() => [])
      return Promise.all(names.map(async (name) => read(await readFile(join(directory, name), 'utf8'))))
    },
    // A file in the place of the directory.
    breakDown: () => writeFile(directory, ''),
    close: () => rm(parent, { recursive: true }),
  }
})
