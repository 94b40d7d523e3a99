import { describe, expect, test } from 'vitest'
import { verifyEvents } from '../audit/verify-events.ts'
import { NO_ID } from '../contracts/builders.ts'
import { checkInstallation } from '../installation/check-installation.ts'
import { addMember } from '../members/add-member.ts'
import { removeMember } from '../members/remove-member.ts'
import { removeOrganization } from '../organizations/remove-organization.ts'
import { attachEvidence } from '../security-frameworks/attach-evidence.ts'
import { createSecurityFramework } from '../security-frameworks/create-security-framework.ts'
import { readSecurityFramework } from '../security-frameworks/read-security-framework.ts'
import { removeSecurityFramework } from '../security-frameworks/remove-security-framework.ts'
import { aWorld, expectRefused, happened, NOON, refusedPaths, type World } from '../testing/world.ts'
import { createVpnProfile } from '../vpn-profiles/create-vpn-profile.ts'
import { removeVpnProfile } from '../vpn-profiles/remove-vpn-profile.ts'
import { listRemovedRecords } from './list-removed-records.ts'
import { purgeRemovedRecords } from './purge-removed-records.ts'
import { restoreRecord } from './restore-record.ts'

const email = 'road@acme.example'

async function aRemovedProfile({ ports, as, organization }: World): Promise<number> {
  const id = await createVpnProfile(ports, as.owner, { organization, email })
  await removeVpnProfile(ports, as.owner, id)
  return id
}

/** A framework with a document, removed. */
async function aRemovedFramework({ ports, as, organization }: World): Promise<number> {
  const input = { title: 'ISO 27001', security_frameworks: [{ id: 'A', title: 'Policies' }] }
  const { id: framework } = await createSecurityFramework(ports, as.owner, organization, input)
  async function* content() {
    yield Buffer.from('proof')
  }
  const upload = { file_name: 'a.txt', content_type: 'text/plain', content: content() }
  await attachEvidence(ports, as.owner, { organization, framework, control: 'A' }, upload)
  await removeSecurityFramework(ports, as.owner, { organization, framework })
  return framework
}

async function listed({ ports }: World) {
  const found: string[] = []
  for await (const { kind, id, name } of listRemovedRecords(ports)) found.push(`${kind} ${id} ${name}`)
  return found
}

describe('restoring a record', () => {
  test('undoes its removal, and is a row of the audit trail', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const framework = await aRemovedFramework(world)
    const path = { organization, framework }
    await expectRefused(world, 'not_found', () => readSecurityFramework(ports, as.owner, path))
    const restored = await restoreRecord(ports, 'security_framework', framework)
    expect(restored).toMatchObject({ kind: 'security_framework', id: framework, name: 'ISO 27001', removed_at: NOON })
    const { security_frameworks } = await readSecurityFramework(ports, as.owner, path)
    expect(security_frameworks[0]?.evidences).toHaveLength(1)
    expect(happened(world, 'security_framework.restored')).toMatchObject([
      {
        organization,
        record: String(framework),
        user_id: null,
        request_id: null,
        changes: { removed_at: [NOON, null] },
        details: { name: 'ISO 27001' },
      },
    ])
    await expectRefused(world, 'not_found', () => restoreRecord(ports, 'security_framework', framework))
    await expectRefused(world, 'not_found', () => restoreRecord(ports, 'member', NO_ID))
  })

  test('of a removed organization is refused, until that is restored', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const profile = await aRemovedProfile(world)
    await removeOrganization(ports, as.owner, organization)
    await expectRefused(world, 'conflict', () => restoreRecord(ports, 'vpn_profile', profile))
    await restoreRecord(ports, 'organization', organization)
    expect(await ports.vpnProfiles.findActive(profile)).toBeUndefined()
    await restoreRecord(ports, 'vpn_profile', profile)
    expect((await ports.vpnProfiles.findActive(profile))?.email).toBe(email)
  })

  test('of a member gives the role back, and is refused while the person is a member again', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const path = { organization, user: as.viewer.user }
    await removeMember(ports, as.owner, path)
    const removed = (await ports.removedRecords.list('member', { after: 0, limit: 10 })).find(
      ({ record }) => record === as.viewer.user,
    )
    const id = removed?.id ?? 0
    await addMember(ports, as.owner, path, { role: 'security_officer' })
    await expectRefused(world, 'conflict', () => restoreRecord(ports, 'member', id))
    await removeMember(ports, as.owner, path)
    await restoreRecord(ports, 'member', id)
    expect(await ports.members.roleOf(organization, as.viewer.user)).toBe('viewer')
    expect(happened(world, 'member.restored')).toMatchObject([{ organization, record: as.viewer.user }])
  })
})

