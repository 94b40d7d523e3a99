// The mailer passes the suite that every mailer must: npx vitest run
import { invitationMailerContract } from '@security-management/domain/contracts'
import { outboxMailer } from './outbox-mailer.mjs'

invitationMailerContract('outbox', async () => {
  const outbox = []
  let post = async (mail) => void outbox.push(mail)
  return {
    mailer: outboxMailer((mail) => post(mail)),
    arrived: async () => outbox,
    async breakDown() {
      post = async () => Promise.reject(new Error('the outbox is gone'))
    },
    close: async () => {},
  }
})
