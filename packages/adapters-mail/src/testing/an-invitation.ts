import type { InvitationMail } from '@security-management/domain'

export const CODE = `smi_${'0123456789'.repeat(5).slice(0, 49)}`

/** An invitation mail with all its fields, of which a test names those it is about. */
export function anInvitation(given: Partial<InvitationMail> = {}): InvitationMail {
  return {
    message_id: '0b0f3a54-5b43-4b53-9a3e-6b2b9d0f7a11',
    to: 'anna@example.com',
    first_name: 'Anna',
    locale: 'en',
    organization_name: 'Acme',
    role: 'security_officer',
    invited_by: 'Mario Rossi',
    code: CODE,
    expires_at: '2025-03-08T09:05:00.000Z',
    ...given,
  }
}
