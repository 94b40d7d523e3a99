/** Subjects of the interface, in the order in which somebody new meets them. A path fits the pattern of exactly one. */
export const TAGS = [
  {
    name: 'Organizations',
    path: /\/organizations(\/\{id\})?$/,
    description: 'Organizations whose security is managed.',
  },
  { name: 'Members', path: /\/users/, description: 'People of an organization, each with a role.' },
  {
    name: 'Callers',
    path: /\/me$|\/invitations\//,
    description: 'Who the caller is, and how they get their first token.',
  },
  { name: 'Tokens', path: /\/tokens/, description: "The caller's own API tokens." },
  { name: 'Threat blockers', path: /\/atb(\/\{id\})?$/, description: 'Configurations of installed threat blockers.' },
  {
    name: 'Traffic',
    path: /\/traffic|\/threats|\/statistics/,
    description: 'Traffic files of threat blockers, and what was found in them.',
  },
  {
    name: 'Security frameworks',
    path: /\/security-frameworks(\/\{frameworkid\})?$/,
    description: 'What an organization must satisfy.',
  },
  { name: 'Documents', path: /\/documents/, description: 'Evidence documents: attached to a control, downloaded.' },
  { name: 'Notifications', path: /\/notifications/, description: 'What each person should be told.' },
  { name: 'Assessments', path: /\/assessments/, description: 'Results of assessments, read-only.' },
  { name: 'Cloud defenses', path: /\/cloud-defender/, description: 'Cloud defense configurations, read-only.' },
  { name: 'VPN profiles', path: /\/vpn/, description: 'VPN profiles.' },
  { name: 'Audit trail', path: /\/events/, description: 'Every change in an organization, and who made it.' },
  { name: 'Interface', path: /\/openapi/, description: 'This document.' },
] as const

/** What holds for every operation. */
export const DESCRIPTION = `
A service for a security team, or a provider that looks after many client organizations: who belongs to which organization
in which role, the threat blockers installed there and the traffic they saw, cloud defenses, VPN profiles, the security
frameworks an organization must satisfy with the evidence for each control, assessments, and what each person should be
told.

**First steps.** Get a token: the first start of a service prints one, an invitation gives one, an operator issues one.
On the page \`/docs\`, enter it under *Authorize*. \`GET /api/v1/me\` says whose it is. \`POST /api/v1/organizations\` makes
you the owner of an organization; \`POST …/users/0\` invites a colleague, \`POST /api/v1/tokens\` makes a token for a
program. Then register a threat blocker (\`POST /api/v1/atb\`) and upload its traffic, or create a security framework
and attach evidence. The guide, in \`docs/guide\` of the repository, goes this way with commands to type: first session,
tokens, roles, traffic, evidence, lists, errors, retries, versions, clients.

**Envelope.** Every answer but a download and this document is a JSON object with \`error\` (0, or 1 when the operation
failed) and \`messages\` (empty, or the one reason). A list adds \`total\`, which counts all records that match the filter,
and \`data\`, the page. A 400 says in \`details\` which places of the request do not fit.

**Tokens.** Every operation asks for a token named \`X-Service-Token\`, in the header, or in the query where a client cannot
set headers. An operator may refuse the query form. Two that differ are refused. 401 with \`9153\` means that the caller is
not authenticated or not permitted. Each operation names the role in the organization that it takes; for programs,
\`x-required-role\` has the weakest that may: \`viewer\`, \`security_officer\`, \`owner\`; \`authenticated\` is every
caller, whose answer holds what they may see; \`self\` is what is the caller's own; \`none\` needs no token. A token can be
narrowed, to reading (\`access\`) and to some organizations (\`organizations\`); whatever lies beyond is a 401 as well.

**Lists.** \`limit\`, \`offset\` and \`order\` choose a page; ties break on the id. A value that does not fit, an empty one,
or a parameter given twice is a 400; an unknown parameter is ignored.

**Bodies.** JSON in UTF-8, at most 32 levels deep, 1 MiB (a security framework's 8 MiB) unless an operator has set
other limits, also compressed with gzip, deflate or br. A body has at most 20,000 values in all (a security framework's
500,000), and an object at most 10,000 names. Where \`multipart/form-data\` is offered, its one part \`data\` holds
the same JSON. Unknown keys are ignored. Texts are well-formed Unicode without control characters other than newline and
tab.

**Sending again.** Every POST takes an \`Idempotency-Key\`, so that a client that did not see the answer can send the same
request again: what is done is done once.

**Versions.** A single record comes with an \`ETag\`. A change that names it in \`If-Match\` is made only to that version: 412
says that somebody else came first. What has no \`ETag\` fits no version that is named.

**Limits.** Who fails to authenticate too often, asks more often than the operator lets a token ask, invites too many
people, or sends more at the same time than there is memory for, gets a 429, and \`Retry-After\` says for how many
seconds. A body that comes too slowly is a 408. While the service cannot reach its store, the answer is 503; to send the
request again is safe, a POST with its \`Idempotency-Key\`.

**Extensions.** Whatever goes past the original interface is marked \`x-extension\`.

Every GET can be asked as HEAD. A path that does not exist is a 404, a method that a path does not have a 405 with
\`Allow\`, both in the envelope.
`.trim()

/** What an operation takes of its caller, by its `x-required-role`, as a sentence in its description. */
export const REQUIRED_ROLES: { [role: string]: string } = {
  viewer: '**Required role:** any (`viewer`, `security_officer` or `owner`).',
  security_officer: '**Required role:** `security_officer` or `owner`.',
  owner: '**Required role:** `owner`.',
  authenticated: '**Required role:** none in any organization.',
  self: "**Required role:** none; it is about what is the caller's own.",
}
/** The same where no token is asked for. */
export const REQUIRED_CODE = '**Required role:** none; the code of an invitation stands in the place of a token.'

/** What a part of a path names, by its name. */
export const PATH_DESCRIPTIONS: { [name: string]: string } = {
  id: 'The id of the record.',
  organizationid: 'The id of the organization.',
  userid: 'The id of the person.',
  frameworkid: 'The id of the security framework.',
  upload: 'The id of the upload.',
  name: 'The name under which the document is kept: the end of its path in `files`.',
}

/** What filters and pages mean, by name, unless the schema says it itself. */
export const QUERY_DESCRIPTIONS: { [name: string]: string } = {
  limit:
    'Greatest number of records in the answer. More than one that have over 64 MiB together are a 400: ask for fewer.',
  offset: 'Number of records before the first one.',
  order: 'Field to order by, `-` in front for descending.',
  organization: 'Of this organization alone; nothing for one that the caller does not belong to.',
  service: 'With this service enabled.',
  kind: 'Recognised by this.',
  search: 'A part of a name, in any case.',
  name: 'A part of the name, in any case.',
  role: 'With this role.',
  read: 'Whether they are marked as read.',
  type: 'Of this type.',
  editable: 'Whether the caller may edit them.',
  owned: 'Whether the caller owns them.',
  sectors: 'In one of these sectors; may be repeated.',
  industries: 'In one of these industries; may be repeated.',
  bucket: 'Length of a bucket in seconds.',
  value: 'An IPv4 or IPv6 address, or a host name.',
}
