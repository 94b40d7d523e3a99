import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { InvitationMail, InvitationMailer } from '../members/invitation-mailer.ts'

/** The code of `anInvitationMail`. */
export const INVITATION_CODE = `smi_${'0123456789'.repeat(5).slice(0, 49)}`

/** An invitation mail with all its fields, of which a test names those it is about. */
export function anInvitationMail(part: Partial<InvitationMail> = {}): InvitationMail {
  return {
    message_id: '0b0f3a54-5b43-4b53-9a3e-6b2b9d0f7a11',
    to: 'anna@example.com',
    first_name: 'Anna',
    locale: 'en',
    organization_name: 'Acme',
    role: 'security_officer',
    invited_by: 'Mario Rossi',
    code: INVITATION_CODE,
    expires_at: '2025-03-08T09:05:00.000Z',
    ...part,
  }
}

/** A mail as it arrived: its unique part of the `Message-ID`, its one address, and all that a person reads. */
export type ArrivedMail = { message_id: string; to: string; text: string }

/** A mailer, what it has sent, and the way to make the place it sends to unable to take mails. */
export type OpenedMailer = {
  mailer: InvitationMailer
  arrived(): Promise<ArrivedMail[]>
  breakDown(): Promise<void>
  close(): Promise<void>
}

/** The suite that every mailer of invitations must pass. `open` gives one that has sent nothing, new at every call. */
export function invitationMailerContract(adapter: string, open: () => Promise<OpenedMailer>): void {
  describe(`InvitationMailer contract: ${adapter}`, () => {
    let opened: OpenedMailer

    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())

    test('a mail that was sent has arrived, with its code and all that it says', async () => {
      const mail = anInvitationMail({ to: "o'hara+soc@example.com", organization_name: 'Città Più' })
      await opened.mailer.send(mail)
      const [arrived, ...others] = await opened.arrived()
      expect(others).toEqual([])
      expect(arrived).toMatchObject({ message_id: mail.message_id, to: mail.to })
      for (const part of [mail.code, mail.organization_name, mail.invited_by]) expect(arrived?.text).toContain(part)
    })

    test('a mail that is sent again is the same mail', async () => {
      await opened.mailer.send(anInvitationMail())
      await opened.mailer.send(anInvitationMail())
      const ids = (await opened.arrived()).map(({ message_id }) => message_id)
      expect(new Set(ids)).toEqual(new Set([anInvitationMail().message_id]))
    })

    test('ten mails at once arrive, each at its own address', async () => {
      const mails = Array.from({ length: 10 }, (_, index) =>
        anInvitationMail({ message_id: `mail-${index}`, to: `person-${index}@example.com` }),
      )
      await Promise.all(mails.map((mail) => opened.mailer.send(mail)))
      const arrived = (await opened.arrived()).map(({ message_id, to }) => ({ message_id, to }))
      const expected = mails.map(({ message_id, to }) => ({ message_id, to }))
      expect(arrived.toSorted((a, b) => (a.to < b.to ? -1 : 1))).toEqual(expected)
    })

    test('a mail that did not arrive is refused, so that it is sent again', async () => {
      await opened.breakDown()
      await expect(opened.mailer.send(anInvitationMail())).rejects.toThrow()
      expect(await opened.arrived()).toEqual([])
    })
  })
}
