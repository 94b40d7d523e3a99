/** Roles in an organization, weakest first; each may do what the ones before it may. */
export const ROLES = ['viewer', 'security_officer', 'owner'] as const
/** What a member is in an organization; each role may what those before it in `ROLES` may. */
export type Role = (typeof ROLES)[number]

/**
 * The weakest role that may perform each action on an organization: the only place that decides rights.
 * (spec) = service-api.md says so; (ours) = decisions.md §3.
 */
export const WEAKEST_ROLE = {
  'organization.read': 'viewer', //                (spec)
  'organization.edit': 'security_officer', //      (spec: Roles)
  'organization.remove': 'owner', //               (spec)
  'member.list': 'security_officer', //            (spec)
  'member.add': 'owner', //                        (spec)
  'member.edit': 'owner', //                       (spec)
  'member.remove': 'owner', //                     (spec)
  'member.invite': 'owner', //                     (ours)
  'threat_blocker.read': 'viewer', //              (ours)
  'threat_blocker.create': 'security_officer', //  (ours)
  'threat_blocker.edit': 'security_officer', //    (ours)
  'threat_blocker.remove': 'security_officer', //  (ours)
  'traffic.read': 'viewer', //                     (ours)
  'traffic.read_raw': 'security_officer', //       (ours)
  'traffic.upload': 'security_officer', //         (ours)
  'cloud_defense.read': 'viewer', //               (ours)
  'vpn_profile.read': 'viewer', //                 (ours)
  'vpn_profile.create': 'security_officer', //     (ours)
  'vpn_profile.remove': 'viewer', //               (spec: and only who created it)
  'security_framework.read': 'viewer', //          (ours)
  'security_framework.create': 'security_officer', // (ours)
  'security_framework.edit': 'security_officer', //   (ours)
  'security_framework.remove': 'security_officer', // (ours)
  'evidence.attach': 'security_officer', //        (ours)
  'evidence.read': 'viewer', //                    (ours)
  'assessment.read': 'viewer', //                  (ours)
  'audit_trail.read': 'owner', //                  (ours)
} as const satisfies Record<string, Role>

/** What a role can be needed for: the keys of `WEAKEST_ROLE`. */
export type Action = keyof typeof WEAKEST_ROLE

/** Whether a member with `role` may perform `action` on their organization. */
export function mayPerform(role: Role, action: Action): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(WEAKEST_ROLE[action])
}

/** The roles that may perform `action`, weakest first. */
export function rolesThatMay(action: Action): Role[] {
  return ROLES.filter((role) => mayPerform(role, action))
}

/** What a token may be used for: `full` is all that its person may, `read` is what changes nothing. */
export const ACCESSES = ['full', 'read'] as const
/** One of `ACCESSES`. */
export type Access = (typeof ACCESSES)[number]

/** How far a token was narrowed when it was issued. */
export type Narrowing = {
  access: Access
  /** The only organizations that it reaches; null for all that its person reaches. */
  organizations: readonly number[] | null
}

/**
 * The access that a token needs for each action, whatever its person may: for those on an organization, and for those
 * that take no role. `unnarrowed`: a token of full access that is held to no organizations. Looking up a threat tells of
 * no organization and changes nothing, so it asks for no caller and stands in no table.
 */
export const NEEDED_ACCESS = {
  'organization.read': 'read',
  'organization.edit': 'full',
  'organization.remove': 'full',
  'member.list': 'read',
  'member.add': 'full',
  'member.edit': 'full',
  'member.remove': 'full',
  'member.invite': 'full',
  'threat_blocker.read': 'read',
  'threat_blocker.create': 'full',
  'threat_blocker.edit': 'full',
  'threat_blocker.remove': 'full',
  'traffic.read': 'read',
  'traffic.read_raw': 'read',
  'traffic.upload': 'full',
  'cloud_defense.read': 'read',
  'vpn_profile.read': 'read',
  'vpn_profile.create': 'full',
  'vpn_profile.remove': 'full',
  'security_framework.read': 'read',
  'security_framework.create': 'full',
  'security_framework.edit': 'full',
  'security_framework.remove': 'full',
  'evidence.attach': 'full',
  'evidence.read': 'read',
  'audit_trail.read': 'read',
  'assessment.read': 'read',
  // Without a role.
  'me.read': 'read',
  'notification.read': 'read',
  'notification.mark': 'full',
  'organization.create': 'unnarrowed', // it would reach what it was not issued for
  'token.read': 'read',
  'token.issue': 'unnarrowed', // it could widen itself
  'token.change': 'unnarrowed', // but every token may rotate and revoke itself, see `findOwnToken`
} as const satisfies Record<Action, Access> & Record<string, Access | 'unnarrowed'>

/** What takes no role: everybody may, for themselves. */
export type OwnAction = Exclude<keyof typeof NEEDED_ACCESS, Action>

/**
 * Whether a token narrowed like this reaches `action`, on `organization` where the action is on one. It never decides
 * alone: the person's role is asked as well.
 */
export function reaches(
  { access, organizations }: Narrowing,
  action: Action | OwnAction,
  organization?: number,
): boolean {
  const needed = NEEDED_ACCESS[action]
  if (needed === 'unnarrowed') return access === 'full' && organizations === null
  if (needed === 'full' && access !== 'full') return false
  return organization === undefined || organizations === null || organizations.includes(organization)
}
