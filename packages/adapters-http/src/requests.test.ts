import { addMember, issueToken } from '@security-management/domain'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Route } from './route.ts'
import { brokenRequests, described, type Generated, isRule, names, validRequests } from './testing/document-requests.ts'
import { formOf, type Sent } from './testing/requests.ts'
import { call, startService } from './testing/service.ts'
import { somewhere } from './testing/somewhere.ts'
import { aPerson, aSite, invitationCode } from './testing/world.ts'

// Requests made from the API document alone: what it allows is taken, what it does not is refused.
const RUNS = { numRuns: 40 }

async function aService(route: Route) {
  const service = await startService()
  const owner = await aPerson(service.ports, 'owner@example.com')
  const { id: spare } = await issueToken(service.ports, { user: owner.user.id })
  const site = { ...(await aSite(service.ports, owner, 'Alpha')), spare }
  let invited = 0

  /** A token of the owner; or the code of a new invitation, since each is good for one. */
  async function secret(): Promise<string> {
    if (route.authentication !== 'invitation') return owner.token
    invited += 1
    const email = `invited-${invited}@example.com`
    await addMember(service.ports, { user: owner.user.id }, { organization: site.organization, user: '0' }, { email })
    return invitationCode(service.ports, email)
  }

  async function send({ search, json, multipart }: Generated) {
    const path = `${somewhere(route, site, owner.user.id)}?${search}`
    const sent: Sent = multipart ? formOf([{ name: 'data', content: JSON.stringify(json) }]) : { json }
    return call(service, route.method.toUpperCase(), path, { token: await secret(), ...sent })
  }

  const settle = (body: object) => ({
    ...body,
    ...('organization' in body && { organization: site.organization }),
    ...('organizations' in body && body.organizations !== null && { organizations: [site.organization] }),
  })
  return { send, settle }
}

describe.each(described.map((route) => [route.id, route] as const))('%s', (id, route) => {
  test('takes what the document allows', async () => {
    const { send, settle } = await aService(route)
    await fc.assert(
      fc.asyncProperty(validRequests(route, settle), async (request) => {
        const { status, json } = await send(request)
        if (status !== 400 || !isRule(id, json.details))
          expect([status, json.details]).toEqual([route.status, undefined])
      }),
      RUNS,
    )
  })

  test('refuses what the document does not allow, and says where', async () => {
    const { send, settle } = await aService(route)
    const ways = brokenRequests(route, settle)
    await fc.assert(
      fc.asyncProperty(fc.oneof(...ways), async ({ path, ...request }) => {
        const { status, json } = await send(request)
        expect(status).toBe(400)
        expect(names(json.details, path), `${path} in ${JSON.stringify(json.details)}`).toBe(true)
      }),
      { numRuns: 2 * RUNS.numRuns },
    )
  })
})
