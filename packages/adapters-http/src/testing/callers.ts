import { mayPerform, type Role } from '@security-management/domain'
import type { Route } from '../route.ts'
import { NAMES, type World } from './world.ts'

type CallerKind = {
  role?: Role
  token: (world: World) => string | undefined
  known?: false
  narrowed?: keyof World['narrowed']
}

/** Everybody who may come, and their role in the world's first organization. */
export const CALLERS: { [name: string]: CallerKind } = {
  'nobody, without a token': { token: () => undefined, known: false },
  'somebody with a wrong token': { token: ({ owner }) => `${owner.token.slice(0, -1)}!`, known: false },
  'the owner with a revoked token': { token: ({ revokedToken }) => revokedToken, known: false },
  'the owner with an expired token': { token: ({ expiredToken }) => expiredToken, known: false },
  'a stranger': { token: ({ stranger }) => stranger.token },
  'a removed member': { token: ({ removedMember }) => removedMember.token },
  'the owner of another organization': { token: ({ otherOwner }) => otherOwner.token },
  'the owner of a removed organization': { token: ({ removedOwner }) => removedOwner.token },
  'a viewer': { role: 'viewer', token: ({ viewer }) => viewer.token },
  'a security officer': { role: 'security_officer', token: ({ officer }) => officer.token },
  'the owner': { role: 'owner', token: ({ owner }) => owner.token },
  'the owner, with a token for reading': {
    role: 'owner',
    narrowed: 'reading',
    token: ({ narrowed }) => narrowed.reading,
  },
  'the owner, with a token for the organization': {
    role: 'owner',
    narrowed: 'here',
    token: ({ narrowed }) => narrowed.here,
  },
  'the owner, with a token for another organization of theirs': {
    role: 'owner',
    narrowed: 'elsewhere',
    token: ({ narrowed }) => narrowed.elsewhere,
  },
}

/** What the table of rights says of this caller, about what belongs to the first organization. */
export function expectedStatus(route: Route, name: string): number {
  const { role, known = true, narrowed } = CALLERS[name] ?? {}
  if (!known || route.authentication === 'invitation') return 401
  if (narrowed && !lets(narrowed, route)) return 401
  if (route.right === 'anyone' || (route.right === 'self' && !route.params)) return route.status
  // The record of one person: the owner's notification, the owner's VPN profile.
  if (route.right === 'self') return role === 'owner' && narrowed !== 'elsewhere' ? route.status : 404
  if (route.id === 'removeVpnProfile') return role === 'owner' ? route.status : 401
  return role && mayPerform(role, route.right) ? route.status : 401
}

/** What reaches past any organization, so that no token that is held to some may do it. */
const UNBOUNDED = ['createOrganization', 'issueToken', 'rotateToken', 'revokeToken']

/** Whether the narrowing of a token leaves the operation to its person's rights. */
function lets(narrowed: keyof World['narrowed'], { id, method, right }: Route): boolean {
  if (narrowed === 'reading') return method === 'get'
  if (UNBOUNDED.includes(id)) return false
  return narrowed === 'here' || right === 'anyone' || right === 'self'
}

/** Organizations of the world, by the key of their site, of which this caller may see something. */
export function seenBy(name: string): (keyof typeof NAMES)[] {
  if (name === 'the owner of another organization') return ['otherSite']
  const { role, narrowed } = CALLERS[name] ?? {}
  if (!role) return []
  if (narrowed === 'elsewhere') return ['secondSite']
  return role === 'owner' && narrowed !== 'here' ? ['site', 'secondSite'] : ['site']
}

/** The other ones. */
export function hiddenFrom(name: string): (keyof typeof NAMES)[] {
  const seen = seenBy(name)
  return (Object.keys(NAMES) as (keyof typeof NAMES)[]).filter((site) => !seen.includes(site))
}
