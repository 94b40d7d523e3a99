import { describe, expect, test } from 'vitest'
import type { Caller } from '../access/caller.ts'
import { importAssessments } from '../assessments/import-assessments.ts'
import { aControl, aFramework } from '../contracts/builders.ts'
import { addMember } from '../members/add-member.ts'
import { editMember } from '../members/edit-member.ts'
import { removeMember } from '../members/remove-member.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { attachEvidence } from '../security-frameworks/attach-evidence.ts'
import { removeSecurityFramework } from '../security-frameworks/remove-security-framework.ts'
import { tellDueEvidence } from '../security-frameworks/tell-due-evidence.ts'
import { aPerson, aWorld, expectRefused, notified, refusedPaths, type World } from '../testing/world.ts'
import { createThreatBlocker } from '../threat-blockers/create-threat-blocker.ts'
import { editThreatBlocker } from '../threat-blockers/edit-threat-blocker.ts'
import { removeThreatBlocker } from '../threat-blockers/remove-threat-blocker.ts'
import { uploadTraffic } from '../traffic/upload-traffic.ts'
import { createVpnProfile } from '../vpn-profiles/create-vpn-profile.ts'
import { listNotifications } from './list-notifications.ts'
import { markAllNotificationsRead, markNotificationRead } from './mark-notification-read.ts'

const email = 'soc@acme.example'

function createBlocker({ ports, organization }: World, caller: Caller): Promise<number> {
  return createThreatBlocker(ports, caller, { organization, device_id: 'dev-1', email, type: 'series', services: [] })
}

async function storeFramework({ ports, organization }: World, frequency = ''): Promise<number> {
  const security_frameworks = [aControl({ id: 'A/1', frequency })]
  return ports.transact((stores) => stores.securityFrameworks.insert(aFramework({ organization, security_frameworks })))
}

async function* bytes(text: string) {
  yield Buffer.from(text)
}

async function upload({ ports, as }: World, blocker: number, content: string): Promise<void> {
  await uploadTraffic(ports, as.security_officer, blocker, { file_name: 'a.json', content: bytes(content) })
}

/** Titles that each kind of caller was told. */
async function told(world: World) {
  const titles = async (caller: Caller) => (await notified(world, caller)).map(({ title }) => title)
  const { viewer, security_officer, owner } = world.as
  return { viewer: await titles(viewer), officer: await titles(security_officer), owner: await titles(owner) }
}

