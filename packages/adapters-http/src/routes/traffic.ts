import {
  AllStatisticsQuery,
  findThreatBlocker,
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
  method: 'post',
  path: '/api/v1/atb/{id}/traffic',
  right: 'traffic.upload',
  params: { id: 'id-or-key' },
  upload: 'traffic',
  permit: (ports, caller, { id }) => findThreatBlocker(ports, caller, id, 'traffic.upload'),
  invalidInput: 'Malformed data structure',
  status: 200,
  answer: {},
  async handle({ ports, caller, params, upload: file, limits, setHeader }) {
    const { threat_blocker, upload } = await uploadTraffic(ports, caller, params.id, file, limits.traffic)
    setHeader('Location', `/api/v1/atb/${threat_blocker}/traffic/${upload}`)
    return {}
  },
})

export const listTrafficUploadsRoute = route({
  id: 'listTrafficUploads',
  summary: 'List the traffic files uploaded for a threat blocker',
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
  method: 'get',
  path: '/api/v1/atb/{id}/traffic/{upload}',
  extension: true,
  right: 'traffic.read',
  params: { id: 'id-or-key', upload: 'id' },
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: TrafficUpload },
  async handle({ ports, caller, params }) {
    return { data: await readTrafficUpload(ports, caller, params.id, params.upload) }
  },
})

export const readRawTrafficRoute = route({
  id: 'readRawTraffic',
  summary: 'Fetch an uploaded traffic file, byte for byte',
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
