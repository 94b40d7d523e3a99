import { execFileSync } from 'node:child_process'
import { anInvitationMail, INVITATION_CODE } from '@security-management/domain/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { invitationText } from './invitation-text.ts'

const PUBLIC_URL = 'https://security.example.com'

function unwrapped(text: string): string {
  return text.replace(/\n(?!\n)/g, ' ')
}

describe('an invitation', () => {
  test('says in English who invites, to what, in which role, until when, and how to accept', () => {
    const { subject, text, html } = invitationText(anInvitationMail(), PUBLIC_URL)
    expect(subject).toBe('Invitation to Acme')
    expect(text).toContain('Hello Anna,')
    expect(unwrapped(text)).toContain('Mario Rossi invites you to Acme, where your role is: security officer.')
    expect(unwrapped(text)).toContain('until 8 March 2025 at 09:05 UTC:')
    expect(text.split('\n')).toContain(INVITATION_CODE)
    expect(text).toContain(
      `curl -X POST ${PUBLIC_URL}/api/v1/invitations/accept \\\n-H X-Service-Token:${INVITATION_CODE}\n`,
    )
    expect(html).toContain('<html lang="en">')
    expect(html).toContain('<p>Mario Rossi invites you to Acme, where your role is: security officer.</p>')
    expect(html).toContain(`<pre>${INVITATION_CODE}</pre>`)
  })

  test('says the same in Italian', () => {
    const { subject, text, html } = invitationText(anInvitationMail({ locale: 'it', role: 'owner' }), PUBLIC_URL)
    expect(subject).toBe('Invito a Acme')
    expect(text).toContain('Ciao Anna,')
    expect(unwrapped(text)).toContain('Mario Rossi ti invita in Acme, dove il tuo ruolo è: proprietario.')
    expect(unwrapped(text)).toContain('fino al 8 marzo 2025 alle ore 09:05 UTC:')
    expect(text.split('\n')).toContain(INVITATION_CODE)
    expect(html).toContain('<html lang="it">')
  })

  test('greets somebody whose first name is not known', () => {
    expect(invitationText(anInvitationMail({ first_name: '' }), PUBLIC_URL).text).toMatch(/^Hello,\n/)
    expect(invitationText(anInvitationMail({ first_name: '', locale: 'it' }), PUBLIC_URL).text).toMatch(/^Ciao,\n/)
  })

  test('holds a command that a shell reads as meant, whatever the address of the service', () => {
    const publicUrl = "https://example.com/o'neil$(id)/"
    const { text } = invitationText(anInvitationMail(), publicUrl)
    const command = text.slice(text.indexOf('curl'), text.indexOf('\n\nThe answer')).replace('curl', "printf '%s\\n'")
    const read = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim().split('\n')
    expect(read).toEqual([
      '-X',
      'POST',
      "https://example.com/o'neil$(id)/api/v1/invitations/accept",
      '-H',
      `X-Service-Token:${INVITATION_CODE}`,
    ])
  })

  test('shows names as text in HTML', () => {
    const hostile = { organization_name: '<script>alert(1)</script>', first_name: '"><b>', invited_by: "Tom & 'Ann'" }
    const { html } = invitationText(anInvitationMail(hostile), PUBLIC_URL)
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(html).toContain('Hello &quot;&gt;&lt;b&gt;,')
    expect(html).toContain('Tom &amp; &#39;Ann&#39;')
  })

  test('keeps its form whatever people call themselves and their organizations', () => {
    const name = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[\r\n\t <>"'&a\u202e\u2028]*$/))
    const plain = invitationText(anInvitationMail(), PUBLIC_URL)
    fc.assert(
      fc.property(name, name, name, (first_name, organization_name, invited_by) => {
        const { subject, text, html } = invitationText(
          anInvitationMail({ first_name, organization_name, invited_by }),
          PUBLIC_URL,
        )
        expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u)
        expect(text.split('\n\n')).toHaveLength(plain.text.split('\n\n').length)
        expect(tags(html)).toEqual(tags(plain.html))
      }),
    )
  })
})

function tags(html: string): string[] {
  return html.match(/<[^>]*>/g) ?? []
}
