// Walks through every operation of the contract with a typed client: what it sends and reads is checked by the compiler.
// Usage: node walk.ts ADDRESS TOKEN
import createClient from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

const [baseUrl = 'http://127.0.0.1:8080', token = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { 'X-Service-Token': token } })

const say = (line: string) => process.stdout.write(`${line}\n`)

/** What a request was answered, or an end with what the service says of it. */
async function done<Data>(
  request: Promise<{ data?: Data; error?: { messages: unknown[] }; response: Response }>,
): Promise<Data> {
  const { data, error, response } = await request
  if (data === undefined) throw new Error(`${response.status} ${response.url}: ${JSON.stringify(error)}`)
  return data
}

/** Every record of a list, page by page. */
async function everything<Item>(
  page: (query: { limit: number; offset: number }) => Promise<{ total: number; data: Item[] }>,
): Promise<{ items: Item[]; pages: number }> {
  const items: Item[] = []
  for (let pages = 1; ; pages += 1) {
    const { total, data } = await page({ limit: 2, offset: items.length })
    items.push(...data)
    if (data.length === 0 || items.length >= total) return { items, pages }
  }
}

const { organization } = await done(
  client.POST('/api/v1/organizations', { body: { name: 'Acme Energy', sectors: ['Energy'] } }),
)
const inOrganization = { path: { organizationid: organization } }
const read = await done(client.GET('/api/v1/organizations/{id}', { params: { path: { id: organization } } }))
say(`organization ${read.data.id}: ${read.data.name}`)

// People
const invited = await done(
  client.POST('/api/v1/organizations/{organizationid}/users/{userid}', {
    params: { path: { ...inOrganization.path, userid: '0' } },
    body: { email: 'grace@acme.example' },
  }),
)
const member = { params: { path: { ...inOrganization.path, userid: invited.data.user } } }
const role: components['schemas']['Role'] = 'security_officer'
await done(client.PUT('/api/v1/organizations/{organizationid}/users/{userid}', { ...member, body: { role } }))
const users = await done(client.GET('/api/v1/organizations/{organizationid}/users', { params: inOrganization }))
say(`users: ${users.data.map(({ email, role }) => `${email} (${role})`).join(', ')}`)
await done(client.DELETE('/api/v1/organizations/{organizationid}/users/{userid}', member))

// Threat blockers and their traffic
const { ticket } = await done(
  client.POST('/api/v1/atb', {
    body: { organization, device_id: 'gateway-1', email: 'soc@acme.example', type: 'series', services: [] },
  }),
)
const blocker = { path: { id: ticket } }
await done(
  client.POST('/api/v1/atb/{id}/traffic', {
    params: { ...blocker, header: { 'Content-Disposition': 'attachment; filename="access-log.json"' } },
    body: [{ timestamp: '2026-03-02T09:03:10Z', client_ip: '198.51.100.7', status: 403, action: 'blocked' }],
  }),
)
const blockers = await done(client.GET('/api/v1/atb', { params: { query: { organization, order: 'device_id' } } }))
say(`blockers: ${blockers.total}, malicious days: ${blockers.data[0]?.check.web_stat.length}`)
await done(client.DELETE('/api/v1/atb/{id}', { params: blocker }))

// Cloud defenses
const defenses = await done(client.GET('/api/v1/cloud-defender', { params: { query: { service: 'WAF Protection' } } }))
say(`cloud defenses: ${defenses.total}`)

// VPN profiles
const { vpn } = await done(client.POST('/api/v1/vpn', { body: { organization, email: 'ada@acme.example' } }))
await done(client.DELETE('/api/v1/vpn/{id}', { params: { path: { id: vpn } } }))

// Security frameworks and evidence
const created = await done(
  client.POST('/api/v1/organizations/{organizationid}/security-frameworks', {
    params: inOrganization,
    body: { title: 'ISO 27001' },
  }),
)
const framework = { ...inOrganization.path, frameworkid: created.security_framework.id }
await done(
  client.PUT('/api/v1/organizations/{organizationid}/security-frameworks/{frameworkid}', {
    params: { path: framework },
    body: { security_frameworks: [{ id: 'A.5.1', title: 'Policies for information security' }] },
  }),
)
const attached = await done(
  client.POST('/api/v1/organizations/{organizationid}/security-frameworks/{frameworkid}/documents/{controlid}', {
    params: {
      path: { ...framework, controlid: 'A.5.1' },
      header: { 'Content-Disposition': 'attachment; filename="policy.txt"' },
    },
    headers: { 'Content-Type': 'text/plain' },
    body: 'Policy, version 3',
    bodySerializer: (body) => body as string,
  }),
)
say(`evidence: ${attached.data.file_name}`)
await done(
  client.DELETE('/api/v1/organizations/{organizationid}/security-frameworks/{frameworkid}', {
    params: { path: framework },
  }),
)

// Assessments
const assessments = await done(client.GET('/api/v1/assessments', { params: { query: { limit: 10 } } }))
for (const { id } of assessments.data) {
  const { data } = await done(client.GET('/api/v1/assessments/{id}', { params: { path: { id } } }))
  say(`assessment: ${data.name.en}, ${data.score}`)
}

// Notifications
const { items, pages } = await everything((page) =>
  done(client.GET('/api/v1/notifications', { params: { query: { order: 'id', ...page } } })),
)
say(`notifications: ${items.length} on ${pages} pages`)
for (const { id } of items.filter(({ read }) => !read)) {
  await done(client.PUT('/api/v1/notifications/{id}', { params: { path: { id } } }))
}

const removed = await done(client.DELETE('/api/v1/organizations/{id}', { params: { path: { id: organization } } }))
say(`removed: ${removed.data.name}`)
