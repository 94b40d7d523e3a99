import type { Role } from '@security-management/domain'

// Names under .example and addresses of the documentation ranges belong to nobody (RFC 2606, RFC 5737).

/** People of the demo, by a short name. */
export const PEOPLE = {
  giulia: { email: 'giulia.ferri@northgate.example', first_name: 'Giulia', last_name: 'Ferri', locale: 'it' },
  marco: { email: 'marco.conti@northgate.example', first_name: 'Marco', last_name: 'Conti', locale: 'it' },
  luca: { email: 'luca.moretti@alpine-foods.example', first_name: 'Luca', last_name: 'Moretti', locale: 'it' },
  sara: { email: 'sara.galli@alpine-foods.example', first_name: 'Sara', last_name: 'Galli', locale: 'it' },
  elena: { email: 'elena.russo@bellavista-clinics.example', first_name: 'Elena', last_name: 'Russo', locale: 'it' },
  paolo: { email: 'paolo.greco@bellavista-clinics.example', first_name: 'Paolo', last_name: 'Greco', locale: 'it' },
  james: { email: 'james.carter@meridian.example', first_name: 'James', last_name: 'Carter', locale: 'en' },
  nina: { email: 'nina.weber@meridian.example', first_name: 'Nina', last_name: 'Weber', locale: 'en' },
} as const
export type Person = keyof typeof PEOPLE

/** Who owns the provider and, with it, manages its clients. */
export const LEAD: Person = 'giulia'

/** The security provider itself. */
export const PROVIDER = {
  record: {
    name: 'Northgate Security',
    description: 'Managed security for companies that have no security team of their own.',
    number_employees: 24,
    website: 'https://www.northgate.example',
    sectors: ['Information Technology'],
    industries: ['Computer/Network Security'],
    contacts: [
      { name: 'Giulia Ferri', role: 'Head of operations', email: PEOPLE.giulia.email, phone: '+39 02 5550 100' },
    ],
    domains: ['northgate.example'],
    ips: ['192.0.2.10'],
    infrastructure: 'cloud',
  },
  members: { marco: 'security_officer' } as Members,
}

type Members = { [Name in Person]?: Role }

/** A client of the provider. */
export type Client = {
  record: { [field: string]: unknown; name: string }
  members: Members
  /** `requests` is how many an hour of work sees, `attacks` the share of them that is malicious. */
  blockers: {
    device_id: string
    type: string
    services: string[]
    endpoint: string
    requests: number
    attacks: number
  }[]
  cloud: { fqdn: string; endpoint: string; services: string[] }
  assessments: { score: number; daysAgo: number; interviewed_user: string }[]
}

const BOTH = ['Service IPv4 Protection', 'Service Domain Protection']

