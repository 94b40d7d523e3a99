import type { Route } from '../route.ts'
import type { Sent } from './requests.ts'
import { aBlocker, aFramework, type Site } from './world.ts'

/** What an example names beside the records of a site: a viewer of it; a notification and another token of who asks. */
export type Named = { viewer: string; notification: number; spare: number }

/** Values of the path, and the rest of a request that would succeed for somebody who may. */
export type Example = (site: Site, named: Named) => { path: (string | number)[]; query?: string; sent?: Sent }

const FILE: Sent = {
  headers: { 'Content-Disposition': 'attachment; filename=a.json', 'Content-Type': 'application/json' },
  body: '[{"time":"2025-03-01T10:00:00Z"}]',
}
const blocker: Example = ({ blocker }) => ({ path: [blocker] })
const organization: Example = ({ organization }) => ({ path: [organization] })
const framework: Example = ({ organization, framework }) => ({ path: [organization, framework] })
const viewer: Example = ({ organization }, { viewer }) => ({ path: [organization, viewer] })
const nothing: Example = () => ({ path: [] })

export const EXAMPLES: { [id: string]: Example } = {
  createThreatBlocker: ({ organization }) => ({ path: [], sent: { json: aBlocker(organization) } }),
  listThreatBlockers: nothing,
  readThreatBlocker: blocker,
  editThreatBlocker: ({ key }) => ({ path: [key], sent: { json: { device_id: 'edited' } } }),
  removeThreatBlocker: blocker,
  uploadTraffic: ({ blocker }) => ({ path: [blocker], sent: FILE }),
  listTrafficUploads: blocker,
  readTrafficUpload: ({ blocker, upload }) => ({ path: [blocker, upload] }),
  readRawTraffic: ({ blocker, upload }) => ({ path: [blocker, upload] }),
  listThreats: blocker,
  readStatistics: blocker,
  readAllStatistics: nothing,
  lookUpThreat: () => ({ path: [], query: '?value=203.0.113.9' }),
  listCloudDefenses: nothing,
  readCloudDefense: ({ defense }) => ({ path: [defense] }),
  createOrganization: () => ({ path: [], sent: { json: { name: 'New' } } }),
  listOrganizations: nothing,
  readOrganization: organization,
  editOrganization: ({ organization }) => ({ path: [organization], sent: { json: { name: 'Edited' } } }),
  removeOrganization: organization,
  listMembers: organization,
  addMember: ({ organization }) => ({ path: [organization, 0], sent: { json: { email: 'new@example.com' } } }),
  editMember: (site, named) => ({ ...viewer(site, named), sent: { json: { role: 'owner' } } }),
  removeMember: viewer,
  listEvents: organization,
  createVpnProfile: ({ organization }) => ({ path: [], sent: { json: { organization, email: 'a@example.com' } } }),
  listVpnProfiles: nothing,
  readVpnProfile: ({ profile }) => ({ path: [profile] }),
  removeVpnProfile: ({ profile }) => ({ path: [profile] }),
  listSecurityFrameworks: organization,
  createSecurityFramework: ({ organization }) => ({ path: [organization], sent: { json: { title: 'New' } } }),
  readSecurityFramework: framework,
  editSecurityFramework: (site, named) => ({ ...framework(site, named), sent: { json: { title: 'Edited' } } }),
  removeSecurityFramework: framework,
  attachEvidence: ({ organization, framework, control }) => ({ path: [organization, framework, control], sent: FILE }),
  readDocument: ({ organization, framework, control, document }) => ({
    path: [organization, framework, control, document],
  }),
  listAssessments: nothing,
  readAssessment: ({ assessment }) => ({ path: [assessment] }),
  listNotifications: nothing,
  markAllNotificationsRead: nothing,
  markNotificationRead: (_, { notification }) => ({ path: [notification] }),
  readMe: nothing,
  listTokens: nothing,
  issueToken: () => ({ path: [], sent: { json: { name: 'ci' } } }),
  rotateToken: (_, { spare }) => ({ path: [spare] }),
  revokeToken: (_, { spare }) => ({ path: [spare] }),
  renewInvitation: viewer,
  acceptInvitation: () => ({ path: [], sent: { json: { first_name: 'Ada' } } }),
}

/** Bodies that are taken, for something to go wrong in. */
export function goodBody(route: Route, { organization }: Site): object {
  const contact = { name: 'Ada', email: 'ada@example.com', phone: '1', role: 'CISO', email_report: true }
  const evidence = { files: ['/a'], details: 'x', completed: 1, residual_risk: 0.5, datetime: '2025-01-01T00:00:00Z' }
  const control = { id: 'A', title: 'B', weight: 1, details: { a: [1] }, frequency: '0 0 * * *', evidences: [evidence] }
  const bodies: { [id: string]: object } = {
    createThreatBlocker: aBlocker(organization),
    editThreatBlocker: { ...aBlocker(organization), plugin: { name: 'p', config: { a: 1 } }, endpoint: '::1' },
    createOrganization: { name: 'N', contacts: [contact], domains: ['a.b'], ips: ['::1'], sectors: ['Energy'] },
    editOrganization: { name: 'N', contacts: [contact], website: 'https://a.b', number_employees: 3 },
    addMember: { email: 'new@example.com', role: 'viewer' },
    editMember: { email: 'new@example.com', role: 'owner' },
    createVpnProfile: { organization, email: 'vpn@example.com' },
    createSecurityFramework: aFramework({ security_frameworks: [control] }),
    editSecurityFramework: aFramework({ security_frameworks: [control] }),
    issueToken: { name: 'ci', expires_at: '2100-01-01', access: 'read', organizations: [organization] },
    rotateToken: { overlap_days: 1.5 },
    acceptInvitation: { first_name: 'A', last_name: 'B', locale: 'it' },
  }
  const body = bodies[route.id]
  if (!body) throw new Error(`${route.id} has no body here`)
  return body
}
