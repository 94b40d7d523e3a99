import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aWorld, expectRefused } from '../testing/world.ts'
import { authorize, authorizeOwn, isPermitted, membershipsFor, organizationsFor } from './authorize.ts'
import type { Caller } from './caller.ts'
import {
  ACCESSES,
  type Action,
  mayPerform,
  type Narrowing,
  NEEDED_ACCESS,
  type OwnAction,
  ROLES,
  reaches,
  rolesThatMay,
  WEAKEST_ROLE,
} from './policy.ts'

// Written out from decisions.md §3, not derived: viewer, security officer, owner.
const EXPECTED: Record<Action, [viewer: boolean, officer: boolean, owner: boolean]> = {
  'organization.read': [true, true, true],
  'organization.edit': [false, true, true],
  'organization.remove': [false, false, true],
  'member.list': [false, true, true],
  'member.add': [false, false, true],
  'member.edit': [false, false, true],
  'member.remove': [false, false, true],
  'member.invite': [false, false, true],
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
  'audit_trail.read': [false, false, true],
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

/** What changes nothing: all that a token narrowed to reading may do. */
const READS: string[] = [
  'organization.read',
  'audit_trail.read',
  'member.list',
  'threat_blocker.read',
  'traffic.read',
  'traffic.read_raw',
  'cloud_defense.read',
  'vpn_profile.read',
  'security_framework.read',
  'evidence.read',
  'assessment.read',
  'me.read',
  'notification.read',
  'token.read',
]
/** What reaches past any organizations, so that no narrowed token may do it. */
const UNBOUNDED: string[] = ['organization.create', 'token.issue', 'token.change']
const OWN_ACTIONS: OwnAction[] = [
  'me.read',
  'notification.read',
  'notification.mark',
  'organization.create',
  'token.read',
  'token.issue',
  'token.change',
]
const EVERY_ACTION: (Action | OwnAction)[] = [...ACTIONS, ...OWN_ACTIONS]

const narrowings: fc.Arbitrary<Narrowing> = fc.record({
  access: fc.constantFrom(...ACCESSES),
  organizations: fc.option(fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 4 })),
})

describe('the narrowing of tokens', () => {
  test('is decided for every action that there is', () => {
    expect(Object.keys(NEEDED_ACCESS).toSorted()).toEqual(EVERY_ACTION.toSorted())
  })

  test('a token that is not narrowed reaches everything, anywhere', () => {
    for (const action of EVERY_ACTION) {
      for (const organization of [undefined, 7]) {
        expect(reaches({ access: 'full', organizations: null }, action, organization)).toBe(true)
      }
    }
  })

  test('a token that reads reaches what changes nothing, and that alone', () => {
    const reached = EVERY_ACTION.filter((action) => reaches({ access: 'read', organizations: null }, action))
    expect(reached.toSorted()).toEqual(READS.toSorted())
  })

  test('a token held to organizations reaches these, and nothing that is past all', () => {
    const held: Narrowing = { access: 'full', organizations: [1, 2] }
    for (const action of ACTIONS) {
      expect([1, 2, 3].map((organization) => reaches(held, action, organization))).toEqual([true, true, false])
    }
    const reached = OWN_ACTIONS.filter((action) => reaches(held, action))
    expect(reached).toEqual(OWN_ACTIONS.filter((action) => !UNBOUNDED.includes(action)))
  })

  test('whatever a narrowed token may do, its person may, and it lies within the narrowing', () => {
    const roles = fc.constantFrom(...ROLES)
    const organizations = fc.integer({ min: 1, max: 5 })
    fc.assert(
      fc.property(narrowings, roles, fc.constantFrom(...ACTIONS), organizations, (narrowing, role, action, on) => {
        const permitted = isPermitted({ user: 'u', token: 1, narrowing }, role, on, action)
        const within =
          (narrowing.access === 'full' || READS.includes(action)) && (narrowing.organizations?.includes(on) ?? true)
        expect(permitted).toBe(isPermitted({ user: 'u' }, role, on, action) && within)
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(narrowings, fc.constantFrom(...OWN_ACTIONS), (narrowing, action) => {
        const isWhole = narrowing.access === 'full' && narrowing.organizations === null
        const within =
          isWhole || (!UNBOUNDED.includes(action) && (narrowing.access === 'full' || READS.includes(action)))
        expect(reaches(narrowing, action)).toBe(within)
      }),
      { numRuns: 200 },
    )
  })
})

/** The caller with a token of theirs that is narrowed like this. */
function narrowed(caller: Caller, narrowing: Partial<Narrowing>): Caller {
  return { ...caller, token: 1, narrowing: { access: 'full', organizations: null, ...narrowing } }
}

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

describe('authorizing a narrowed token', () => {
  test('refuses what is outside of it, and still tells what does not exist', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const reading = narrowed(as.owner, { access: 'read' })
    expect(await authorize(ports, reading, organization, 'organization.read')).toBe('owner')
    await expectRefused(world, 'forbidden', () => authorize(ports, reading, organization, 'organization.edit'))
    const here = narrowed(as.owner, { organizations: [organization] })
    expect(await authorize(ports, here, organization, 'organization.edit')).toBe('owner')
    const elsewhere = narrowed(as.owner, { organizations: [organization + 1] })
    await expectRefused(world, 'forbidden', () => authorize(ports, elsewhere, organization, 'organization.read'))
    await expectRefused(world, 'not_found', () => authorize(ports, elsewhere, 9999, 'organization.read'))
  })

  test('gives no right that the person lacks', async () => {
    const world = await aWorld()
    const { ports, as, stranger, organization } = world
    for (const caller of [as.viewer, stranger]) {
      const token = narrowed(caller, { organizations: [organization] })
      await expectRefused(world, 'forbidden', () => authorize(ports, token, organization, 'organization.edit'))
    }
  })

  test('leaves in lists what it reaches', async () => {
    const { ports, as, organization } = await aWorld()
    const all = (caller: Caller) => organizationsFor(ports, caller, 'threat_blocker.read')
    const ids = async (caller: Caller) => (await membershipsFor(ports, caller)).map((found) => found.organization.id)
    const reading = narrowed(as.owner, { access: 'read' })
    expect([await all(reading), await ids(reading)]).toEqual([[organization], [organization]])
    expect(await organizationsFor(ports, reading, 'threat_blocker.edit')).toEqual([])
    const elsewhere = narrowed(as.owner, { organizations: [organization + 1] })
    expect([await all(elsewhere), await ids(elsewhere)]).toEqual([[], []])
    expect(await organizationsFor(ports, elsewhere, 'threat_blocker.read', organization)).toEqual([])
  })

  test('says to which organizations it is held, where no role is asked for', async () => {
    const world = await aWorld()
    const { as } = world
    expect(authorizeOwn(as.owner, 'organization.create')).toBeNull()
    expect(authorizeOwn(narrowed(as.owner, { access: 'read' }), 'notification.read')).toBeNull()
    expect(authorizeOwn(narrowed(as.owner, { organizations: [3] }), 'notification.mark')).toEqual([3])
    const refused = async () => authorizeOwn(narrowed(as.owner, { organizations: [3] }), 'organization.create')
    await expectRefused(world, 'forbidden', refused)
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
