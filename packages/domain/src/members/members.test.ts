import { describe, expect, test } from 'vitest'
import { ROLES } from '../access/policy.ts'
import { NO_ID } from '../contracts/builders.ts'
import {
  aPerson,
  asksFor,
  asksForOnOrganization,
  aWorld,
  expectRefused,
  happened,
  refusedPaths,
} from '../testing/world.ts'
import { addMember, permitAddMember } from './add-member.ts'
import { editMember, permitEditMember } from './edit-member.ts'
import { listMembers } from './list-members.ts'
import { listUsers } from './list-users.ts'
import { readMe } from './read-me.ts'
import { registerUser } from './register-user.ts'
import { removeMember } from './remove-member.ts'

const NEW = { email: 'new@example.com' }

describe('adding a member', () => {
  asksForOnOrganization('member.add', ({ ports }, caller, organization) =>
    addMember(ports, caller, { organization, user: '0' }, NEW),
  )

  describe('before the body is read', () => {
    asksForOnOrganization('member.add', async ({ ports }, caller, organization) => {
      await permitAddMember(ports, caller, { organization, user: '0' })
      return 'permitted'
    })

    test('a person that the path names must be registered', async () => {
      const world = await aWorld()
      const { ports, as, organization, stranger } = world
      const user = '0b0e7e2a-5a6f-4c8e-9d1f-3a5b7c9d1e2f'
      await expectRefused(world, 'not_found', () => permitAddMember(ports, as.owner, { organization, user }))
      await expect(permitAddMember(ports, as.owner, { organization, user: stranger.user })).resolves.toBeUndefined()
    })
  })

  test('an unregistered person is registered by address, as a viewer', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const answer = await addMember(ports, as.owner, { organization, user: '0' }, { email: 'New@Example.com' })
    expect(await ports.users.find(answer.user)).toEqual({
      id: answer.user,
      username: 'New@Example.com',
      email: 'New@Example.com',
      first_name: '',
      last_name: '',
      locale: 'en',
    })
    expect(answer).toEqual({ organization, user: answer.user })
    expect(await ports.members.roleOf(organization, answer.user)).toBe('viewer')
    expect(happened(world)).toMatchObject([
      { type: 'user.registered', record: answer.user, organization: null },
      { type: 'member.added', record: answer.user, organization, changes: { role: [null, 'viewer'] } },
    ])
  })

  test('a registered person is found by address without case, and not registered again', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const person = await aPerson(world, 'ada@example.com')
    const answer = await addMember(ports, as.owner, { organization, user: '0' }, { email: 'ADA@example.com' })
    expect(answer.user).toBe(person.user)
    expect(happened(world, 'user.registered')).toEqual([])
  })

  test('a registered person is added by id; an address beside it is checked and ignored', async () => {
    const { ports, as, organization, stranger } = await aWorld()
    const path = { organization, user: stranger.user }
    expect(await refusedPaths(addMember(ports, as.owner, path, { email: 'no address' }))).toEqual(['email'])
    const answer = await addMember(ports, as.owner, path, { email: 'other@example.com', role: 'security_officer' })
    expect(answer).toEqual(path)
    expect(await ports.members.roleOf(organization, stranger.user)).toBe('security_officer')
    expect(await ports.users.findByEmail('other@example.com')).toBeUndefined()
  })

  test.each(ROLES)('a person can be added as %s', async (role) => {
    const { ports, as, organization } = await aWorld()
    const { user } = await addMember(ports, as.owner, { organization, user: '0' }, { ...NEW, role })
    expect(await ports.members.roleOf(organization, user)).toBe(role)
  })

  test('one invitation is owed for each addition', async () => {
    const { ports, as, organization } = await aWorld()
    await addMember(ports, as.owner, { organization, user: '0' }, NEW)
    const owed = await ports.transact(({ invitations }) =>
      invitations.leaseOwed('2026-03-01T12:00:00.000Z', '2026-03-01T12:05:00.000Z', 10),
    )
    expect(owed).toMatchObject([{ to: 'new@example.com', expires_at: '2026-03-08T12:00:00.000Z', role: 'viewer' }])
    expect(owed[0]?.code).toMatch(/^smi_[0-9A-Za-z]{49}$/)
  })

  test('whoever is a member already is not added again, and not invited again', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const email = (await ports.users.find(as.viewer.user))?.email
    await expectRefused(world, 'conflict', () => addMember(ports, as.owner, { organization, user: as.viewer.user }, {}))
    await expectRefused(world, 'conflict', () => addMember(ports, as.owner, { organization, user: '0' }, { email }))
    expect(await ports.invitations.nextDue()).toBeUndefined()
  })

  test('a removed member is brought back, as a viewer unless said otherwise', async () => {
    const { ports, as, organization, formerOwner } = await aWorld()
    await addMember(ports, as.owner, { organization, user: formerOwner.user }, {})
    expect(await ports.members.roleOf(organization, formerOwner.user)).toBe('viewer')
  })

  test('without an id the address says who, so it must be there', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const path = { organization, user: '0' }
    expect(await refusedPaths(addMember(ports, as.owner, path, {}))).toEqual(['email'])
    expect(await refusedPaths(addMember(ports, as.owner, path, { email: 'x', role: 'boss' }))).toEqual([
      'email',
      'role',
    ])
    expect(await refusedPaths(addMember(ports, as.owner, path, []))).toEqual([''])
    expect(happened(world)).toEqual([])
  })

  test('an unknown person is not found', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const user = '0b0e7e2a-5a6f-4c8e-9d1f-3a5b7c9d1e2f'
    await expectRefused(world, 'not_found', () => addMember(ports, as.owner, { organization, user }, { role: 'boss' }))
  })

  test('a conflict registers nobody and owes nothing', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const before = await listUsers(ports)
    await expectRefused(world, 'conflict', () => addMember(ports, as.owner, { organization, user: as.owner.user }, {}))
    expect(await listUsers(ports)).toEqual(before)
  })
})

