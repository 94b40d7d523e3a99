import { describe, expect, test } from 'vitest'
import { aWorld, expectRefused } from '../testing/world.ts'
import { authorize, organizationsFor } from './authorize.ts'
import { type Action, mayPerform, ROLES, rolesThatMay, WEAKEST_ROLE } from './policy.ts'

// Written out from decisions.md §3, not derived: viewer, security officer, owner.
const EXPECTED: Record<Action, [viewer: boolean, officer: boolean, owner: boolean]> = {
  'organization.read': [true, true, true],
  'organization.edit': [false, true, true],
  'organization.remove': [false, false, true],
  'member.list': [false, true, true],
  'member.add': [false, false, true],
  'member.edit': [false, false, true],
  'member.remove': [false, false, true],
  'threat_blocker.read': [true, true, true],
  'threat_blocker.create': [false, true, true],
  'threat_blocker.edit': [false, true, true],
  'threat_blocker.remove': [false, true, true],
  'traffic.read': [true, true, true],
  'traffic.read_raw': [false, true, true],
  'traffic.upload': [false, true, true],
  'cloud_defense.read': [true, true, true],
  'vpn_profile.read': [true, true, true],
  'vpn_profile.create': [false, true, true],
  'vpn_profile.remove': [true, true, true],
  'security_framework.read': [true, true, true],
  'security_framework.create': [false, true, true],
  'security_framework.edit': [false, true, true],
  'security_framework.remove': [false, true, true],
  'evidence.attach': [false, true, true],
  'evidence.read': [true, true, true],
  'assessment.read': [true, true, true],
}
const ACTIONS = Object.keys(EXPECTED) as Action[]

describe('the role policy', () => {
  test('decides every action that there is', () => {
    expect(Object.keys(WEAKEST_ROLE).toSorted()).toEqual(ACTIONS.toSorted())
  })

  test.each(ACTIONS)('%s is permitted to exactly the roles of decisions.md §3', (action) => {
    expect(ROLES.map((role) => mayPerform(role, action))).toEqual(EXPECTED[action])
    expect(rolesThatMay(action)).toEqual(ROLES.filter((_, index) => EXPECTED[action][index]))
  })
})

describe('authorize', () => {
  test('returns the role of a permitted caller', async () => {
    const { ports, as, organization } = await aWorld()
    for (const role of ROLES) expect(await authorize(ports, as[role], organization, 'organization.read')).toBe(role)
  })

  test('tells an organization that does not exist from one that the caller does not belong to', async () => {
    const world = await aWorld()
    const { ports, stranger, organization } = world
    await expectRefused(world, 'forbidden', () => authorize(ports, stranger, organization, 'organization.read'))
    await expectRefused(world, 'not_found', () => authorize(ports, stranger, 9999, 'organization.read'))
  })
})

describe('organizationsFor', () => {
  test('covers the organizations in which the role is strong enough', async () => {
    const { ports, as, organization } = await aWorld()
    expect(await organizationsFor(ports, as.viewer, 'threat_blocker.read')).toEqual([organization])
    expect(await organizationsFor(ports, as.viewer, 'threat_blocker.edit')).toEqual([])
    expect(await organizationsFor(ports, as.security_officer, 'threat_blocker.edit')).toEqual([organization])
  })

  test('a filter that names an organization of others leaves nothing', async () => {
    const { ports, as, stranger, organization } = await aWorld()
    expect(await organizationsFor(ports, as.viewer, 'threat_blocker.read', organization)).toEqual([organization])
    expect(await organizationsFor(ports, stranger, 'threat_blocker.read', organization)).toEqual([])
  })
})
