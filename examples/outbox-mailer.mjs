// A mailer of one's own: any object with `send`. This one hands each invitation to a function, such as one that posts it.
export function outboxMailer(post) {
  return {
    async send({ message_id, to, first_name, invited_by, organization_name, code }) {
      const text = `Hello ${first_name}, ${invited_by} invites you to ${organization_name}. Your code: ${code}`
      await post({ message_id, to, text })
    },
  }
}