describe('editing a member', () => {
  asksFor(
    'member.edit',
    async ({ organization, as }) => ({ organization, user: as.viewer.user }),
    ({ ports }, caller, path) => editMember(ports, caller, path, { role: 'security_officer' }),
    ({ as }) => ({ organization: NO_ID, user: as.viewer.user }),
  )

  describe('before the body is read', () => {
    asksFor(
      'member.edit',
      async ({ organization, as }) => ({ organization, user: as.viewer.user }),
      async ({ ports }, caller, path) => {
        await permitEditMember(ports, caller, path)
        return 'permitted'
      },
      ({ as }) => ({ organization: NO_ID, user: as.viewer.user }),
    )
  })

  test('changes the role, by id and by address', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const { user } = as.viewer
    const email = (await ports.users.find(user))?.email.toUpperCase()
    const answer = await editMember(ports, as.owner, { organization, user: '0' }, { email, role: 'security_officer' })
    expect(answer).toEqual({ organization, user })
    expect(await ports.members.roleOf(organization, user)).toBe('security_officer')
    await editMember(ports, as.owner, { organization, user }, { role: 'owner' })
    expect(await ports.members.roleOf(organization, user)).toBe('owner')
    expect(happened(world).map(({ type, record, changes }) => [type, record, changes.role])).toEqual([
      ['member.role_changed', user, ['viewer', 'security_officer']],
      ['member.role_changed', user, ['security_officer', 'owner']],
    ])
  })

  test('without a role, or with the one they have, nothing changes and nothing is told', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const path = { organization, user: as.viewer.user }
    for (const input of [{}, { role: 'viewer' }, { email: 'other@example.com' }]) {
      expect(await editMember(ports, as.owner, path, input)).toEqual(path)
    }
    expect(await ports.members.roleOf(organization, as.viewer.user)).toBe('viewer')
    expect(happened(world)).toEqual([])
  })

  test('who is no member is not found, and nobody is registered', async () => {
    const world = await aWorld()
    const { ports, as, organization, stranger, formerOwner } = world
    const stranger_email = (await ports.users.find(stranger.user))?.email
    const before = await listUsers(ports)
    const attempts = [
      editMember(ports, as.owner, { organization, user: stranger.user }, { role: 'owner' }),
      editMember(ports, as.owner, { organization, user: formerOwner.user }, { role: 'owner' }),
      editMember(ports, as.owner, { organization, user: '0' }, { email: stranger_email, role: 'owner' }),
      editMember(ports, as.owner, { organization, user: '0' }, { email: 'unknown@example.com', role: 'owner' }),
    ]
    for (const attempt of attempts) await expectRefused(world, 'not_found', () => attempt)
    await expectRefused(world, 'not_found', () =>
      permitEditMember(ports, as.owner, { organization, user: stranger.user }),
    )
    expect(await listUsers(ports)).toEqual(before)
  })

  test('a wrong body is named', async () => {
    const { ports, as, organization } = await aWorld()
    const path = { organization, user: as.viewer.user }
    expect(await refusedPaths(editMember(ports, as.owner, path, { role: 'boss', email: 'x' }))).toEqual([
      'email',
      'role',
    ])
    expect(await refusedPaths(editMember(ports, as.owner, { organization, user: '0' }, { role: 'owner' }))).toEqual([
      'email',
    ])
  })

  test('the last owner keeps the role', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const path = { organization, user: as.owner.user }
    await expectRefused(world, 'conflict', () => editMember(ports, as.owner, path, { role: 'viewer' }))
    expect(await editMember(ports, as.owner, path, { role: 'owner' })).toEqual(path)
    await editMember(ports, as.owner, { organization, user: as.viewer.user }, { role: 'owner' })
    await editMember(ports, as.owner, path, { role: 'viewer' })
    expect(await ports.members.withRoles(organization, ['owner'])).toEqual([as.viewer.user])
    await expectRefused(world, 'forbidden', () => editMember(ports, as.owner, path, { role: 'owner' }))
  })
})

