import * as v from 'valibot'
import { OrganizationSummary } from '../organizations/organization.ts'
import { object } from '../parse.ts'
import { SERVICES, WebStat } from '../threat-blockers/threat-blocker.ts'
import { Count, EmailAddress, HostName, Id, list, OptionalIpAddress, Timestamp } from '../values.ts'

/** Services that a cloud defense can run (decisions.md §4, Cloud defense). */
export const CLOUD_SERVICES = ['WAF Protection', ...SERVICES] as const
/** One of `CLOUD_SERVICES`. */
export const CloudService = v.picklist(CLOUD_SERVICES)

const Flag = v.picklist([0, 1])

/** How a cloud defense does: 1 = that part works. */
export const CloudCheck = object({
  stat: object({ fqdn: Flag, proxy: Flag, endpoint: Flag, datetime: Timestamp }),
  status: Count,
  web_stat: list(WebStat),
})

/** A cloud defense configuration; read-only but for the operator's import. */
export const CloudDefense = object({
  id: Id,
  organization: OrganizationSummary,
  email: v.string(),
  fqdn: v.string(),
  check: CloudCheck,
  endpoint: v.string(),
  services: v.array(CloudService),
})
export type CloudDefense = v.InferOutput<typeof CloudDefense>

/** One record of an import file: the fields of the contract, `organization` being an id. */
export const ImportedCloudDefense = object({
  organization: Id,
  email: EmailAddress,
  fqdn: HostName,
  endpoint: v.optional(OptionalIpAddress, ''),
  services: v.optional(list(CloudService), []),
  /** Without it nothing is known to work yet. */
  check: v.optional(
    object({
      stat: object({
        fqdn: v.optional(Flag, 0),
        proxy: v.optional(Flag, 0),
        endpoint: v.optional(Flag, 0),
        datetime: v.optional(Timestamp),
      }),
      status: v.optional(Count, 0),
      web_stat: v.optional(list(WebStat), []),
    }),
  ),
})
/** A cloud defense to be stored, its organization by id. */
export type NewCloudDefense = Omit<CloudDefense, 'id' | 'organization'> & { organization: number }