describe('who is told of what', () => {
  test('an organization created: its owner', async () => {
    const world = await aWorld()
    const caller = await aPerson(world)
    const id = await createOrganization(world.ports, caller, { name: 'New' })
    expect(await notified(world, caller)).toEqual([
      {
        id: expect.any(Number),
        organization: { id, name: 'New', logo: '' },
        title: 'Organization created',
        message: 'You are its owner. Invite the people who work on its security.',
        type: 'info',
        action: 'link',
        read: false,
        datetime: '2026-03-01T12:00:00.000Z',
        icon: 'fa-solid fa-building',
        extra: { href: `/api/v1/organizations/${id}` },
      },
    ])
  })

  test('a member added: that person alone', async () => {
    const world = await aWorld()
    const { ports, as, organization, stranger } = world
    await addMember(ports, as.owner, { organization, user: stranger.user }, { role: 'security_officer' })
    expect(await notified(world, stranger)).toMatchObject([
      { title: 'Added to an organization', message: 'You are now security officer of this organization.' },
    ])
    expect(await told(world)).toEqual({ viewer: [], officer: [], owner: [] })
  })

  test('a role changed: that person alone', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    await editMember(ports, as.owner, { organization, user: as.viewer.user }, { role: 'owner' })
    expect(await told(world)).toEqual({ viewer: ['Role changed'], officer: [], owner: [] })
  })

  test('a threat blocker created or removed: those who may edit it, without who did it', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await createBlocker(world, as.owner)
    expect(await told(world)).toEqual({ viewer: [], officer: ['Threat blocker created'], owner: [] })
    expect((await notified(world, as.security_officer))[0]).toMatchObject({ extra: { href: `/api/v1/atb/${id}` } })
    await editThreatBlocker(ports, as.owner, id, { device_id: 'dev-2' })
    await removeThreatBlocker(ports, as.security_officer, id)
    expect(await told(world)).toEqual({
      viewer: [],
      officer: ['Threat blocker created'],
      owner: ['Threat blocker removed'],
    })
    expect((await notified(world, as.owner))[0]).toMatchObject({ type: 'warning' })
  })

  test('malicious traffic found: at most once a blocker and hour', async () => {
    const world = await aWorld()
    const [one, other] = [await createBlocker(world, world.as.owner), await createBlocker(world, world.as.owner)]
    const found = async () => (await told(world)).owner.filter((title) => title === 'Malicious traffic found').length
    await upload(world, one, '[{"ts":1,"verdict":"allowed"}]')
    expect(await found()).toBe(0)
    await upload(world, one, '[{"ts":1,"verdict":"blocked"},{"ts":1},{"never":1}]')
    expect(await found()).toBe(1)
    const [notice] = await notified(world, world.as.owner)
    expect(notice?.message).toBe(
      'Threat blocker dev-1: 1 of 2 requests were malicious. Strongest reason: the log says "blocked".',
    )
    world.clock.now = '2026-03-01T12:59:59.999Z'
    await upload(world, one, '[{"ts":2,"verdict":"blocked"}]')
    expect(await found()).toBe(1)
    await upload(world, other, '[{"ts":2,"verdict":"blocked"}]')
    expect(await found()).toBe(2)
    world.clock.now = '2026-03-01T13:00:00.000Z'
    await upload(world, one, '[{"ts":3,"verdict":"blocked"}]')
    expect(await found()).toBe(3)
  })

  test('a document attached: those who may attach, without who did it', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const framework = await storeFramework(world)
    await attachEvidence(
      ports,
      as.security_officer,
      { organization, framework, control: 'A/1' },
      { file_name: 'r.pdf', content_type: 'application/pdf', content: bytes('x') },
    )
    expect(await told(world)).toEqual({ viewer: [], officer: [], owner: ['Document attached'] })
    expect((await notified(world, as.owner))[0]).toMatchObject({
      message: 'r.pdf was attached to control A/1.',
      extra: { href: `/api/v1/organizations/${organization}/security-frameworks/${framework}` },
    })
  })

  test('evidence due: all who may attach it', async () => {
    const world = await aWorld()
    await storeFramework(world, '0 0 * * *')
    world.clock.now = '2026-03-02T00:00:00.000Z'
    await tellDueEvidence(world.ports)
    expect(await told(world)).toEqual({ viewer: [], officer: ['Evidence due'], owner: ['Evidence due'] })
  })

  test('a framework removed: those who may edit it, without who did it', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    await removeSecurityFramework(ports, as.owner, { organization, framework: await storeFramework(world) })
    expect(await told(world)).toEqual({ viewer: [], officer: ['Security framework removed'], owner: [] })
  })

  test('a VPN profile created: those who may create one, without who did it', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    await createVpnProfile(ports, as.security_officer, { organization, email })
    expect(await told(world)).toEqual({ viewer: [], officer: [], owner: ['VPN profile created'] })
  })

  test('an assessment available: every member', async () => {
    const world = await aWorld()
    const { ports, organization } = world
    await importAssessments(ports, [{ organization, score: 70, name: { en: 'Review', it: 'Revisione' } }])
    const title = ['Assessment available']
    expect(await told(world)).toEqual({ viewer: title, officer: title, owner: title })
    expect((await notified(world, world.as.viewer))[0]?.message).toBe('Review: 70 of 100.')
  })

  test('a change that fails: nobody', async () => {
    const world = await aWorld()
    await expectRefused(world, 'forbidden', () => createBlocker(world, world.as.viewer))
    expect(await told(world)).toEqual({ viewer: [], officer: [], owner: [] })
  })
})

describe('reading notifications', () => {
  test('a person sees their own alone, newest first, and narrows them', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const blocker = await createBlocker(world, as.owner)
    await removeThreatBlocker(ports, as.owner, blocker)
    const titles = async (query: object) => {
      const { total, data } = await listNotifications(ports, as.security_officer, query)
      expect(total).toBe(data.length)
      return data.map(({ title }) => title)
    }
    expect(await titles({})).toEqual(['Threat blocker removed', 'Threat blocker created'])
    expect(await titles({ type: 'warning' })).toEqual(['Threat blocker removed'])
    expect(await titles({ read: true })).toEqual([])
    expect(await titles({ organization })).toHaveLength(2)
    expect(await titles({ organization: organization + 1 })).toEqual([])
    expect(await refusedPaths(listNotifications(ports, as.viewer, { type: 'error', read: 'yes' }))).toEqual([
      'read',
      'type',
    ])
  })

  test('who has left sees none of that organization any more', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    await createBlocker(world, as.owner)
    await removeMember(ports, as.owner, { organization, user: as.security_officer.user })
    expect(await listNotifications(ports, as.security_officer)).toEqual({ total: 0, data: [] })
  })
})

describe('marking notifications as read', () => {
  test('changes nothing else, and may be done again', async () => {
    const world = await aWorld()
    const { ports, as } = world
    await createBlocker(world, as.owner)
    const [notification] = await notified(world, as.security_officer)
    const id = notification?.id ?? 0
    for (let time = 0; time < 2; time += 1) {
      expect(await markNotificationRead(ports, as.security_officer, id)).toEqual({ ...notification, read: true })
    }
    await expectRefused(world, 'not_found', () => markNotificationRead(ports, as.owner, id))
    await expectRefused(world, 'not_found', () => markNotificationRead(ports, as.security_officer, 9999))
  })

  test('all at once says how many were unread', async () => {
    const world = await aWorld()
    const { ports, as } = world
    await createBlocker(world, as.owner)
    await createBlocker(world, as.owner)
    expect(await markAllNotificationsRead(ports, as.security_officer)).toBe(2)
    expect(await markAllNotificationsRead(ports, as.security_officer)).toBe(0)
    expect((await listNotifications(ports, as.security_officer, { read: false })).total).toBe(0)
  })
})