describe('purging', () => {
  const LATER = '2026-06-01T00:00:00.000Z'

  test('erases what was removed long enough ago, with its documents, and tells the audit trail', async () => {
    const world = await aWorld()
    const { ports, clock, organization } = world
    const framework = await aRemovedFramework(world)
    clock.now = LATER
    const profile = await aRemovedProfile(world)
    const rows = ports.published.length
    const gone: string[] = []
    const counts = await purgeRemovedRecords(ports, LATER, ({ kind, id }) => gone.push(`${kind} ${id}`))
    expect(counts).toEqual({ member: 1, security_framework: 1 })
    expect(gone).toContain(`security_framework ${framework}`)
    expect(await listed(world)).toEqual([`vpn_profile ${profile} ${email}`])
    expect(await ports.files.sweep('9999')).toBe(0)
    expect(ports.published.slice(rows)).toMatchObject([
      { type: 'member.purged', organization, record: world.formerOwner.user },
      {
        type: 'security_framework.purged',
        organization,
        record: String(framework),
        changes: { removed_at: [NOON, null] },
        details: { security_framework: 1, control: 1, document: 1 },
      },
      { type: 'installation.purged', record: LATER, user_id: null, details: counts },
    ])
    // The trail keeps its rows, those of what is gone among them.
    expect(happened(world, 'security_framework.created')).toHaveLength(1)
    expect(await verifyEvents(ports)).not.toHaveProperty('flaw')
    expect(await purgeRemovedRecords(ports, LATER)).toEqual({})
  })

  test('of an organization takes all that belongs to it, and nobody with it', async () => {
    const world = await aWorld()
    const { ports, as, organization, clock } = world
    await aRemovedProfile(world)
    await aRemovedFramework(world)
    await removeOrganization(ports, as.owner, organization)
    clock.now = LATER
    expect(await purgeRemovedRecords(ports, LATER)).toEqual({ organization: 1 })
    expect(await listed(world)).toEqual([])
    expect(happened(world, 'organization.purged')).toMatchObject([
      { organization, details: { organization: 1, member: 4, vpn_profile: 1, security_framework: 1, document: 1 } },
    ])
    expect(await ports.users.find(as.owner.user)).toBeDefined()
  })

  test('takes no time in the future, and none that is no time', async () => {
    const { ports } = await aWorld()
    for (const time of [LATER, 'soon', undefined]) {
      expect(await refusedPaths(purgeRemovedRecords(ports, time))).toEqual([''])
    }
  })
})

describe('checking an installation', () => {
  test('finds nothing where all is well', async () => {
    const world = await aWorld()
    await aRemovedFramework(world)
    expect(await checkInstallation(world.ports)).toEqual([])
  })

  test('finds files that belong to nothing once they are a day old, and what the database says of itself', async () => {
    const { ports, clock } = await aWorld()
    async function* content() {
      yield Buffer.from('lost')
    }
    const { file } = await ports.files.stage(content(), 10)
    expect(await checkInstallation(ports)).toEqual([])
    clock.now = '2026-03-02T12:00:01.000Z'
    expect(await checkInstallation({ ...ports, integrity: async () => ['page 7 is bad'] })).toEqual([
      { in: 'database', problem: 'page 7 is bad' },
      { in: 'files', problem: `file ${file} belongs to no record` },
    ])
  })

  test('finds a flaw of the audit trail', async () => {
    const world = await aWorld()
    await aRemovedProfile(world)
    const head = async () => ({ position: 3, hash: '' })
    const events = { ...world.ports.events, head }
    expect(await checkInstallation({ ...world.ports, events })).toEqual([
      { in: 'audit trail', problem: expect.stringMatching(/^row 3 is missing/) },
    ])
  })
})
