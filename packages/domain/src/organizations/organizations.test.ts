import { describe, expect, test } from 'vitest'
import { ODD_TEXT } from '../contracts/builders.ts'
import { aPerson, asksForOnOrganization, aWorld, expectRefused, happened, refusedPaths } from '../testing/world.ts'
import { createOrganization } from './create-organization.ts'
import { editOrganization } from './edit-organization.ts'
import { INDUSTRIES } from './industries.ts'
import { listOrganizations } from './list-organizations.ts'
import { readOrganization } from './read-organization.ts'
import { removeOrganization } from './remove-organization.ts'
import { SECTORS } from './sectors.ts'

describe('creating an organization', () => {
  test('takes a name; the rest is empty', async () => {
    const world = await aWorld()
    const caller = await aPerson(world)
    const id = await createOrganization(world.ports, caller, { name: ' Acme ', role: 'ignored', id: 99 })
    expect(await readOrganization(world.ports, caller, id)).toEqual({
      id,
      name: 'Acme',
      description: '',
      number_employees: 0,
      website: '',
      logo: '',
      sectors: [],
      industries: [],
      contacts: [],
      domains: [],
      ips: [],
      infrastructure: '',
    })
  })

  test('makes the caller its owner', async () => {
    const world = await aWorld()
    const caller = await aPerson(world)
    const id = await createOrganization(world.ports, caller, { name: 'Acme' })
    expect(await world.ports.members.roleOf(id, caller.user)).toBe('owner')
    expect(happened(world)).toMatchObject([{ type: 'organization.created', organization: id, user_id: caller.user }])
  })

  test('fills in what a contact leaves out', async () => {
    const world = await aWorld()
    const contacts = [{ name: 'Ada', email: 'ada@example.com' }]
    const id = await createOrganization(world.ports, world.stranger, { name: 'Acme', contacts })
    expect((await readOrganization(world.ports, world.stranger, id)).contacts).toEqual([
      { name: 'Ada', role: '', email: 'ada@example.com', phone: '', email_report: false },
    ])
  })

  test('names every field that does not fit, and creates nothing', async () => {
    const world = await aWorld()
    const caller = await aPerson(world)
    const input = {
      description: 1,
      number_employees: -1,
      website: 'javascript:alert(1)',
      logo: '/logo.png',
      sectors: ['Energy', 'Piracy'],
      industries: ['Dairy', 'dairy'],
      contacts: [{ name: 'x', email: 'x@y.z' }, { email: 'nobody' }],
      domains: ['192.0.2.1'],
      ips: ['example.com'],
      infrastructure: 'moon',
    }
    expect(await refusedPaths(createOrganization(world.ports, caller, input))).toEqual([
      'name',
      'description',
      'number_employees',
      'website',
      'logo',
      'sectors.1',
      'industries.1',
      'contacts.1.name',
      'contacts.1.email',
      'domains.0',
      'ips.0',
      'infrastructure',
    ])
    expect((await listOrganizations(world.ports, caller)).total).toBe(0)
    expect(happened(world)).toEqual([])
  })

  test.each([[[]], [null], ['x'], [undefined]])('%j is no organization', async (input) => {
    const { ports, stranger } = await aWorld()
    expect(await refusedPaths(createOrganization(ports, stranger, input))).toEqual([''])
  })

  test('accepts every sector and industry that the service knows', async () => {
    const { ports, stranger } = await aWorld()
    const input = { name: 'All', sectors: [...SECTORS], industries: [...INDUSTRIES] }
    const id = await createOrganization(ports, stranger, input)
    expect(await readOrganization(ports, stranger, id)).toMatchObject(input)
    expect([SECTORS.length, INDUSTRIES.length, INDUSTRIES.at(-1)]).toEqual([22, 147, 'Writing/Editing'])
  })
})

describe('reading an organization', () => {
  asksForOnOrganization('organization.read', ({ ports }, caller, id) => readOrganization(ports, caller, id))
})

