import * as v from 'valibot'
import { OrganizationSummary } from '../organizations/organization.ts'
import { described, object } from '../parse.ts'
import { EmailAddress, Id, Timestamp, Uuid } from '../values.ts'

/** What it takes to create a VPN profile; both are required. Several may have the same address. */
export const NewVpnProfile = object({ organization: Id, email: EmailAddress })
export type NewVpnProfile = v.InferOutput<typeof NewVpnProfile>

/** A VPN profile as it is answered: of an organization, for the person at an address. It holds no key. */
export const VpnProfile = object({
  id: Id,
  organization: OrganizationSummary,
  created_at: Timestamp,
  user_id: described(Uuid, 'The person who created it.'),
  email: v.string(),
})
export type VpnProfile = v.InferOutput<typeof VpnProfile>
