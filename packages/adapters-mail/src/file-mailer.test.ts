import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anInvitationMail, INVITATION_CODE } from '@security-management/domain/contracts'
import fc from 'fast-check'
import PostalMime, { type Email } from 'postal-mime'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileMailer } from './file-mailer.ts'

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mails-'))
})

afterEach(() => rm(directory, { recursive: true, force: true }))

function mailer(place = directory) {
  return fileMailer({ directory: place, from: 'service@example.org', publicUrl: 'https://security.example.com' })
}

async function onlyMail(): Promise<Email & { raw: string }> {
  const names = await readdir(directory)
  expect(names).toHaveLength(1)
  const raw = await readFile(join(directory, names[0] ?? ''), 'utf8')
  return { ...(await PostalMime.parse(raw)), raw }
}

describe('the mailer that writes files', () => {
  test('writes a mail that a mail program reads', async () => {
    await mailer().send(anInvitationMail())
    const mail = await onlyMail()
    expect(mail.from).toMatchObject({ address: 'service@example.org' })
    expect(mail.to).toMatchObject([{ address: 'anna@example.com' }])
    expect(mail.subject).toBe('Invitation to Acme')
    expect(mail.messageId).toBe('<0b0f3a54-5b43-4b53-9a3e-6b2b9d0f7a11@example.org>')
    expect(mail.text).toContain(INVITATION_CODE)
    expect(mail.html).toContain(INVITATION_CODE)
    const headers = new Map(mail.headers.map(({ key, value }) => [key, value]))
    expect(headers.get('auto-submitted')).toBe('auto-generated')
    expect(headers.get('content-language')).toBe('en')
  })

  test('writes Italian as it is spelt, with the code whole for who opens the file in an editor', async () => {
    await mailer().send(anInvitationMail({ locale: 'it', organization_name: 'Città Più' }))
    const mail = await onlyMail()
    expect(mail.subject).toBe('Invito a Città Più')
    expect(mail.text).toContain('Questo è il tuo codice')
    expect(mail.raw.split('\r\n')).toContain(INVITATION_CODE)
    expect(mail.raw.split('\r\n')).toContain(`-H X-Service-Token:${INVITATION_CODE}`)
  })

  test('replaces a mail that is written again', async () => {
    await mailer().send(anInvitationMail())
    await mailer().send(anInvitationMail({ organization_name: 'Acme International' }))
    expect((await onlyMail()).subject).toBe('Invitation to Acme International')
  })

  test('names the file after the time of the invitation, so that files sort by it', async () => {
    await mailer().send(anInvitationMail())
    expect(await readdir(directory)).toEqual(['2025-03-01T09-05-00Z-0b0f3a54-5b43-4b53-9a3e-6b2b9d0f7a11.eml'])
  })

  test('lets nobody else read the file, and makes the directory when it is needed', async () => {
    await mailer(join(directory, 'data', 'mail')).send(anInvitationMail())
    const [name = ''] = await readdir(join(directory, 'data', 'mail'))
    expect((await stat(join(directory, 'data', 'mail', name))).mode & 0o777).toBe(0o600)
  })

  test('fails where the directory is none, and leaves nothing behind', async () => {
    const file = join(directory, 'taken')
    await writeFile(file, '')
    await chmod(file, 0o600)
    await expect(mailer(file).send(anInvitationMail())).rejects.toThrow()
    expect(await readdir(directory)).toEqual(['taken'])
  })

  test('has the same headers whatever an organization is called', async () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }),
      fc.constantFrom('Acme\r\nBcc: thief@example.net', '"Acme" <x@example.net>', '=?utf-8?q?Acme=0d=0aBcc:_x?=', '\n'),
    )
    await fc.assert(
      fc.asyncProperty(name, async (organization_name) => {
        await mailer().send(anInvitationMail({ organization_name, first_name: organization_name }))
        const mail = await onlyMail()
        expect(mail.headers.map(({ key }) => key).toSorted()).toEqual([
          'auto-submitted',
          'content-language',
          'content-type',
          'date',
          'from',
          'message-id',
          'mime-version',
          'subject',
          'to',
        ])
        expect(mail.to).toMatchObject([{ address: 'anna@example.com' }])
        expect(mail.text).toContain(INVITATION_CODE)
      }),
      { numRuns: 50 },
    )
  })
})