describe('editing an organization', () => {
  asksForOnOrganization('organization.edit', ({ ports }, caller, id) =>
    editOrganization(ports, caller, id, { name: 'New' }),
  )

  test('replaces what is named and leaves the rest', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const before = await readOrganization(ports, as.owner, organization)
    const edit = { name: ODD_TEXT.trim(), sectors: [], id: 99 }
    const after = await editOrganization(ports, as.owner, organization, edit)
    expect(after).toEqual({ ...before, name: ODD_TEXT.trim(), sectors: [] })
    expect(await readOrganization(ports, as.owner, organization)).toEqual(after)
    expect(happened(world)).toMatchObject([
      { type: 'organization.edited', changes: { name: ['Acme', ODD_TEXT.trim()], sectors: [['Energy'], []] } },
    ])
  })

  test('an empty edit changes nothing', async () => {
    const { ports, as, organization } = await aWorld()
    const before = await readOrganization(ports, as.owner, organization)
    expect(await editOrganization(ports, as.owner, organization, {})).toEqual(before)
  })

  test('a wrong field changes nothing', async () => {
    const { ports, as, organization } = await aWorld()
    const before = await readOrganization(ports, as.owner, organization)
    const edit = { name: '', number_employees: 1.5, description: 'new' }
    expect(await refusedPaths(editOrganization(ports, as.owner, organization, edit))).toEqual([
      'name',
      'number_employees',
    ])
    expect(await refusedPaths(editOrganization(ports, as.owner, organization, []))).toEqual([''])
    expect(await readOrganization(ports, as.owner, organization)).toEqual(before)
  })

  test('who may not edit learns nothing of what is wrong with the edit', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    await expectRefused(world, 'forbidden', () => editOrganization(ports, as.viewer, organization, { name: '' }))
  })
})

describe('removing an organization', () => {
  asksForOnOrganization('organization.remove', ({ ports }, caller, id) => removeOrganization(ports, caller, id))

  test('returns it, and hides it from then on', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const before = await readOrganization(ports, as.owner, organization)
    expect(await removeOrganization(ports, as.owner, organization)).toEqual(before)
    await expectRefused(world, 'not_found', () => removeOrganization(ports, as.owner, organization))
    expect((await listOrganizations(ports, as.owner)).total).toBe(0)
    expect(happened(world)).toMatchObject([{ type: 'organization.removed', organization }])
  })
})

describe('listing organizations', () => {
  test('shows those that the caller belongs to, newest first', async () => {
    const { ports, as, stranger, organization } = await aWorld()
    const second = await createOrganization(ports, as.viewer, { name: 'Second' })
    const { total, data } = await listOrganizations(ports, as.viewer)
    expect([total, ...data.map(({ id }) => id)]).toEqual([2, second, organization])
    expect((await listOrganizations(ports, stranger)).data.map(({ name }) => name)).toEqual(['Other'])
  })

  test.each<[object, string[]]>([
    [{ editable: true }, ['Officed', 'Owned']],
    [{ editable: false }, ['Viewed']],
    [{ owned: true }, ['Owned']],
    [{ owned: false }, ['Officed', 'Viewed']],
    [{ editable: true, owned: false }, ['Officed']],
    [{ name: 'WNE' }, ['Owned']],
    [{ limit: 1, offset: 1 }, ['Owned']],
    [{ order: '-name', limit: 1 }, ['Viewed']],
    [{ sectors: ['Energy'], name: 'e' }, []],
  ])('the filter %j leaves %j', async (query, expected) => {
    const { ports } = await aWorld()
    const caller = await aPerson({ ports })
    for (const [name, role] of [
      ['Officed', 'security_officer'],
      ['Owned', 'owner'],
      ['Viewed', 'viewer'],
    ] as const) {
      const owner = await aPerson({ ports })
      const id = await createOrganization(ports, owner, { name })
      await ports.transact(({ members }) => members.insert({ organization: id, user: caller.user, role }))
    }
    const page = await listOrganizations(ports, caller, { order: 'name', ...query })
    expect(page.data.map(({ name }) => name)).toEqual(expected)
  })

  test.each<[string, object]>([
    ['order', { order: 'website' }],
    ['sectors.0', { sectors: ['Piracy'] }],
    ['editable', { editable: 'true' }],
    ['limit', { limit: 1001 }],
  ])('a wrong %s is refused', async (path, query) => {
    const { ports, as } = await aWorld()
    expect(await refusedPaths(listOrganizations(ports, as.viewer, query))).toEqual([path])
  })
})
