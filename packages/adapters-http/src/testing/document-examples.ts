import { createHash } from 'node:crypto'
import {
  createOrganization,
  importAssessments,
  importCloudDefenses,
  issueToken,
  registerUser,
} from '@security-management/domain'
import { type MemoryPorts, memoryPorts } from '@security-management/domain/memory'
import { DOCUMENT_EXAMPLE } from '../openapi/parts.ts'
import type { Example, RefusalExamples } from '../openapi.ts'
import { routes } from '../routes/index.ts'
import type { Answer } from './answers.ts'
import { pathOf, type Sent } from './requests.ts'
import { call, startServiceOn } from './service.ts'
import { invitationCode } from './world.ts'

const NOW = new Date('2026-03-02T09:30:00Z')

/** A world in which every run says the same: its clock stands still, its ids and secrets follow from their number. */
function fixedPorts(): MemoryPorts {
  let drawn = 0
  const draw = (count: number) => {
    drawn += 1
    return createHash('shake256', { outputLength: count }).update(`draw ${drawn}`).digest()
  }
  const newUuid = () => {
    const hex = draw(16).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  return memoryPorts({ now: () => NOW, newUuid, randomBytes: draw })
}

export type Examples = { operations: { [id: string]: Example }; refusals: { [name: string]: RefusalExamples } }

type Input = {
  params?: { [name: string]: string | number }
  query?: { [name: string]: string | number | boolean }
  sent?: Sent
}

/** Walks through every operation once, as its first users would, and records what was sent and answered. */
export async function recordExamples(): Promise<Examples> {
  const ports = fixedPorts()
  const service = await startServiceOn(ports)
  const user = await registerUser(ports, { email: 'ada@acme.example', first_name: 'Ada', last_name: 'Rossi' })
  const { token } = await issueToken(ports, { user: user.id })
  const operations: Examples['operations'] = {}

  async function record(id: string, { params = {}, query = {}, sent = {} }: Input = {}): Promise<Answer['json']> {
    const route = routes.find((route) => route.id === id)
    if (!route) throw new Error(`No operation is called ${id}`)
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    )
    const path = pathOf(route, ...Object.keys(route.params ?? {}).map((name) => params[name] ?? ''))
    const answer = await call(service, route.method.toUpperCase(), `${path}?${search}`, {
      token,
      ...sent,
      // The audit trail names it, so it may not be a new one in every run.
      headers: { 'X-Request-Id': id, ...sent.headers },
    })
    if (answer.status >= 400) throw new Error(`${id} was refused: ${JSON.stringify(answer.json)}`)
    operations[id] = {
      ...(Object.keys(params).length > 0 && { params }),
      ...(Object.keys(query).length > 0 && { query }),
      ...(sent.json !== undefined && { body: sent.json }),
      ...(route.upload === 'traffic' && { body: LINES }),
      ...(route.upload === 'document' && { body: sent.body }),
      ...(route.answer === 'document' ? { answer: answer.bytes.toString() } : { answer: answer.json }),
    }
    if (route.answer === 'document') {
      const part = await call(service, 'GET', path, { token, headers: { Range: 'bytes=0-5' } })
      Object.assign(operations[id], { part: part.bytes.toString() })
    }
    return answer.json
  }

  const { organization } = await record('createOrganization', {
    sent: {
      json: {
        name: 'Acme Energy',
        description: 'Operates wind farms.',
        number_employees: 120,
        website: 'https://www.acme.example',
        sectors: ['Energy'],
        industries: ['Renewables/Environment'],
        contacts: [{ name: 'Grace Bianchi', role: 'CISO', email: 'grace@acme.example', email_report: true }],
        domains: ['acme.example'],
        ips: ['203.0.113.10'],
      },
    },
  })
  await record('listOrganizations', { query: { name: 'acme', limit: 10 } })
  await record('readOrganization', { params: { id: organization } })
  const number_employees = { json: { number_employees: 125 } }
  await record('editOrganization', { params: { id: organization }, sent: number_employees })
  await record('readMe')

  const invitation = { json: { email: 'grace@acme.example', role: 'security_officer' } }
  const added = await record('addMember', { params: { organizationid: organization, userid: '0' }, sent: invitation })
  await record('renewInvitation', { params: { organizationid: organization, userid: added.data.user } })
  const code = await invitationCode(ports, 'grace@acme.example')
  const person = { json: { first_name: 'Grace', last_name: 'Bianchi', locale: 'it', token_name: 'laptop' } }
  await record('acceptInvitation', { sent: { token: code, ...person } })
  await record('listMembers', { params: { organizationid: organization }, query: { role: 'security_officer' } })
  const member = { organizationid: organization, userid: added.data.user }
  await record('editMember', { params: member, sent: { json: { role: 'viewer' } } })
  await record('removeMember', { params: member })

  const narrowed = {
    name: 'Reports',
    access: 'read',
    organizations: [organization],
    expires_at: '2027-03-02T00:00:00Z',
  }
  const issued = await record('issueToken', { sent: { json: narrowed } })
  await record('listTokens', { query: { order: 'id', limit: 10 } })
  const own = { id: issued.data.id }
  await record('rotateToken', { params: own, sent: { json: { overlap_days: 7 } } })
  await record('revokeToken', { params: own })

  const blocker = {
    organization,
    device_id: 'gateway-1',
    email: 'soc@acme.example',
    type: 'series',
    services: ['Service IPv4 Protection'],
  }
  const { ticket } = await record('createThreatBlocker', { sent: { json: blocker } })
  await record('listThreatBlockers', { query: { organization, order: 'device_id' } })
  const services = { json: { services: ['Service IPv4 Protection', 'Service Domain Protection'] } }
  await record('editThreatBlocker', { params: { id: ticket }, sent: services })
  await record('uploadTraffic', { params: { id: ticket }, sent: TRAFFIC })
  await record('readThreatBlocker', { params: { id: ticket } })
  const uploads = await record('listTrafficUploads', { params: { id: ticket }, query: { limit: 10 } })
  const upload = uploads.data[0].id
  await record('readTrafficUpload', { params: { id: ticket, upload } })
  await record('readRawTraffic', { params: { id: ticket, upload } })
  await record('listThreats', { params: { id: ticket }, query: { kind: 'verdict' } })
  const period = { from: '2026-03-02T08:00:00Z', to: '2026-03-02T09:30:00Z', bucket: 3600 }
  await record('readStatistics', { params: { id: ticket }, query: period })
  await record('readAllStatistics', { query: { ...period, organization } })
  await record('lookUpThreat', { query: { value: '198.51.100.7' } })

  await importCloudDefenses(
    ports,
    [CLOUD_DEFENSE].map((defense) => ({ ...defense, organization })),
  )
  const defenses = await record('listCloudDefenses', { query: { service: 'WAF Protection' } })
  await record('readCloudDefense', { params: { id: defenses.data[0].id } })

  const { vpn } = await record('createVpnProfile', { sent: { json: { organization, email: 'ada@acme.example' } } })
  await record('listVpnProfiles', { query: { organization } })
  await record('readVpnProfile', { params: { id: vpn } })
  await record('removeVpnProfile', { params: { id: vpn } })

  const controls = [{ id: 'A.5.1', title: 'Policies for information security', weight: 0.5, frequency: '0 9 1 * *' }]
  const created = await record('createSecurityFramework', {
    params: { organizationid: organization },
    sent: { json: { title: 'ISO 27001', security_frameworks: controls } },
  })
  const framework = { organizationid: organization, frameworkid: created.security_framework.id }
  await record('listSecurityFrameworks', { params: { organizationid: organization }, query: { order: 'title' } })
  const document = { ...framework, controlid: 'A.5.1' }
  const attached = await record('attachEvidence', { params: document, sent: POLICY })
  await record('readDocument', { params: { ...document, name: attached.data.file_path.split('/').at(-1) } })
  await record('readSecurityFramework', { params: framework })
  const edit = { json: { title: 'ISO/IEC 27001:2022' } }
  await record('editSecurityFramework', { params: framework, sent: edit })
  await record('removeSecurityFramework', { params: framework })

  await importAssessments(ports, [
    { organization, score: 72, name: { en: 'Initial audit', it: 'Verifica iniziale' }, created_at: NOW.toISOString() },
  ])
  const assessments = await record('listAssessments', { query: { created_from: '2026-01-01', search: 'acme' } })
  await record('readAssessment', { params: { id: assessments.data[0].id } })

  const notifications = await record('listNotifications', { query: { read: false, limit: 2 } })
  await record('markNotificationRead', { params: { id: notifications.data[0].id } })
  await record('markAllNotificationsRead')

  await record('listEvents', { params: { organizationid: organization }, query: { kind: 'threat_blocker', limit: 2 } })
  await record('removeThreatBlocker', { params: { id: ticket } })
  // A removed organization of its own, so that nothing else of the example depends on it.
  const former = await createOrganization(
    ports,
    { user: user.id },
    {
      name: 'Former customer',
      contacts: [{ name: 'Alan Verdi', email: 'alan@former.example' }],
    },
  )
  await record('removeOrganization', { params: { id: former } })

  async function refused(summary: string, method: string, path: string, sent: Sent) {
    const { status, json } = await call(service, method, `/api/v1${path}`, { token, ...sent })
    if (status !== 400) throw new Error(`${summary} is answered with ${status}`)
    return { summary, value: json }
  }
  const parallel = { json: { ...blocker, type: 'parallell' } }
  const key = { headers: { 'Idempotency-Key': 'once' } }
  await call(service, 'POST', '/api/v1/organizations', { token, json: { name: 'Beta' }, ...key })
  const alone = `/organizations/${organization}/users/${user.id}`
  const refusals = {
    MalformedDataStructure: {
      value: await refused('A value that is none of those allowed', 'POST', '/atb', parallel),
      missing: await refused('A value that is missing', 'POST', '/vpn', { json: { organization } }),
    },
    InvalidDataProvided: {
      body: await refused('A value of the body', 'POST', '/organizations', { json: { name: ' ' } }),
      query: await refused('A parameter', 'GET', '/organizations?limit=5000', {}),
      stored: await refused('A conflict with what is stored', 'DELETE', alone, {}),
      header: await refused('A header', 'POST', '/organizations', { json: { name: 'Gamma' }, ...key }),
    },
  }
  return { operations, refusals }
}

const LINES = [
  { timestamp: '2026-03-02T08:12:44Z', client_ip: '192.0.2.4', status: 200, action: 'allowed' },
  { timestamp: '2026-03-02T09:03:10Z', client_ip: '198.51.100.7', status: 403, action: 'blocked' },
  { client_ip: '192.0.2.4', status: 200 },
]

const TRAFFIC: Sent = {
  headers: { 'Content-Type': 'application/json', 'Content-Disposition': 'attachment; filename="access-log.json"' },
  body: JSON.stringify(LINES),
}

const POLICY: Sent = {
  headers: { 'Content-Type': DOCUMENT_EXAMPLE, 'Content-Disposition': 'attachment; filename="policy.txt"' },
  body: 'Policy, version 3',
}

const CLOUD_DEFENSE = {
  email: 'web@acme.example',
  fqdn: 'www.acme.example',
  endpoint: '203.0.113.20',
  services: ['WAF Protection'],
  check: {
    stat: { fqdn: 1, proxy: 1, endpoint: 1, datetime: '2026-03-02T09:00:00Z' },
    status: 1,
    web_stat: [{ datetime: '2026-03-01T00:00:00Z', waf_protection: 1.25, total_managed_requests: 8400 }],
  },
}
