import { createHash, randomUUID } from 'node:crypto'
import type { Role } from '../access/policy.ts'
import type { NewAssessment } from '../assessments/assessment.ts'
import type { NewCloudDefense } from '../cloud-defenses/cloud-defense.ts'
import type { DomainEvent } from '../events.ts'
import type { StagedFile } from '../files/file-store.ts'
import type { NewInvitation } from '../members/invitation-store.ts'
import type { User } from '../members/user.ts'
import type { NewNotification } from '../notifications/notification-store.ts'
import type { NewOrganization } from '../organizations/organization.ts'
import type { Needs } from '../ports.ts'
import type { Control, Evidence, SecurityFramework } from '../security-frameworks/security-framework.ts'
import type { NewThreatBlocker } from '../threat-blockers/threat-blocker.ts'
import type { ThreatFeed } from '../threat-feeds/threat-feed.ts'
import type { NewToken } from '../tokens/token-store.ts'
import type { NewThreat } from '../traffic/threat.ts'
import type { NewTrafficUpload } from '../traffic/traffic-upload.ts'
import { NOW } from './opened.ts'

/** The greatest id there can be: nothing has it. */
export const NO_ID = Number.MAX_SAFE_INTEGER

/** A text with all that stores like to get wrong: quotes, patterns, astral and combining characters, İ and ß. */
export const ODD_TEXT =
  'Zoë "O\'Brien" \\ 100%_ {x} <b>&amp;</b> 日本語 🛡️👩‍💻 e\u0301 İı ß ﬁ \u2028 \uFFFD \uFFFF \u{10FFFD}\tΣς'

/** The same, with what free text may hold beside. */
export const ODD_FREE_TEXT = `${ODD_TEXT}\n\n\tsecond line\n`

/** JSON with every kind of value in it, nested, under keys that JavaScript has uses of its own for. */
export const ODD_JSON: { [key: string]: unknown } = JSON.parse(
  '{"__proto__":{"a":[]},"constructor":null,"":"","é":[1,-2.5,1e21,true,[[],{}]],"b":{"2":"two","1":"one"},"n":9007199254740991}',
)

/** A SHA-256 in hexadecimal that no other call returns. */
export function aSha256(): string {
  return createHash('sha256').update(randomUUID()).digest('hex')
}

/** An organization to be stored; a test names the fields it is about. */
export function anOrganization(part: Partial<NewOrganization> = {}): NewOrganization {
  return {
    name: 'Acme',
    description: '',
    number_employees: 12,
    website: 'https://acme.example',
    logo: 'https://acme.example/logo.png',
    sectors: ['Energy'],
    industries: ['Utilities'],
    contacts: [],
    domains: ['acme.example'],
    ips: ['192.0.2.1'],
    infrastructure: 'hybrid',
    ...part,
  }
}

/** A person to be stored; a test names the fields it is about. */
export function aUser(part: Partial<User> = {}): User {
  const id = randomUUID()
  const email = `${id}@example.com`
  return { id, username: email, email, first_name: 'Ada', last_name: 'Rossi', locale: 'en', ...part }
}

/** A token to be stored; a test names the fields it is about. */
export function aToken(part: Partial<NewToken> & Pick<NewToken, 'user_id'>): NewToken {
  const narrowing = { access: 'full', organizations: null } as const
  const { hash = aSha256() } = part
  return { name: 'laptop', prefix: 'sms_AbCdEf', ...narrowing, created_at: NOW, expires_at: null, hash, ...part }
}

/** An invitation to be stored; a test names the fields it is about. */
export function anInvitation(part: Partial<NewInvitation> & Pick<NewInvitation, 'membership' | 'invited_by'>) {
  return {
    code: `smi_${randomUUID()}`,
    code_hash: aSha256(),
    message_id: randomUUID(),
    created_at: NOW,
    expires_at: '2026-03-08T12:00:00.000Z',
    ...part,
  } satisfies NewInvitation
}

/** A threat blocker to be stored; a test names the fields it is about. */
export function aBlocker(part: Partial<NewThreatBlocker> & Pick<NewThreatBlocker, 'organization'>) {
  return {
    device_id: 'dev-1',
    email: 'soc@acme.example',
    type: 'series',
    services: ['Service IPv4 Protection'],
    atb_key: randomUUID(),
    created_at: NOW,
    ...part,
  } satisfies NewThreatBlocker & { atb_key: string; created_at: string }
}

/** An upload of traffic to be stored; a test names the fields it is about. */
export function anUpload(part: Partial<NewTrafficUpload> & Pick<NewTrafficUpload, 'threat_blocker'>): NewTrafficUpload {
  return {
    file_name: 'access.json',
    size: 1234,
    sha256: aSha256(),
    received: NOW,
    lines: 10,
    accepted: 9,
    rejected: 1,
    malicious: 2,
    from: '2026-03-01T10:00:00.000Z',
    to: NOW,
    format: 'rows',
    raw: null,
    rejects: [{ line: 3, field: 'time', reason: 'missing' }],
    judgement: { version: 0, malicious_lines: new Uint8Array([0b11]) },
    ...part,
  }
}

/** A threat to be stored; a test names the fields it is about. */
export function aThreat(part: Partial<NewThreat> = {}): NewThreat {
  return {
    kind: 'address',
    value: '203.0.113.9',
    requests: 3,
    found_later: 0,
    first_seen: '2026-03-01T10:00:00.000Z',
    last_seen: '2026-03-01T11:00:00.000Z',
    feed: 'blocklist',
    entry: '203.0.113.0/24',
    snapshot: 1,
    verdict: '',
    ...part,
  }
}

