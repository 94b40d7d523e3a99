import * as v from 'valibot'
import { OrganizationSummary } from '../organizations/organization.ts'
import { described, object, optionalEntries } from '../parse.ts'
import { Count, EmailAddress, Id, JsonObject, list, Name, OptionalIpAddress, Timestamp, Uuid } from '../values.ts'

/** Services that a blocker can run. */
export const SERVICES = ['Service IPv4 Protection', 'Service Domain Protection'] as const
/** One of `SERVICES`. */
export const Service = v.picklist(SERVICES)

/** How a blocker is deployed. */
export const DEPLOYMENTS = ['series', 'parallel'] as const

/** What a blocker is built into, by name, with its own settings. */
export const Plugin = object({ name: Name, config: v.optional(JsonObject, {}) })

const entries = {
  device_id: described(Name, 'Identifier of the installed device; several configurations may name the same one.'),
  email: described(EmailAddress, 'Technical contact for alerts, updates and notices.'),
  type: v.picklist(DEPLOYMENTS),
  services: described(list(Service), 'Enabled services.'),
}

/** What it takes to create a threat blocker; all fields are required (decisions.md §4). */
export const NewThreatBlocker = object({ organization: Id, ...entries })
export type NewThreatBlocker = v.InferOutput<typeof NewThreatBlocker>

/** A partial edit. `organization`, `atb_key` and `check` are never changed by a body. */
export const ThreatBlockerEdit = object(
  optionalEntries({ ...entries, plugin: Plugin, endpoint: OptionalIpAddress, privateIP: OptionalIpAddress }),
)
export type ThreatBlockerEdit = v.InferOutput<typeof ThreatBlockerEdit>

const Flag = v.picklist([0, 1])

/** Requests of one UTC day. */
export const WebStat = object({
  datetime: described(Timestamp, 'Start of the day.'),
  waf_protection: described(v.number(), 'Percentage of the requests that was malicious, 0 to 100, two decimals.'),
  total_managed_requests: Count,
})
export type WebStat = v.InferOutput<typeof WebStat>

/** Requests of one hour; the bounds are Unix seconds, the end exclusive. */
export const ChartStat = object({
  bucket_start: v.pipe(v.number(), v.integer()),
  bucket_end: v.pipe(v.number(), v.integer()),
  total_requests: Count,
  malicious_requests: Count,
})
export type ChartStat = v.InferOutput<typeof ChartStat>

/** How a blocker does, worked out at every read (see `check.ts`). */
export const Check = object({
  stat: object({
    vpn: described(Flag, '1 while the organization has an active VPN profile.'),
    dnsbl: described(Flag, '1 while the domain service is enabled.'),
    iplist: described(Flag, '1 while the IPv4 service is enabled.'),
    datetime: described(Timestamp, 'The last upload, else the creation.'),
  }),
  status: described(Flag, '1 when traffic was uploaded within the last 24 hours.'),
  web_stat: v.array(WebStat),
  chart_stat: v.array(ChartStat),
})
export type Check = v.InferOutput<typeof Check>

/** The configuration of one installed threat blocker. */
export const ThreatBlocker = object({
  id: Id,
  organization: OrganizationSummary,
  atb_key: described(Uuid, 'Key of the configuration, made here.'),
  type: entries.type,
  email: v.string(),
  check: Check,
  plugin: object({ name: v.string(), config: JsonObject }),
  endpoint: v.string(),
  privateIP: v.string(),
  services: v.array(Service),
  device_id: v.string(),
})
export type ThreatBlocker = v.InferOutput<typeof ThreatBlocker>

/** The part of a blocker that edits change: what its version is made of. `check` changes by itself. */
export function editableState(blocker: Omit<ThreatBlocker, 'check'>): object {
  const { id, type, email, plugin, endpoint, privateIP, services, device_id } = blocker
  return { id, type, email, plugin, endpoint, privateIP, services, device_id }
}

/** What the store keeps of it, and what `check` is worked out from. */
export type StoredThreatBlocker = Omit<ThreatBlocker, 'check'> & {
  created_at: string
  /** When the last traffic file was received; null before any. */
  last_upload_at: string | null
  /** Whether the organization has an active VPN profile. */
  has_vpn: boolean
}
