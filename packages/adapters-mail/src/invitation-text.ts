import type { InvitationMail, Locale, Role } from '@security-management/domain'

/** What an invitation says, in one language. */
export type InvitationText = { subject: string; text: string; html: string }

const LINE_LENGTH = 72

/** A piece of the mail: words to read, or lines to copy as they stand. */
type Block = { words: string } | { lines: string[] }

type Words = {
  subject(organization: string): string
  greeting(firstName: string): string
  invitation(by: string, organization: string, role: string): string
  code(until: string): string
  command: string
  answer: string
  stranger: string
  roles: Record<Role, string>
  /** Language and country of its dates. */
  dates: string
}

const WORDS: Record<Locale, Words> = {
  en: {
    subject: (organization) => `Invitation to ${organization}`,
    greeting: (firstName) => (firstName ? `Hello ${firstName},` : 'Hello,'),
    invitation: (by, organization, role) => `${by} invites you to ${organization}, where your role is: ${role}.`,
    code: (until) => `This is your invitation code. It works once, until ${until}:`,
    command: 'To accept the invitation, run:',
    answer: 'The answer holds your API token, shown this once: keep it as you keep a password.',
    stranger: 'If you do not know who invites you, ignore this mail.',
    roles: { viewer: 'viewer', security_officer: 'security officer', owner: 'owner' },
    dates: 'en-GB',
  },
  it: {
    subject: (organization) => `Invito a ${organization}`,
    greeting: (firstName) => (firstName ? `Ciao ${firstName},` : 'Ciao,'),
    invitation: (by, organization, role) => `${by} ti invita in ${organization}, dove il tuo ruolo è: ${role}.`,
    code: (until) => `Questo è il tuo codice di invito. Vale una sola volta, fino al ${until}:`,
    command: "Per accettare l'invito, esegui:",
    answer: 'La risposta contiene il tuo token API, mostrato solo questa volta: conservalo come una password.',
    stranger: 'Se non conosci chi ti invita, ignora questa e-mail.',
    roles: { viewer: 'osservatore', security_officer: 'responsabile della sicurezza', owner: 'proprietario' },
    dates: 'it-IT',
  },
}

/**
 * Writes an invitation in the language of the person it goes to.
 *
 * @param publicUrl where the service is reached from outside, without a path of the interface.
 */
export function invitationText(mail: InvitationMail, publicUrl: string): InvitationText {
  const words = WORDS[mail.locale]
  const organization = oneLine(mail.organization_name)
  const blocks: Block[] = [
    { words: words.greeting(oneLine(mail.first_name)) },
    { words: words.invitation(oneLine(mail.invited_by), organization, words.roles[mail.role]) },
    { words: words.code(dateText(mail.expires_at, words.dates)) },
    { lines: [mail.code] },
    { words: words.command },
    { lines: acceptCommand(mail.code, publicUrl) },
    { words: words.answer },
    { words: words.stranger },
  ]
  const subject = words.subject(organization)
  return { subject, text: textOf(blocks), html: htmlOf(blocks, subject, mail.locale) }
}

/** Lines of less than 76 characters, which no mail program has a reason to break. */
function acceptCommand(code: string, publicUrl: string): string[] {
  const url = `${publicUrl.replace(/\/+$/, '')}/api/v1/invitations/accept`
  return [`curl -X POST ${shellQuoted(url)} \\`, `-H ${shellQuoted(`X-Service-Token:${code}`)}`]
}

function shellQuoted(value: string): string {
  return /^[\w:./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`
}

function dateText(iso: string, language: string): string {
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
  return `${format.format(new Date(iso))} UTC`
}

function textOf(blocks: Block[]): string {
  const paragraphs = blocks.map((block) => ('words' in block ? wrapped(block.words) : block.lines).join('\n'))
  return `${paragraphs.join('\n\n')}\n`
}

/** Lines of at most 72 characters, where no word is longer. */
function wrapped(words: string): string[] {
  const lines = ['']
  for (const word of words.split(' ')) {
    const line = lines.at(-1)
    if (line && line.length + 1 + word.length > LINE_LENGTH) lines.push(word)
    else lines[lines.length - 1] = line ? `${line} ${word}` : word
  }
  return lines
}

function htmlOf(blocks: Block[], subject: string, locale: Locale): string {
  const body = blocks.map((block) =>
    'words' in block ? `<p>${escaped(block.words)}</p>` : `<pre>${escaped(block.lines.join('\n'))}</pre>`,
  )
  return [
    '<!doctype html>',
    `<html lang="${locale}">`,
    `<head><meta charset="utf-8"><title>${escaped(subject)}</title></head>`,
    '<body>',
    ...body,
    '</body>',
    '</html>',
    '',
  ].join('\n')
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(value: string): string {
  return value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

// Line breaks and other control characters, and the marks that turn the direction of the text around them.
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\s]+/gu

/** What a person called themselves or an organization, on one line: it can neither begin a header nor a paragraph. */
function oneLine(value: string): string {
  return value.replace(UNSEEN, ' ').trim()
}
