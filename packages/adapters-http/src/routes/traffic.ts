import {
  AllStatisticsQuery,
  findThreatBlocker,
  type KeptTraffic,
  listThreats,
  listTrafficUploads,
  readAllStatistics,
  readRawTraffic,
  readStatistics,
  readTrafficUpload,
  Statistics,
  StatisticsQuery,
  Threat,
  ThreatQuery,
  TrafficUpload,
  TrafficUploadQuery,
  uploadTraffic,
} from '@security-management/domain'
import { route } from '../route.ts'
import { listOf } from '../schemas.ts'

export const uploadTrafficRoute = route({
  id: 'uploadTraffic',
  summary: 'Upload traffic log lines for a threat blocker',
  description:
    'Reads a file of access log lines and counts them. A line is malicious when it says so itself, or when a service that the blocker has enabled finds its client address or host in a threat feed. Lines that cannot be read are counted as rejected and never fail the upload; the same file sent again counts once. `Location` names what was made of it.',
  method: 'post',
  path: '/api/v1/atb/{id}/traffic',
  right: 'traffic.upload',
  params: { id: 'id-or-key' },
  upload: 'traffic',
  permit: (ports, caller, { id }) => findThreatBlocker(ports, caller, id, 'traffic.upload'),
  invalidInput: 'Malformed data structure',
  status: 200,
  headers: ['Location'],
  answer: {},
  async handle({ ports, caller, params, upload: file, limits, termsOf, setHeader }) {
    const answerOf = ({ threat_blocker, upload }: KeptTraffic) => {
      setHeader('Location', `/api/v1/atb/${threat_blocker}/traffic/${upload}`)
      return {}
    }
    return answerOf(await uploadTraffic(ports, caller, params.id, file, limits.traffic, termsOf(answerOf)))
  },
})

export const listTrafficUploadsRoute = route({
  id: 'listTrafficUploads',
  summary: 'List the traffic files uploaded for a threat blocker',
  description: 'The files that were uploaded for the blocker, each with its accepted, rejected and malicious lines.',
  method: 'get',
  path: '/api/v1/atb/{id}/traffic',
  extension: true,
  right: 'traffic.read',
  params: { id: 'id-or-key' },
  query: TrafficUploadQuery,
  aliases: { ordering: 'order' },
  permit: (ports, caller, { id }) => findThreatBlocker(ports, caller, id, 'traffic.read'),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(TrafficUpload),
  handle: ({ ports, caller, params, query }) => listTrafficUploads(ports, caller, params.id, query),
})

export const readTrafficUploadRoute = route({
  id: 'readTrafficUpload',
  summary: 'Read what was made of one uploaded traffic file',
  description: 'The counts of one file, and why its first rejected lines were.',
  method: 'get',
  path: '/api/v1/atb/{id}/traffic/{upload}',
  extension: true,
  right: 'traffic.read',
  params: { id: 'id-or-key', upload: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: TrafficUpload },
  etagOf: ({ data }) => data,
  async handle({ ports, caller, params }) {
    return { data: await readTrafficUpload(ports, caller, params.id, params.upload) }
  },
})

export const readRawTrafficRoute = route({
  id: 'readRawTraffic',
  summary: 'Fetch an uploaded traffic file, byte for byte',
  description:
    'The bytes as they were uploaded, inflated. They are kept for a time that the operator sets; after it this is a 404, while the counts stay.',
  method: 'get',
  path: '/api/v1/atb/{id}/traffic/{upload}/raw',
  extension: true,
  right: 'traffic.read_raw',
  params: { id: 'id-or-key', upload: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: 'document',
  handle: ({ ports, caller, params }) => readRawTraffic(ports, caller, params.id, params.upload),
})

export const listThreatsRoute = route({
  id: 'listThreats',
  summary: 'List what was malicious in the traffic of a threat blocker, with the reasons',
  description:
    'Malicious requests, grouped by their source or host and by the reason: the feed and the entry that matched, or the verdict of the log itself.',
  method: 'get',
  path: '/api/v1/atb/{id}/threats',
  extension: true,
  right: 'traffic.read',
  params: { id: 'id-or-key' },
  query: ThreatQuery,
  aliases: { ordering: 'order' },
  permit: (ports, caller, { id }) => findThreatBlocker(ports, caller, id, 'traffic.read'),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: listOf(Threat),
  handle: ({ ports, caller, params, query }) => listThreats(ports, caller, params.id, query),
})

export const readStatisticsRoute = route({
  id: 'readStatistics',
  summary: 'Count the requests that a threat blocker saw, over any period',
  description:
    'Requests in contiguous buckets of five minutes, an hour or a UTC day; the last 24 hours by the hour where no period is given. The period is widened to whole buckets and has at most 10,000 of them.',
  method: 'get',
  path: '/api/v1/atb/{id}/statistics',
  extension: true,
  right: 'traffic.read',
  params: { id: 'id-or-key' },
  query: StatisticsQuery,
  permit: (ports, caller, { id }) => findThreatBlocker(ports, caller, id, 'traffic.read'),
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: Statistics },
  async handle({ ports, caller, params, query }) {
    return { data: await readStatistics(ports, caller, params.id, query) }
  },
})

export const readAllStatisticsRoute = route({
  id: 'readAllStatistics',
  summary: "Count the requests that the threat blockers of all of the caller's organizations saw, over any period",
  description:
    "The same counts as for one blocker, added up over all active blockers of the caller's organizations, or of one.",
  method: 'get',
  path: '/api/v1/statistics',
  extension: true,
  right: 'anyone',
  query: AllStatisticsQuery,
  aliases: { organization_id: 'organization' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: Statistics },
  async handle({ ports, caller, query }) {
    return { data: await readAllStatistics(ports, caller, query) }
  },
})
