import { type Role, rolesThatMay } from '../access/policy.ts'
import type { DomainEvent, EventType } from '../events.ts'
import type { NewNotification } from './notification-store.ts'

/** What an event makes the service tell, and whom: one person, or all of these roles but who did it. */
type Notice = Omit<NewNotification, 'organization' | 'datetime'> & { to: { person: string } | { roles: Role[] } }

/**
 * The notification that an event causes (decisions.md §4, Notification): one row an event type, none for the events
 * that nobody is told of.
 */
export function noticeOf(event: DomainEvent): Notice | undefined {
  return NOTICES[event.type]?.(event)
}

const NOTICES: Partial<Record<EventType, (event: DomainEvent) => Notice | undefined>> = {
  'organization.created': (event) => ({
    ...info('fa-solid fa-building', organizationPath(event)),
    to: { person: event.user_id ?? '' },
    title: 'Organization created',
    message: 'You are its owner. Invite the people who work on its security.',
  }),
  'member.added': (event) => ({
    ...info('fa-solid fa-user-plus', organizationPath(event)),
    to: { person: event.record },
    title: 'Added to an organization',
    message: `You are now ${roleName(event.details.role)} of this organization.`,
  }),
  'member.role_changed': (event) => ({
    ...info('fa-solid fa-user-pen', organizationPath(event)),
    to: { person: event.record },
    title: 'Role changed',
    message: `You are now ${roleName(event.details.role)} of this organization.`,
  }),
  'threat_blocker.created': (event) => ({
    ...info('fa-solid fa-shield-halved', `/api/v1/atb/${event.record}`),
    to: { roles: rolesThatMay('threat_blocker.edit') },
    title: 'Threat blocker created',
    message: `Threat blocker ${event.details.device_id} was set up.`,
  }),
  'threat_blocker.removed': (event) => ({
    ...warning('fa-solid fa-shield-halved', '/api/v1/atb'),
    to: { roles: rolesThatMay('threat_blocker.edit') },
    title: 'Threat blocker removed',
    message: `Threat blocker ${event.details.device_id} was removed.`,
  }),
  'traffic.uploaded': (event) => {
    if (!event.details.malicious) return undefined
    const blocker = event.details.threat_blocker
    return {
      ...warning('fa-solid fa-triangle-exclamation', `/api/v1/atb/${blocker}`),
      to: { roles: rolesThatMay('threat_blocker.edit') },
      title: 'Malicious traffic found',
      message: `Threat blocker ${event.details.device_id}: ${event.details.malicious} of ${event.details.accepted} requests were malicious. Strongest reason: ${event.details.strongest}.`,
      // At most one a blocker and hour (decisions.md §4).
      key: `malicious-traffic:${blocker}:${event.datetime.slice(0, 13)}`,
    }
  },
  'traffic.found_later': (event) => ({
    ...warning('fa-solid fa-clock-rotate-left', `/api/v1/statistics?organization=${event.organization}`),
    to: { roles: rolesThatMay('threat_blocker.edit') },
    title: 'Malicious traffic found later',
    message: `Newer threat feeds know ${counted(event.details.requests, 'request')} in ${counted(event.details.uploads, 'earlier upload')} as malicious. What is found later is counted at its own time, and marked.`,
  }),
  'vpn_profile.created': (event) => ({
    ...info('fa-solid fa-network-wired', `/api/v1/vpn/${event.record}`),
    to: { roles: rolesThatMay('vpn_profile.create') },
    title: 'VPN profile created',
    message: `A VPN profile for ${event.details.email} was created.`,
  }),
  'security_framework.removed': (event) => ({
    ...warning('fa-solid fa-clipboard-list', `${organizationPath(event)}/security-frameworks`),
    to: { roles: rolesThatMay('security_framework.edit') },
    title: 'Security framework removed',
    message: `The security framework ${event.details.title} was removed.`,
  }),
  'evidence.attached': (event) => ({
    ...info('fa-solid fa-paperclip', `${organizationPath(event)}/security-frameworks/${event.record}`),
    to: { roles: rolesThatMay('evidence.attach') },
    title: 'Document attached',
    message: `${event.details.file_name} was attached to control ${event.details.control}.`,
  }),
  'evidence.due': (event) => ({
    ...warning('fa-solid fa-calendar-check', `${organizationPath(event)}/security-frameworks/${event.record}`),
    to: { roles: rolesThatMay('evidence.attach') },
    title: 'Evidence due',
    message: `Evidence for control ${event.details.control} of ${event.details.title} was due at ${event.details.due}.`,
  }),
  'assessment.imported': (event) => ({
    ...info('fa-solid fa-square-poll-vertical', `/api/v1/assessments/${event.record}`),
    to: { roles: rolesThatMay('assessment.read') },
    title: 'Assessment available',
    message: `${event.details.name}: ${event.details.score} of 100.`,
  }),
}

function counted(count: unknown, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}

function info(icon: string, href: string) {
  return { type: 'info', action: 'link', icon, extra: { href } } as const
}

function warning(icon: string, href: string) {
  return { type: 'warning', action: 'link', icon, extra: { href } } as const
}

function organizationPath(event: DomainEvent): string {
  return `/api/v1/organizations/${event.organization}`
}

function roleName(role: unknown): string {
  return String(role).replace('_', ' ')
}
