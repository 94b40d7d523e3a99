import { answerStoreContract } from './answer-store.ts'
import { assessmentStoreContract } from './assessment-store.ts'
import { cloudDefenseStoreContract } from './cloud-defense-store.ts'
import { counterStoreContract } from './counter-store.ts'
import { documentStoreContract } from './document-store.ts'
import { eventStoreContract } from './event-store.ts'
import { fileStoreContract } from './file-store.ts'
import { invitationStoreContract } from './invitation-store.ts'
import { memberStoreContract } from './member-store.ts'
import { notificationStoreContract } from './notification-store.ts'
import type { Open } from './opened.ts'
import { organizationStoreContract } from './organization-store.ts'
import { removedRecordStoreContract } from './removed-record-store.ts'
import { securityFrameworkStoreContract } from './security-framework-store.ts'
import { threatBlockerStoreContract } from './threat-blocker-store.ts'
import { threatFeedStoreContract } from './threat-feed-store.ts'
import { tokenStoreContract } from './token-store.ts'
import { trafficStoreContract } from './traffic-store.ts'
import { transactContract } from './transact.ts'
import { userStoreContract } from './user-store.ts'
import { vpnProfileStoreContract } from './vpn-profile-store.ts'

export * from './answer-store.ts'
export * from './assessment-store.ts'
export * from './builders.ts'
export * from './cloud-defense-store.ts'
export * from './counter-store.ts'
export * from './document-store.ts'
export * from './event-store.ts'
export * from './file-store.ts'
export * from './invitation-mailer.ts'
export * from './invitation-store.ts'
export * from './member-store.ts'
export * from './notification-store.ts'
export * from './opened.ts'
export * from './organization-store.ts'
export * from './removed-record-store.ts'
export * from './security-framework-store.ts'
export * from './threat-blocker-store.ts'
export * from './threat-feed-store.ts'
export * from './token-store.ts'
export * from './traffic-store.ts'
export * from './transact.ts'
export * from './user-store.ts'
export * from './vpn-profile-store.ts'

/** Every suite that an adapter of the stores must pass. `open` gives an empty one, new at every call. */
export function allContracts(adapter: string, open: Open): void {
  transactContract(adapter, open)
  organizationStoreContract(adapter, open)
  userStoreContract(adapter, open)
  memberStoreContract(adapter, open)
  invitationStoreContract(adapter, open)
  tokenStoreContract(adapter, open)
  threatBlockerStoreContract(adapter, open)
  trafficStoreContract(adapter, open)
  threatFeedStoreContract(adapter, open)
  cloudDefenseStoreContract(adapter, open)
  vpnProfileStoreContract(adapter, open)
  securityFrameworkStoreContract(adapter, open)
  documentStoreContract(adapter, open)
  fileStoreContract(adapter, open)
  assessmentStoreContract(adapter, open)
  notificationStoreContract(adapter, open)
  eventStoreContract(adapter, open)
  answerStoreContract(adapter, open)
  counterStoreContract(adapter, open)
  removedRecordStoreContract(adapter, open)
}
