import {
  Acceptance,
  Assessment,
  AuditEvent,
  ChartStat,
  Check,
  CloudDefense,
  CloudService,
  Contact,
  Control,
  Evidence,
  Industry,
  IssuedToken,
  Member,
  MemberInput,
  NewOrganization,
  NewOwnToken,
  NewSecurityFramework,
  NewThreatBlocker,
  NewVpnProfile,
  Notification,
  Organization,
  OrganizationEdit,
  OrganizationSummary,
  OwnToken,
  RoleName,
  Rotation,
  Sector,
  SecurityFramework,
  SecurityFrameworkEdit,
  SentControl,
  SentEvidence,
  Service,
  Statistics,
  StatisticsBucket,
  Submitter,
  Threat,
  ThreatBlocker,
  ThreatBlockerEdit,
  ThreatLookup,
  TrafficUpload,
  VpnProfile,
  WebStat,
} from '@security-management/domain'
import { toJsonSchemaDefs } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { AttachedDocument, Details, FirstToken, Me, MemberReference } from '../schemas.ts'

/** Any part of the document. */
export type Json = { [key: string]: unknown }

export type Schemas = { [name: string]: v.GenericSchema }

/** Shapes that have a name of their own in the document; all others are written out where they stand. */
const VALUES: Schemas = { Sector, Industry, Role: RoleName, ThreatBlockerService: Service, CloudService }
/** Those of answers. */
export const ANSWERS: Schemas = {
  ...VALUES,
  Organization,
  OrganizationSummary,
  Contact,
  Member,
  MemberReference,
  ThreatBlocker,
  ThreatBlockerCheck: Check,
  WebStat,
  ChartStat,
  TrafficUpload,
  Threat,
  ThreatLookup,
  Statistics,
  StatisticsBucket,
  CloudDefense,
  VpnProfile,
  SecurityFramework,
  Control,
  Evidence,
  Submitter,
  AttachedDocument,
  Assessment,
  Notification,
  AuditEvent,
  Me,
  OwnToken,
  IssuedToken,
  FirstToken,
  Details,
}
/** Those of requests. */
export const REQUESTS: Schemas = {
  ...VALUES,
  NewOrganization,
  OrganizationEdit,
  NewContact: Contact,
  MemberInput,
  NewThreatBlocker,
  ThreatBlockerEdit,
  NewVpnProfile,
  NewSecurityFramework,
  SecurityFrameworkEdit,
  SentControl,
  SentEvidence,
  SentSubmitter: Submitter,
  NewOwnToken,
  Rotation,
  Acceptance,
}

/** JSON Schema of each, in which the named ones stand as references. */
export function convert(schemas: Schemas, typeMode: 'input' | 'output'): { [name: string]: Json } {
  return toJsonSchemaDefs(schemas, {
    typeMode,
    target: 'draft-2020-12',
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema({ valibotSchema, jsonSchema }) {
      // What it is, its metadata say.
      if (valibotSchema.type === 'custom') return {}
      if (jsonSchema.type === 'number' && jsonSchema.enum) return { ...jsonSchema, type: 'integer' }
      if (typeof jsonSchema.const === 'number') return { type: 'integer', ...jsonSchema }
      if (typeof jsonSchema.const === 'string') return { type: 'string', ...jsonSchema }
      if (typeMode === 'output') delete jsonSchema.default
      else if (jsonSchema.required?.length === 0) delete jsonSchema.required
      if (valibotSchema.type !== 'object' && valibotSchema.type !== 'strict_object') return undefined
      if (typeMode === 'input') return undefined
      // An answer holds all listed fields; what has a default is there. Others may come, and must break no client.
      const { entries } = valibotSchema as unknown as v.ObjectSchema<v.ObjectEntries, undefined>
      const isThere = (entry: v.GenericSchema & { default?: unknown }) =>
        entry.type !== 'optional' || entry.default !== undefined
      const required = Object.keys(entries).filter((name) => isThere(entries[name] as v.GenericSchema))
      const { additionalProperties: _, ...open } = jsonSchema
      return { ...open, required }
    },
    overrideAction({ valibotAction, jsonSchema }) {
      // What these check or change is said by the metadata beside them, or changes no schema.
      return SILENT_ACTIONS.has(valibotAction.type) ? jsonSchema : undefined
    },
  }) as { [name: string]: Json }
}

const SILENT_ACTIONS = new Set(['check', 'raw_check', 'custom', 'transform', 'trim', 'to_lower_case', 'finite'])