/** @param staged the file that holds the snapshot's entries. */
export function aThreatFeed(part: Partial<ThreatFeed> & Pick<ThreatFeed, 'name'>, staged: StagedFile): ThreatFeed {
  return {
    kind: 'ip',
    source: 'https://feeds.example/ip.txt',
    created_at: NOW,
    expires_at: null,
    etag: null,
    last_modified: null,
    refreshed_at: NOW,
    earliest_refresh_at: null,
    next_refresh_at: NOW,
    last_error: null,
    unreadable: 0,
    samples: [],
    snapshot: { number: 1, created_at: NOW, ...staged, entries: 1, gained: 1 },
    ...part,
  }
}

/** A cloud defense to be stored; a test names the fields it is about. */
export function aCloudDefense(part: Partial<NewCloudDefense> & Pick<NewCloudDefense, 'organization'>): NewCloudDefense {
  return {
    email: 'web@acme.example',
    fqdn: 'www.acme.example',
    check: { stat: { fqdn: 1, proxy: 0, endpoint: 1, datetime: NOW }, status: 1, web_stat: [] },
    endpoint: '192.0.2.7',
    services: ['WAF Protection'],
    ...part,
  }
}

/** A VPN profile to be stored; a test names the fields it is about. */
export function aVpnProfile(part: { organization: number; user_id: string; email?: string; created_at?: string }) {
  return { email: 'road@acme.example', created_at: NOW, ...part }
}

/** Evidence to be stored; a test names the fields it is about. */
export function anEvidence(part: Partial<Evidence> = {}): Evidence {
  return {
    files: [],
    details: 'checked',
    datetime: NOW,
    completed: 1,
    residual_risk: 0.25,
    submitted_by: { user_id: randomUUID(), user_email: 'ada@acme.example' },
    ...part,
  }
}

/** A control to be stored; a test names the fields it is about. */
export function aControl(part: Partial<Control> = {}): Control {
  return {
    id: 'A.5.1',
    type: 'control',
    title: 'Policies for information security',
    weight: 0.5,
    details: {},
    evidences: [],
    frequency: '',
    description: '',
    evidence_type: 'self',
    ...part,
  }
}

/** A framework to be stored; a test names the fields it is about. */
export function aFramework(
  part: Partial<Omit<SecurityFramework, 'id'>> & { organization: number; created_at?: string },
): Omit<SecurityFramework, 'id'> & { organization: number; created_at: string } {
  return { title: 'ISO 27001', security_frameworks: [aControl()], created_at: NOW, ...part }
}

/** An assessment to be stored; a test names the fields it is about. */
export function anAssessment(part: Partial<NewAssessment> & Pick<NewAssessment, 'organization'>): NewAssessment {
  return {
    created_at: NOW,
    score: 70,
    name: { en: 'Yearly review', it: 'Revisione annuale' },
    description: { en: '', it: '' },
    interviewed_user: '',
    ...part,
  }
}

/** A notification to be stored; a test names the fields it is about. */
export function aNotification(part: Partial<NewNotification> & Pick<NewNotification, 'organization'>): NewNotification {
  return {
    title: 'Threat blocker created',
    message: 'Threat blocker dev-1 was set up.',
    type: 'info',
    action: 'link',
    icon: 'fa-solid fa-shield-halved',
    extra: { href: '/api/v1/atb/1' },
    datetime: NOW,
    ...part,
  }
}

/** An event to be stored; a test names the fields it is about. */
export function anEvent(part: Partial<DomainEvent> = {}): DomainEvent {
  return {
    type: 'organization.edited',
    organization: null,
    record: '1',
    user_id: null,
    token: null,
    request_id: null,
    datetime: NOW,
    changes: {},
    details: {},
    ...part,
  }
}

/** Stores an organization and returns its id. */
export async function storeOrganization(
  ports: Needs<'transact'>,
  part: Partial<NewOrganization> = {},
): Promise<number> {
  return ports.transact((stores) => stores.organizations.insert(anOrganization(part)))
}

/** Stores a person. */
export async function storeUser(ports: Needs<'transact'>, part: Partial<User> = {}): Promise<User> {
  const user = aUser(part)
  await ports.transact((stores) => stores.users.insert(user))
  return user
}

/** Stores a person as a member of the organization. */
export async function storeMember(
  ports: Needs<'transact'>,
  organization: number,
  role: Role = 'owner',
  part: Partial<User> = {},
): Promise<User & { membership: number }> {
  const user = await storeUser(ports, part)
  const membership = await ports.transact((stores) => stores.members.insert({ organization, user: user.id, role }))
  if (membership === undefined) throw new Error('A new person has no membership yet')
  return { ...user, membership }
}

/** What happened in an organization, oldest first. */
export async function eventsOf({ events }: Needs<'events'>, organization: number): Promise<DomainEvent[]> {
  const { data } = await events.listOf(organization, {}, { limit: 1000, offset: 0, order: 'id' })
  return data.map(({ position: _, hash: __, username: ___, ...event }) => event)
}

/** Soft-removes an organization. */
export async function removeStoredOrganization(ports: Needs<'transact'>, id: number): Promise<void> {
  await ports.transact((stores) => stores.organizations.remove(id, NOW))
}
