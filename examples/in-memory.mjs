// The whole domain in the memory of this process: rules, rights, traffic and evidence, with no server and no database.
import {
  addMember,
  attachEvidence,
  createOrganization,
  createSecurityFramework,
  createThreatBlocker,
  listNotifications,
  readThreatBlocker,
  registerUser,
  uploadTraffic,
} from '@security-management/domain'
import { memoryPorts } from '@security-management/domain/memory'

const ports = memoryPorts()
const ada = { user: (await registerUser(ports, { email: 'ada@acme.example' })).id }
const organization = await createOrganization(ports, ada, { name: 'Acme' })
const invited = { email: 'grace@acme.example', role: 'security_officer' }
const grace = { user: (await addMember(ports, ada, { organization, user: '0' }, invited)).user }

const blocker = { organization, device_id: 'gateway', email: 'soc@acme.example', type: 'series', services: [] }
const id = await createThreatBlocker(ports, grace, blocker)
await uploadTraffic(ports, grace, id, { file_name: 'access.json', content: lines() })
const { check } = await readThreatBlocker(ports, ada, id)
console.log('the busiest hour:', check.chart_stat.at(-1))

const controls = [{ id: 'A.5.1', title: 'Policies for information security' }]
const iso = { title: 'ISO 27001', security_frameworks: controls }
const framework = (await createSecurityFramework(ports, ada, organization, iso)).id
const policy = { file_name: 'policy.txt', content_type: 'text/plain', content: lines() }
const control = { organization, framework, control: 'A.5.1' }
console.log('the evidence:', await attachEvidence(ports, grace, control, policy))
for (const { title, message } of (await listNotifications(ports, ada)).data) console.log(`${title}: ${message}`)

async function* lines() {
  yield Buffer.from('{"timestamp": "2026-11-21T10:03:10Z", "client_ip": "203.0.113.9", "action": "blocked"}\n')
}