export const CLIENTS: Client[] = [
  {
    record: {
      name: 'Alpine Foods',
      description: 'Dairy and preserves from two plants.',
      number_employees: 310,
      website: 'https://www.alpine-foods.example',
      sectors: ['Manufacturing', 'Consumer Staples'],
      industries: ['Food Production', 'Dairy'],
      contacts: [{ name: 'Luca Moretti', role: 'IT manager', email: PEOPLE.luca.email, email_report: true }],
      domains: ['alpine-foods.example', 'shop.alpine-foods.example'],
      ips: ['198.51.100.20', '198.51.100.21'],
      infrastructure: 'hybrid',
    },
    members: { marco: 'security_officer', luca: 'owner', sara: 'viewer' },
    blockers: [
      {
        device_id: 'alpine-parma-1',
        type: 'series',
        services: BOTH,
        endpoint: '198.51.100.20',
        requests: 90,
        attacks: 0.04,
      },
      {
        device_id: 'alpine-verona-1',
        type: 'parallel',
        services: BOTH.slice(0, 1),
        endpoint: '198.51.100.21',
        requests: 40,
        attacks: 0.02,
      },
    ],
    cloud: { fqdn: 'shop.alpine-foods.example', endpoint: '198.51.100.30', services: ['WAF Protection'] },
    assessments: [
      { score: 54, daysAgo: 320, interviewed_user: 'Luca Moretti' },
      { score: 71, daysAgo: 20, interviewed_user: 'Luca Moretti' },
    ],
  },
  {
    record: {
      name: 'Bellavista Clinics',
      description: 'Four clinics and a laboratory.',
      number_employees: 540,
      website: 'https://www.bellavista-clinics.example',
      sectors: ['Health Care'],
      industries: ['Hospital/Health Care', 'Medical Practice'],
      contacts: [{ name: 'Elena Russo', role: 'Data protection officer', email: PEOPLE.elena.email }],
      domains: ['bellavista-clinics.example'],
      ips: ['203.0.113.40'],
      infrastructure: 'on-prem',
    },
    members: { marco: 'security_officer', elena: 'security_officer', paolo: 'viewer' },
    blockers: [
      {
        device_id: 'bellavista-main-1',
        type: 'series',
        services: BOTH,
        endpoint: '203.0.113.40',
        requests: 120,
        attacks: 0.09,
      },
    ],
    cloud: {
      fqdn: 'booking.bellavista-clinics.example',
      endpoint: '203.0.113.41',
      services: ['WAF Protection', ...BOTH],
    },
    assessments: [{ score: 63, daysAgo: 45, interviewed_user: 'Elena Russo' }],
  },
  {
    record: {
      name: 'Meridian Logistics',
      description: 'Freight by road and rail across the Alps.',
      number_employees: 1250,
      website: 'https://www.meridian.example',
      sectors: ['Transportation'],
      industries: ['Logistics/Procurement', 'Package/Freight Delivery'],
      contacts: [{ name: 'James Carter', role: 'CIO', email: PEOPLE.james.email, email_report: true }],
      domains: ['meridian.example', 'track.meridian.example'],
      ips: ['203.0.113.80', '2001:db8:80::1'],
      infrastructure: 'cloud',
    },
    members: { marco: 'security_officer', james: 'owner', nina: 'viewer' },
    blockers: [
      {
        device_id: 'meridian-edge-1',
        type: 'series',
        services: BOTH,
        endpoint: '203.0.113.80',
        requests: 160,
        attacks: 0.06,
      },
      {
        device_id: 'meridian-yard-1',
        type: 'parallel',
        services: BOTH.slice(1),
        endpoint: '203.0.113.81',
        requests: 25,
        attacks: 0.01,
      },
    ],
    cloud: { fqdn: 'track.meridian.example', endpoint: '203.0.113.82', services: ['WAF Protection'] },
    assessments: [
      { score: 78, daysAgo: 200, interviewed_user: 'James Carter' },
      { score: 83, daysAgo: 5, interviewed_user: 'Nina Weber' },
    ],
  },
]

/** What every assessment of the demo is. */
export const ASSESSMENT = {
  name: { en: 'Security posture review', it: 'Verifica della postura di sicurezza' },
  description: {
    en: 'Interview and technical checks against the baseline of the provider.',
    it: 'Intervista e controlli tecnici rispetto alla linea guida del fornitore.',
  },
}

/** The framework that each client must satisfy. */
export const FRAMEWORK = {
  title: 'ISO/IEC 27001:2022',
  security_frameworks: [
    {
      id: 'A.5.15',
      title: 'Access control',
      weight: 3,
      description: 'Rules for access are set and reviewed.',
      frequency: '0 9 1 */3 *',
      evidences: [{ details: 'Access rights of all leavers were checked.', completed: 1, residual_risk: 0.2 }],
    },
    {
      id: 'A.8.13',
      title: 'Information backup',
      weight: 5,
      description: 'Backups are made, and restored to see that they work.',
      frequency: '0 9 1 * *',
    },
    {
      id: 'A.8.16',
      title: 'Monitoring activities',
      weight: 4,
      description: 'Networks and systems are watched for unusual behaviour.',
      evidence_type: 'automated',
      evidences: [{ details: 'Threat blockers report every hour.', completed: 1, residual_risk: 0.1 }],
    },
  ],
}

/** The control that a document is attached to, and the document. */
export const EVIDENCE = {
  control: 'A.8.13',
  file_name: 'restore-test.md',
  content_type: 'text/markdown; charset=utf-8',
  text: [
    '# Restore test',
    '',
    'The mail server was restored from the backup of the night before, on a machine of its own.',
    '',
    '- Time to restore: 48 minutes',
    '- Mailboxes compared: 40 of 40 complete',
    '- Result: passed',
    '',
  ].join('\n'),
}
