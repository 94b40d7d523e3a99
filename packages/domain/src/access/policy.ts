/** Roles in an organization, weakest first; each may do what the ones before it may. */
export const ROLES = ['viewer', 'security_officer', 'owner'] as const
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
} as const satisfies Record<string, Role>

export type Action = keyof typeof WEAKEST_ROLE

/** Whether a member with `role` may perform `action` on their organization. */
export function mayPerform(role: Role, action: Action): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(WEAKEST_ROLE[action])
}

/** The roles that may perform `action`, weakest first. */
export function rolesThatMay(action: Action): Role[] {
  return ROLES.filter((role) => mayPerform(role, action))
}
