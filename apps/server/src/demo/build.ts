import {
  addMember,
  attachEvidence,
  type Caller,
  createOrganization,
  createSecurityFramework,
  createThreatBlocker,
  createVpnProfile,
  DomainError,
  editThreatBlocker,
  importAssessments,
  importCloudDefenses,
  issueToken,
  listNotifications,
  markNotificationRead,
  NO_INVITATION_CAPS,
  type Ports,
  type Role,
  readMe,
  registerUser,
  uploadTraffic,
} from '@security-management/domain'
import {
  ASSESSMENT,
  CLIENTS,
  type Client,
  EVIDENCE,
  FRAMEWORK,
  LEAD,
  PEOPLE,
  type Person,
  PROVIDER,
} from './content.ts'
import { trafficOf } from './traffic.ts'

const DAY = 24 * 60 * 60 * 1000

/** Somebody of the demo, with a token to act as them. */
export type DemoPerson = {
  id: string
  email: string
  name: string
  roles: { organization: string; role: Role }[]
  token: string
}

type Callers = Record<Person, Caller>

/**
 * Fills the database with a security provider, its clients and their people, as if they had used the service: through
 * the use cases alone.
 *
 * @returns who is who.
 * @throws Error with one line when the demo is there already.
 */
export async function buildDemo(
  ports: Ports,
  onProgress: (done: number, total: number) => void,
): Promise<DemoPerson[]> {
  const callers = await registerPeople(ports)
  const lead = callers[LEAD]
  const provider = await createOrganization(ports, lead, PROVIDER.record)
  await addMembers(ports, callers, provider, PROVIDER.members)
  for (const [index, client] of CLIENTS.entries()) {
    onProgress(index, CLIENTS.length)
    await buildClient(ports, callers, client)
  }
  onProgress(CLIENTS.length, CLIENTS.length)
  const { data } = await listNotifications(ports, lead, { order: 'id', limit: 2 })
  for (const { id } of data) await markNotificationRead(ports, lead, id)
  return describePeople(ports, callers)
}

async function registerPeople(ports: Ports): Promise<Callers> {
  const callers: Partial<Callers> = {}
  for (const [name, person] of Object.entries(PEOPLE)) {
    try {
      callers[name as Person] = { user: (await registerUser(ports, person)).id }
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'conflict')) throw error
      throw new Error(`The demo is here already: ${person.email} is registered; for another, name another DATABASE_URL`)
    }
  }
  return callers as Callers
}

async function addMembers(ports: Ports, callers: Callers, organization: number, members: Client['members']) {
  for (const [name, role] of Object.entries(members)) {
    const { user } = callers[name as Person]
    await addMember(ports, callers[LEAD], { organization, user }, { role }, NO_INVITATION_CAPS)
  }
}

async function buildClient(ports: Ports, callers: Callers, client: Client): Promise<void> {
  const organization = await createOrganization(ports, callers[LEAD], client.record)
  await addMembers(ports, callers, organization, client.members)
  const officer = callers.marco
  for (const blocker of client.blockers) await buildBlocker(ports, officer, organization, blocker)
  await createVpnProfile(ports, officer, { organization, email: PEOPLE.marco.email })
  await buildFramework(ports, officer, organization)
  await importCloudDefenses(ports, [cloudDefense(client, organization, ports.now())])
  await importAssessments(
    ports,
    client.assessments.map(({ daysAgo, ...assessment }) => ({
      ...ASSESSMENT,
      ...assessment,
      organization,
      created_at: new Date(ports.now().getTime() - daysAgo * DAY).toISOString(),
    })),
  )
}

async function buildBlocker(ports: Ports, officer: Caller, organization: number, blocker: Client['blockers'][number]) {
  const { device_id, type, services, endpoint } = blocker
  const email = PEOPLE.marco.email
  const id = await createThreatBlocker(ports, officer, { organization, device_id, email, type, services })
  await editThreatBlocker(ports, officer, id, { endpoint, privateIP: '10.0.0.1' })
  const file = { file_name: `${device_id}.json`, content: bytes(trafficOf(blocker, ports.now())) }
  await uploadTraffic(ports, officer, id, file)
}

async function buildFramework(ports: Ports, officer: Caller, organization: number): Promise<void> {
  const { id: framework } = await createSecurityFramework(ports, officer, organization, FRAMEWORK)
  const { control, text, ...document } = EVIDENCE
  await attachEvidence(ports, officer, { organization, framework, control }, { ...document, content: bytes(text) })
}

function cloudDefense({ cloud }: Client, organization: number, now: Date) {
  const datetime = now.toISOString()
  const today = Math.floor(now.getTime() / DAY) * DAY
  const web_stat = [6, 5, 4, 3, 2, 1].map((daysAgo) => ({
    datetime: new Date(today - daysAgo * DAY).toISOString(),
    waf_protection: 2 + (daysAgo % 3) / 2,
    total_managed_requests: 5200 - 310 * daysAgo,
  }))
  const check = { stat: { fqdn: 1, proxy: 1, endpoint: 1, datetime }, status: 1, web_stat }
  return { ...cloud, organization, email: PEOPLE.marco.email, check }
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

async function describePeople(ports: Ports, callers: Callers): Promise<DemoPerson[]> {
  const people: DemoPerson[] = []
  for (const caller of Object.values(callers)) {
    const { id, email, first_name, last_name, organizations } = await readMe(ports, caller)
    const roles = organizations.map(({ name, role }) => ({ organization: name, role }))
    const { token } = await issueToken(ports, { user: id, name: 'demo' })
    people.push({ id, email, name: `${first_name} ${last_name}`, roles, token })
  }
  return people
}
