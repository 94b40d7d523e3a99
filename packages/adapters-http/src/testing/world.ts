import {
  addMember,
  attachEvidence,
  createOrganization,
  createSecurityFramework,
  createThreatBlocker,
  createVpnProfile,
  importAssessments,
  importCloudDefenses,
  issueToken,
  type Ports,
  type Role,
  registerUser,
  removeMember,
  removeOrganization,
  revokeToken,
  type User,
  uploadTraffic,
} from '@security-management/domain'

export type Person = { user: User; token: string }

/** A registered person with a token. */
export async function aPerson(ports: Ports, email: string): Promise<Person> {
  const user = await registerUser(ports, { email })
  const { token } = await issueToken(ports, { user: user.id })
  return { user, token }
}

/** The code of the invitation that is owed to this address. */
export async function invitationCode(ports: Ports, email: string): Promise<string> {
  const now = ports.now()
  const later = new Date(now.getTime() + 1).toISOString()
  const owed = await ports.transact((stores) => stores.invitations.leaseOwed(now.toISOString(), later, 1000))
  const mail = owed.find(({ to }) => to === email)
  if (!mail) throw new Error(`No invitation is owed to ${email}`)
  return mail.code
}

export async function* stream(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

export const CONTROL = 'A.5/1'

/** A traffic file with one request, which was blocked. */
const LOG = JSON.stringify([{ time: '2025-01-01T00:00:00Z', client_ip: '203.0.113.9', verdict: 'blocked' }])

/** Everything that an organization can have, one of each. */
export type Site = {
  organization: number
  blocker: number
  key: string
  upload: number
  defense: number
  profile: number
  framework: number
  control: string
  document: string
  assessment: number
}

/** An organization of this owner with one record of each kind. */
export async function aSite(ports: Ports, owner: Person, name: string): Promise<Site> {
  const caller = { user: owner.user.id }
  const organization = await createOrganization(ports, caller, { name })
  const blocker = await createThreatBlocker(ports, caller, aBlocker(organization))
  const stored = await ports.threatBlockers.findActive(blocker)
  const { upload } = await uploadTraffic(ports, caller, blocker, { file_name: 'log.json', content: stream(LOG) })
  await importCloudDefenses(ports, [{ organization, email: 'cloud@example.com', fqdn: 'www.example.com' }])
  const profile = await createVpnProfile(ports, caller, { organization, email: 'vpn@example.com' })
  const { id: framework } = await createSecurityFramework(ports, caller, organization, aFramework())
  const path = { organization, framework, control: CONTROL }
  const { file_path } = await attachEvidence(ports, caller, path, {
    file_name: 'proof.txt',
    content_type: 'text/plain',
    content: stream('proof of it'),
  })
  await importAssessments(ports, [{ organization, score: 80, name: { en: 'Audit', it: 'Verifica' } }])
  const page = { limit: 1, offset: 0, order: '-id' } as const
  const [defense] = (await ports.cloudDefenses.listActive([organization], {}, page)).data
  const [assessment] = (await ports.assessments.listActive([organization], {}, page)).data
  return {
    organization,
    blocker,
    key: stored?.atb_key ?? '',
    upload,
    defense: defense?.id ?? 0,
    profile,
    framework,
    control: CONTROL,
    document: file_path.split('/').at(-1) ?? '',
    assessment: assessment?.id ?? 0,
  }
}

export function aBlocker(organization: number, other: object = {}) {
  return {
    organization,
    device_id: 'device-1',
    email: 'alerts@example.com',
    type: 'series',
    services: ['Service IPv4 Protection'],
    ...other,
  }
}

export function aFramework(other: object = {}) {
  return { title: 'ISO 27001', security_frameworks: [{ id: CONTROL, title: 'Policies' }], ...other }
}

/** Who can stand before an organization. */
export type World = {
  site: Site
  owner: Person
  officer: Person
  viewer: Person
  stranger: Person
  /** Was a member, and is none any more. */
  removedMember: Person
  /** Another organization of the owner's. */
  secondSite: Site
  /** Owns an organization that nobody else here has to do with. */
  otherOwner: Person
  otherSite: Site
  /** An organization that was removed, and its owner. */
  removedSite: Site
  removedOwner: Person
  revokedToken: string
  expiredToken: string
  /** Tokens of the owner's: one that only reads, one held to the site, one held to the second site. */
  narrowed: { reading: string; here: string; elsewhere: string }
  /** Id of another token of the owner's. */
  spare: number
}

/** The organizations of the world, by name. */
export const NAMES = { site: 'Alpha', secondSite: 'Gamma', otherSite: 'Beta', removedSite: 'Former' } as const

const HOUR = 60 * 60 * 1000

/**
 * An organization with members of every role, and everybody who has nothing to do with it.
 *
 * @param make what makes each of them, where it shall be other than plain.
 */
export async function aWorld(ports: Ports, make = { aPerson, aSite }): Promise<World> {
  const { aPerson, aSite } = make
  const owner = await aPerson(ports, 'owner@example.com')
  const officer = await aPerson(ports, 'officer@example.com')
  const viewer = await aPerson(ports, 'viewer@example.com')
  const removedMember = await aPerson(ports, 'removed@example.com')
  const otherOwner = await aPerson(ports, 'other@example.com')
  const removedOwner = await aPerson(ports, 'former@example.com')
  const site = await aSite(ports, owner, NAMES.site)
  const add = ({ user }: Person, role: Role) =>
    addMember(ports, { user: owner.user.id }, { organization: site.organization, user: user.id }, { role })
  await add(officer, 'security_officer')
  await add(viewer, 'viewer')
  await add(removedMember, 'owner')
  const place = { organization: site.organization, user: removedMember.user.id }
  await removeMember(ports, { user: owner.user.id }, place)
  const removedSite = await aSite(ports, removedOwner, NAMES.removedSite)
  await removeOrganization(ports, { user: removedOwner.user.id }, removedSite.organization)
  const revoked = await issueToken(ports, { user: owner.user.id })
  await revokeToken(ports, revoked.id)
  const secondSite = await aSite(ports, owner, NAMES.secondSite)
  const issued = (narrowing: object) => issueToken(ports, { user: owner.user.id, ...narrowing })
  const reading = await issued({ access: 'read' })
  const here = await issued({ organizations: [site.organization] })
  const elsewhere = await issued({ organizations: [secondSite.organization] })
  const { id: spare } = await issued({})
  const hoursAgo = (hours: number) => new Date(ports.now().getTime() - hours * HOUR)
  const issuer = { ...ports, now: () => hoursAgo(2) }
  const expired = await issueToken(issuer, { user: owner.user.id, expires_at: hoursAgo(1).toISOString() })
  return {
    site,
    secondSite,
    owner,
    officer,
    viewer,
    stranger: await aPerson(ports, 'stranger@example.com'),
    removedMember,
    otherOwner,
    otherSite: await aSite(ports, otherOwner, NAMES.otherSite),
    removedSite,
    removedOwner,
    revokedToken: revoked.token,
    expiredToken: expired.token,
    narrowed: { reading: reading.token, here: here.token, elsewhere: elsewhere.token },
    spare,
  }
}
