import * as v from 'valibot'
import { described, object, optionalEntries } from '../parse.ts'
import { Count, EmailAddress, FreeText, HostName, HttpUrl, Id, IpAddress, Label, list, Name } from '../values.ts'
import { INDUSTRIES } from './industries.ts'
import { SECTORS } from './sectors.ts'

/** One of `SECTORS`. */
export const Sector = v.picklist(SECTORS)
/** One of `INDUSTRIES`. */
export const Industry = v.picklist(INDUSTRIES)

/** A person to write or call at the organization. */
export const Contact = object({
  name: Name,
  role: v.optional(Label, ''),
  email: EmailAddress,
  phone: v.optional(Label, ''),
  email_report: v.optional(described(v.boolean(), 'Whether reports go to this contact by e-mail.'), false),
})
export type Contact = v.InferOutput<typeof Contact>

/** Where the organization's systems stand; `""` is not stated. */
export const INFRASTRUCTURES = ['cloud', 'on-prem', 'hybrid', ''] as const

const entries = {
  name: Name,
  description: FreeText,
  number_employees: described(Count, 'Headcount.'),
  website: HttpUrl,
  logo: HttpUrl,
  sectors: list(Sector),
  industries: list(Industry),
  contacts: list(Contact),
  domains: list(HostName),
  ips: list(IpAddress),
  infrastructure: v.picklist(INFRASTRUCTURES),
}

/** An organization whose security is managed. */
export const Organization = object({ id: Id, ...entries })
export type Organization = v.InferOutput<typeof Organization>

/** What it takes to create an organization: a name; the rest defaults to empty (decisions.md §4). */
export const NewOrganization = object({
  name: entries.name,
  description: v.optional(entries.description, ''),
  number_employees: v.optional(entries.number_employees, 0),
  website: v.optional(entries.website, ''),
  logo: v.optional(entries.logo, ''),
  sectors: v.optional(entries.sectors, []),
  industries: v.optional(entries.industries, []),
  contacts: v.optional(entries.contacts, []),
  domains: v.optional(entries.domains, []),
  ips: v.optional(entries.ips, []),
  // The contract names it in answers alone.
  infrastructure: v.optional(v.pipe(entries.infrastructure, v.metadata({ 'x-extension': true })), ''),
})
export type NewOrganization = v.InferOutput<typeof NewOrganization>

/** A partial edit: what is named is replaced, the rest stays. */
export const OrganizationEdit = object(optionalEntries(entries))
export type OrganizationEdit = v.InferOutput<typeof OrganizationEdit>

/** An organization as other records embed it. */
export const OrganizationSummary = object({ id: Id, name: v.string(), logo: v.string() })
export type OrganizationSummary = v.InferOutput<typeof OrganizationSummary>
