import { aBlocker, aSite, type Person, type Site, stream } from '../packages/adapters-http/src/testing/world.ts'
import {
  attachEvidence,
  createSecurityFramework,
  createThreatBlocker,
  createVpnProfile,
  editOrganization,
  editThreatBlocker,
  importAssessments,
  importCloudDefenses,
  issueToken,
  type Ports,
  registerUser,
  uploadTraffic,
} from '../packages/domain/src/index.ts'
import type { Tables } from './inside.ts'

const NEWEST = { limit: 1, offset: 0, order: '-id' } as const

/** A person whose name, address and user name hold the mark. */
export async function aMarkedPerson(ports: Ports, name: string, mark: string): Promise<Person> {
  const email = `${name}@${mark}.example`
  const user = await registerUser(ports, { email, first_name: `${mark} ${name}`, last_name: mark })
  const { token } = await issueToken(ports, { user: user.id, name: mark })
  return { user, token }
}

/** An organization with one record of each kind, all of whose texts hold the mark, a word in lower case. */
export async function aMarkedSite(ports: Ports, owner: Person, mark: string): Promise<Site> {
  const site = await aSite(ports, owner, mark)
  const { organization } = site
  const caller = { user: owner.user.id }
  await editOrganization(ports, caller, organization, {
    description: `about ${mark}`,
    website: `https://${mark}.example`,
    logo: `https://${mark}.example/logo.png`,
    contacts: [{ name: mark, role: mark, email: `contact@${mark}.example`, phone: mark }],
    domains: [`${mark}.example`],
  })
  const device = { device_id: mark, email: `alerts@${mark}.example` }
  const blocker = await createThreatBlocker(ports, caller, aBlocker(organization, device))
  const plugin = { name: mark, config: { [mark]: mark } }
  const { atb_key: key } = await editThreatBlocker(ports, caller, blocker, { plugin })
  const line = { time: '2025-01-01T00:00:00Z', client_ip: '203.0.113.9', host: `${mark}.example`, verdict: 'blocked' }
  const log = { file_name: `${mark}.json`, content: stream(JSON.stringify([line, `${mark} is no line`])) }
  const { upload } = await uploadTraffic(ports, caller, blocker, log)
  const mail = { organization, email: `somebody@${mark}.example` }
  await importCloudDefenses(ports, [{ ...mail, fqdn: `www.${mark}.example` }])
  const profile = await createVpnProfile(ports, caller, mail)
  const control = `${mark}/1`
  const { id: framework } = await createSecurityFramework(ports, caller, organization, {
    title: mark,
    security_frameworks: [
      {
        ...{ id: control, type: mark, title: mark, description: mark, details: { [mark]: mark } },
        evidences: [{ files: [`/${mark}`], details: mark }],
      },
    ],
  })
  const path = { organization, framework, control }
  const { file_path } = await attachEvidence(ports, caller, path, {
    file_name: `${mark}.txt`,
    content_type: `text/${mark}`,
    content: stream(`the proof of ${mark}`),
  })
  const texts = { en: mark, it: mark }
  await importAssessments(ports, [{ organization, score: 80, name: texts, description: texts, interviewed_user: mark }])
  const [defense] = (await ports.cloudDefenses.listActive([organization], {}, NEWEST)).data
  const [assessment] = (await ports.assessments.listActive([organization], {}, NEWEST)).data
  return {
    ...{ organization, blocker, key, upload, profile, framework, control },
    document: file_path.split('/').at(-1) ?? '',
    defense: defense?.id ?? 0,
    assessment: assessment?.id ?? 0,
  }
}

/** Columns whose texts are of the service's own making, or from a closed list. */
const NOT_FREE = new Set([
  ...['infrastructure', 'sectors', 'industries', 'ips', 'atb_key', 'type', 'services', 'endpoint', 'privateIP'],
  ...['created_at', 'removed_at', 'sha256', 'received', 'from', 'to', 'format', 'check', 'user_id', 'told'],
  ...['frequency', 'rejects', 'document.name'],
])

/**
 * The texts of a site's own records that do not hold the mark: a column that came after this was written, and that
 * nothing guards. Empty when all do.
 */
export function unmarked(tables: Tables, site: Site, mark: string): string[] {
  const own: [table: string, column: string, id: number][] = [
    ['organization', 'id', site.organization],
    ['threat_blocker', 'id', site.blocker],
    ['traffic_upload', 'id', site.upload],
    ['cloud_defense', 'id', site.defense],
    ['vpn_profile', 'id', site.profile],
    ['security_framework', 'id', site.framework],
    ['control', 'framework', site.framework],
    ['document', 'framework', site.framework],
    ['assessment', 'id', site.assessment],
  ]
  return own.flatMap(([table, column, id]) => {
    const rows = tables[table]?.filter((row) => row[column] === id) ?? []
    if (rows.length === 0) return [`${table} has no record`]
    return rows.flatMap((row) =>
      Object.entries(row)
        .filter(([name]) => !NOT_FREE.has(name) && !NOT_FREE.has(`${table}.${name}`))
        .filter(([, value]) => typeof value === 'string' && !value.includes(mark))
        .map(([name, value]) => `${table}.${name}: ${value}`),
    )
  })
}