describe('removing a member', () => {
  asksFor(
    'member.remove',
    async ({ organization, as }) => ({ organization, user: as.viewer.user }),
    ({ ports }, caller, path) => removeMember(ports, caller, path),
    ({ as }) => ({ organization: NO_ID, user: as.viewer.user }),
  )

  test('takes their access at once', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const path = { organization, user: as.security_officer.user }
    await listMembers(ports, as.security_officer, organization)
    expect(await removeMember(ports, as.owner, path)).toEqual(path)
    await expectRefused(world, 'forbidden', () => listMembers(ports, as.security_officer, organization))
    await expectRefused(world, 'not_found', () => removeMember(ports, as.owner, path))
    expect(happened(world)).toMatchObject([{ type: 'member.removed', changes: { role: ['security_officer', null] } }])
  })

  test('who is no member, or not named by id, is not found', async () => {
    const world = await aWorld()
    const { ports, as, organization, stranger, formerOwner } = world
    for (const user of [stranger.user, formerOwner.user, '0']) {
      await expectRefused(world, 'not_found', () => removeMember(ports, as.owner, { organization, user }))
    }
  })

  test('the last owner stays; one of two may go, even by their own hand', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const self = { organization, user: as.owner.user }
    await expectRefused(world, 'conflict', () => removeMember(ports, as.owner, self))
    await editMember(ports, as.owner, { organization, user: as.viewer.user }, { role: 'owner' })
    expect(await removeMember(ports, as.owner, self)).toEqual(self)
    expect(await ports.members.withRoles(organization, ['owner'])).toEqual([as.viewer.user])
  })
})

describe('listing members', () => {
  asksForOnOrganization('member.list', ({ ports }, caller, organization) => listMembers(ports, caller, organization))

  test('shows the members by user name, and nobody else', async () => {
    const { ports, as, organization } = await aWorld()
    for (const email of ['zoe@example.com', 'abe@example.com']) {
      await addMember(ports, as.owner, { organization, user: '0' }, { email })
    }
    const { total, data } = await listMembers(ports, as.owner, organization)
    expect(total).toBe(5)
    expect(data.map(({ username }) => username)).toEqual(data.map(({ username }) => username).toSorted())
    expect(data.map(({ username }) => username)).toEqual(expect.arrayContaining(['abe@example.com', 'zoe@example.com']))
    expect(Object.keys(data[0] ?? {}).toSorted()).toEqual([
      'email',
      'first_name',
      'id',
      'last_name',
      'role',
      'username',
    ])
  })

  test('can be narrowed to a role and a text', async () => {
    const { ports, as, organization } = await aWorld()
    const owners = await listMembers(ports, as.owner, organization, { role: 'owner', search: 'EXAMPLE' })
    expect(owners).toMatchObject({ total: 1, data: [{ id: as.owner.user, role: 'owner' }] })
    expect(await refusedPaths(listMembers(ports, as.owner, organization, { role: 'boss', order: 'id' }))).toEqual([
      'order',
      'role',
    ])
  })
})

describe('registering a person', () => {
  test('takes an address; the rest has defaults', async () => {
    const world = await aWorld()
    const user = await registerUser(world.ports, { email: 'root@example.com' })
    expect(user).toEqual({
      id: user.id,
      username: 'root@example.com',
      email: 'root@example.com',
      first_name: '',
      last_name: '',
      locale: 'en',
    })
    expect(user.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(happened(world)).toMatchObject([{ type: 'user.registered', user_id: null, organization: null }])
  })

  test('an address is registered once, whatever its case', async () => {
    const world = await aWorld()
    await registerUser(world.ports, { email: 'root@example.com', locale: 'it', username: 'root' })
    await expectRefused(world, 'conflict', () => registerUser(world.ports, { email: 'ROOT@example.com' }))
    expect(await refusedPaths(registerUser(world.ports, { email: 'x', locale: 'de' }))).toEqual(['email', 'locale'])
  })
})

describe('reading who one is', () => {
  test('names the organizations and the role in each', async () => {
    const world = await aWorld()
    const { ports, as, organization, formerOwner } = world
    const user = await ports.users.find(as.viewer.user)
    const logo = 'https://acme.example/logo.png'
    expect(await readMe(ports, as.viewer)).toEqual({
      ...user,
      organizations: [{ id: organization, name: 'Acme', logo, role: 'viewer' }],
    })
    expect((await readMe(ports, formerOwner)).organizations).toEqual([])
    await expectRefused(world, 'not_found', () => readMe(ports, { user: '0b0e7e2a-5a6f-4c8e-9d1f-3a5b7c9d1e2f' }))
  })
})
