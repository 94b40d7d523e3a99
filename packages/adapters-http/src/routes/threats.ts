import { lookUpThreat, ThreatLookup, ThreatLookupQuery } from '@security-management/domain'
import { route } from '../route.ts'

export const lookUpThreatRoute = route({
  id: 'lookUpThreat',
  summary: 'Say what the present threat feeds say of an address or a host name',
  description: 'Says whether a feed lists the value, or a network or parent domain of it, and by which entry.',
  method: 'get',
  path: '/api/v1/threats/lookup',
  extension: true,
  right: 'anyone',
  query: ThreatLookupQuery,
  invalidInput: 'Invalid data provided',
  status: 200,
  answer: { data: ThreatLookup },
  async handle({ ports, query }) {
    return { data: await lookUpThreat(ports, query) }
  },
})
