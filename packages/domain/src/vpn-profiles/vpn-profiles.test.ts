import { describe, expect, test } from 'vitest'
import { ROLES } from '../access/policy.ts'
import { NO_ID } from '../contracts/builders.ts'
import { removeMember } from '../members/remove-member.ts'
import { removeOrganization } from '../organizations/remove-organization.ts'
import {
  asksFor,
  asksForOnOrganization,
  aWorld,
  expectRefused,
  happened,
  refusedPaths,
  type World,
} from '../testing/world.ts'
import { createVpnProfile } from './create-vpn-profile.ts'
import { listVpnProfiles } from './list-vpn-profiles.ts'
import { readVpnProfile } from './read-vpn-profile.ts'
import { removeVpnProfile } from './remove-vpn-profile.ts'

const email = 'road@acme.example'

async function create({ ports, as, organization }: World): Promise<number> {
  return createVpnProfile(ports, as.owner, { organization, email })
}

describe('creating a VPN profile', () => {
  asksForOnOrganization('vpn_profile.create', ({ ports }, caller, organization) =>
    createVpnProfile(ports, caller, { organization, email }),
  )

  test('names its creator and its time; several may have the same address', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const id = await createVpnProfile(ports, as.security_officer, { organization, email, user_id: 'somebody else' })
    expect(await readVpnProfile(ports, as.viewer, id)).toEqual({
      id,
      organization: { id: organization, name: 'Acme', logo: 'https://acme.example/logo.png' },
      created_at: '2026-03-01T12:00:00.000Z',
      user_id: as.security_officer.user,
      email,
    })
    expect(await create(world)).not.toBe(id)
    expect(happened(world, 'vpn_profile.created')).toHaveLength(2)
  })

  test('needs an organization and an address', async () => {
    const { ports, as } = await aWorld()
    expect(await refusedPaths(createVpnProfile(ports, as.owner, {}))).toEqual(['organization', 'email'])
    expect(await refusedPaths(createVpnProfile(ports, as.owner, { organization: 1.5, email: 'x' }))).toEqual([
      'organization',
      'email',
    ])
    expect(await refusedPaths(createVpnProfile(ports, as.owner, []))).toEqual([''])
  })
})

describe('reading a VPN profile', () => {
  asksFor(
    'vpn_profile.read',
    create,
    ({ ports }, caller, id) => readVpnProfile(ports, caller, id),
    () => NO_ID,
  )
})

describe('listing VPN profiles', () => {
  test('shows those of the caller’s organizations, newest first', async () => {
    const world = await aWorld()
    const { ports, as, stranger, formerOwner, organization } = world
    const ids = [await create(world), await create(world)]
    const { total, data } = await listVpnProfiles(ports, as.viewer)
    expect([total, ...data.map(({ id }) => id)]).toEqual([2, ...ids.toReversed()])
    expect((await listVpnProfiles(ports, as.viewer, { organization })).total).toBe(2)
    for (const caller of [stranger, formerOwner]) expect((await listVpnProfiles(ports, caller)).total).toBe(0)
    expect((await listVpnProfiles(ports, stranger, { organization })).total).toBe(0)
    expect(await refusedPaths(listVpnProfiles(ports, as.viewer, { order: 'user_id' }))).toEqual(['order'])
  })
})

describe('removing a VPN profile', () => {
  test.each(ROLES)('whoever created it may, also as %s', async (role) => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const id = await createVpnProfile(ports, as.security_officer, { organization, email })
    const profile = await readVpnProfile(ports, as.viewer, id)
    await ports.transact(({ members }) => members.setRole(organization, as.security_officer.user, role))
    expect(await removeVpnProfile(ports, as.security_officer, id)).toEqual(profile)
    await expectRefused(world, 'not_found', () => removeVpnProfile(ports, as.security_officer, id))
    await expectRefused(world, 'not_found', () => readVpnProfile(ports, as.security_officer, id))
    expect((await listVpnProfiles(ports, as.viewer)).total).toBe(0)
    expect(happened(world, 'vpn_profile.removed')).toMatchObject([{ record: String(id), details: { email } }])
  })

  test('nobody else may, not even an owner', async () => {
    const world = await aWorld()
    const { ports, as, organization, stranger, formerOwner } = world
    const id = await createVpnProfile(ports, as.security_officer, { organization, email })
    for (const caller of [as.owner, as.viewer, stranger, formerOwner]) {
      await expectRefused(world, 'forbidden', () => removeVpnProfile(ports, caller, id))
    }
  })

  test('whoever created it may no longer once they have left', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const id = await createVpnProfile(ports, as.security_officer, { organization, email })
    await removeMember(ports, as.owner, { organization, user: as.security_officer.user })
    await expectRefused(world, 'forbidden', () => removeVpnProfile(ports, as.security_officer, id))
  })

  test('nothing is found that does not exist, or whose organization is removed', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    await expectRefused(world, 'not_found', () => removeVpnProfile(ports, as.owner, NO_ID))
    const id = await create(world)
    await removeOrganization(ports, as.owner, organization)
    await expectRefused(world, 'not_found', () => removeVpnProfile(ports, as.owner, id))
  })
})
