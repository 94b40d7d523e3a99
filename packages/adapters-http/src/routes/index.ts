import type { Route } from '../route.ts'
import { listAssessmentsRoute, readAssessmentRoute } from './assessments.ts'
import { listCloudDefensesRoute, readCloudDefenseRoute } from './cloud-defenses.ts'
import { attachEvidenceRoute, readDocumentRoute } from './documents.ts'
import { listEventsRoute } from './events.ts'
import { acceptInvitationRoute, renewInvitationRoute } from './invitations.ts'
import { readMeRoute } from './me.ts'
import { addMemberRoute, editMemberRoute, listMembersRoute, removeMemberRoute } from './members.ts'
import { listNotificationsRoute, markAllNotificationsReadRoute, markNotificationReadRoute } from './notifications.ts'
import {
  createOrganizationRoute,
  editOrganizationRoute,
  listOrganizationsRoute,
  readOrganizationRoute,
  removeOrganizationRoute,
} from './organizations.ts'
import {
  createSecurityFrameworkRoute,
  editSecurityFrameworkRoute,
  listSecurityFrameworksRoute,
  readSecurityFrameworkRoute,
  removeSecurityFrameworkRoute,
} from './security-frameworks.ts'
import {
  createThreatBlockerRoute,
  editThreatBlockerRoute,
  listThreatBlockersRoute,
  readThreatBlockerRoute,
  removeThreatBlockerRoute,
} from './threat-blockers.ts'
import { lookUpThreatRoute } from './threats.ts'
import { issueTokenRoute, listTokensRoute, revokeTokenRoute, rotateTokenRoute } from './tokens.ts'
import {
  listThreatsRoute,
  listTrafficUploadsRoute,
  readAllStatisticsRoute,
  readRawTrafficRoute,
  readStatisticsRoute,
  readTrafficUploadRoute,
  uploadTrafficRoute,
} from './traffic.ts'
import {
  createVpnProfileRoute,
  listVpnProfilesRoute,
  readVpnProfileRoute,
  removeVpnProfileRoute,
} from './vpn-profiles.ts'

/** Every operation of the interface. */
export const routes: readonly Route[] = [
  createThreatBlockerRoute,
  listThreatBlockersRoute,
  readThreatBlockerRoute,
  editThreatBlockerRoute,
  removeThreatBlockerRoute,
  uploadTrafficRoute,
  listTrafficUploadsRoute,
  readTrafficUploadRoute,
  readRawTrafficRoute,
  listThreatsRoute,
  readStatisticsRoute,
  readAllStatisticsRoute,
  lookUpThreatRoute,
  listCloudDefensesRoute,
  readCloudDefenseRoute,
  createOrganizationRoute,
  listOrganizationsRoute,
  readOrganizationRoute,
  editOrganizationRoute,
  removeOrganizationRoute,
  listMembersRoute,
  addMemberRoute,
  editMemberRoute,
  removeMemberRoute,
  listEventsRoute,
  createVpnProfileRoute,
  listVpnProfilesRoute,
  readVpnProfileRoute,
  removeVpnProfileRoute,
  listSecurityFrameworksRoute,
  createSecurityFrameworkRoute,
  readSecurityFrameworkRoute,
  editSecurityFrameworkRoute,
  removeSecurityFrameworkRoute,
  attachEvidenceRoute,
  readDocumentRoute,
  listAssessmentsRoute,
  readAssessmentRoute,
  listNotificationsRoute,
  markAllNotificationsReadRoute,
  markNotificationReadRoute,
  readMeRoute,
  listTokensRoute,
  issueTokenRoute,
  rotateTokenRoute,
  revokeTokenRoute,
  renewInvitationRoute,
  acceptInvitationRoute,
]
