import { describe, expect, test } from 'vitest'
import type { Needs, Ports } from '../ports.ts'
import { REMOVABLE_KINDS, type RemovableKind } from '../removed-records/removed-record.ts'
import {
  aBlocker,
  aCloudDefense,
  aControl,
  aFramework,
  aNotification,
  anAssessment,
  anInvitation,
  anUpload,
  aThreat,
  aVpnProfile,
  NO_ID,
  storeMember,
  storeOrganization,
} from './builders.ts'
import { NOW, type Open, openFresh, openOnce } from './opened.ts'
import { all, expectRolledBack, fulfilled, tenAtOnce } from './paging.ts'

const LATER = '2026-04-01T00:00:00.000Z'
const ALWAYS = '9999-12-31T23:59:59.999Z'

/** Everything an organization can have, with an owner, two blockers and two frameworks. */
type Site = {
  organization: number
  owner: string
  /** Ids of one record of each kind; of the member, the membership. */
  ids: Record<RemovableKind, number>
}

async function* bytes() {
  yield Buffer.from('bytes')
}

async function aSite(ports: Needs<'transact' | 'files'>): Promise<Site> {
  const organization = await storeOrganization(ports, { name: 'Site' })
  const { id: owner } = await storeMember(ports, organization)
  const other = await storeMember(ports, organization, 'viewer', { email: `member${organization}@example.com` })
  const raw = await ports.files.stage(bytes(), 100)
  const staged = await ports.files.stage(bytes(), 100)
  const ids = await ports.transact(async (stores) => {
    const user = other.id
    await stores.invitations.insert(anInvitation({ membership: other.membership, invited_by: owner }))
    await stores.notifications.insert([user, owner], aNotification({ organization }))
    const threat_blocker = await stores.threatBlockers.insert(aBlocker({ organization, device_id: 'gone' }))
    const second = await stores.threatBlockers.insert(aBlocker({ organization, device_id: 'stays' }))
    await stores.traffic.insertUpload(anUpload({ threat_blocker, raw: { file: raw.file, size: raw.size } }))
    for (const id of [threat_blocker, second]) {
      await stores.traffic.insertUpload(anUpload({ threat_blocker: id }))
      await stores.traffic.addSlots(
        id,
        [300, 600, 900].map((start) => ({ start, total: 1, malicious: 0, found_later: 0 })),
      )
      await stores.traffic.addThreats(id, [aThreat(), aThreat({ value: '203.0.113.10' })])
    }
    const vpn_profile = await stores.vpnProfiles.insert(
      aVpnProfile({ organization, user_id: owner, email: 'gone@a.example' }),
    )
    await stores.vpnProfiles.insert(aVpnProfile({ organization, user_id: owner }))
    const controls = ['A', 'B'].map((id) => aControl({ id, frequency: '0 0 1 1 *' }))
    const security_framework = await stores.securityFrameworks.insert(
      aFramework({ organization, title: 'gone', security_frameworks: controls }),
    )
    await stores.securityFrameworks.insert(aFramework({ organization, title: 'stays' }))
    await stores.securityFrameworks.noteTold(security_framework, 'A', NOW)
    const document = { control: 'A', name: `${staged.file}.txt`, file_name: 'a.txt', content_type: 'text/plain' }
    await stores.documents.insert({ organization, framework: security_framework, ...document, ...staged })
    await stores.cloudDefenses.insert(aCloudDefense({ organization }))
    await stores.assessments.insert(anAssessment({ organization }))
    return { organization, member: other.membership, threat_blocker, vpn_profile, security_framework }
  })
  return { organization, owner, ids }
}

/** Soft-removes one of the records of a site. */
async function remove(ports: Needs<'transact'>, { organization, ids }: Site, kind: RemovableKind, at = NOW) {
  await ports.transact(async (stores) => {
    if (kind === 'organization') await stores.organizations.remove(organization, at)
    if (kind === 'member') await stores.members.remove(organization, await memberOf(stores, organization), at)
    if (kind === 'threat_blocker') await stores.threatBlockers.remove(ids.threat_blocker, at)
    if (kind === 'vpn_profile') await stores.vpnProfiles.remove(ids.vpn_profile, at)
    if (kind === 'security_framework') await stores.securityFrameworks.remove(organization, ids.security_framework, at)
  })
}

async function memberOf(stores: Needs<'members'>, organization: number): Promise<string> {
  const [viewer = ''] = await stores.members.withRoles(organization, ['viewer'])
  return viewer
}

/** All of a site that can be read, as one value. */
async function contentOf(ports: Ports, { organization, owner }: Site): Promise<unknown> {
  const blockers = await ports.threatBlockers.listActive([organization], {}, all('id'))
  const [viewer = ''] = await ports.members.withRoles(organization, ['viewer'])
  return [
    await ports.organizations.findActive(organization),
    await ports.members.listActive(organization, {}, all('username')),
    await ports.notifications.listOf(viewer, {}, all('id')),
    await ports.notifications.listOf(owner, {}, all('id')),
    blockers,
    [...(await ports.traffic.counts(blockers.data.map(({ id }) => id)))],
    await Promise.all(blockers.data.map(({ id }) => ports.traffic.listUploads(id, all('id')))),
    await Promise.all(blockers.data.map(({ id }) => ports.traffic.listThreats(id, {}, all('id')))),
    await ports.vpnProfiles.listActive([organization], all('id')),
    await ports.securityFrameworks.listActive(organization, all('id')),
    await ports.cloudDefenses.listActive([organization], {}, all('id')),
    await ports.assessments.listActive([organization], {}, all('id')),
  ]
}

/** Erases a record, some rows at a time, and returns what went in all. */
async function purgeAll(ports: Needs<'transact'>, kind: RemovableKind, id: number, limit = 1000) {
  const counts: { [what: string]: number } = {}
  const files: number[] = []
  for (let step = 0; step < 100; step += 1) {
    const purged = await ports.transact((stores) => stores.removedRecords.purge(kind, id, LATER, limit))
    if (!purged) throw new Error('There is nothing to purge')
    for (const [what, count] of Object.entries(purged.counts)) counts[what] = (counts[what] ?? 0) + count
    files.push(...purged.files)
    if (purged.isDone) return { counts, files }
  }
  throw new Error('The purge came to no end')
}

/** What goes with a record of a site. */
const EXPECTED: Record<RemovableKind, { [what: string]: number }> = {
  organization: {
    organization: 1,
    member: 2,
    invitation: 1,
    notification: 2,
    threat_blocker: 2,
    traffic_upload: 3,
    traffic_slot: 6,
    threat: 4,
    vpn_profile: 2,
    security_framework: 2,
    control: 3,
    document: 1,
    cloud_defense: 1,
    assessment: 1,
  },
  member: { member: 1, invitation: 1, notification: 1 },
  threat_blocker: { threat_blocker: 1, traffic_upload: 2, traffic_slot: 3, threat: 2 },
  vpn_profile: { vpn_profile: 1 },
  security_framework: { security_framework: 1, control: 2, document: 1 },
}

/** The suite that every adapter of `RemovedRecordStore` must pass. `open` gives empty stores, new at every call. */
export function removedRecordStoreContract(adapter: string, open: Open): void {
  describe(`RemovedRecordStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    test.each(REMOVABLE_KINDS)(
      'a %s that is removed is listed and found, and is whole again when restored',
      async (kind) => {
        const site = await aSite(opened.ports)
        const { organization, ids } = site
        const before = await contentOf(opened.ports, site)
        const user = await memberOf(opened.ports, organization)
        expect(await opened.ports.removedRecords.find(kind, ids[kind])).toBeUndefined()
        await remove(opened.ports, site, kind)
        const names = {
          organization: 'Site',
          member: `member${organization}@example.com`,
          vpn_profile: 'gone@a.example',
        }
        const found = {
          kind,
          id: ids[kind],
          organization,
          record: kind === 'member' ? user : String(ids[kind]),
          name: (names as { [kind: string]: string })[kind] ?? 'gone',
          removed_at: NOW,
        }
        expect(await opened.ports.removedRecords.find(kind, ids[kind])).toEqual(found)
        expect(await opened.ports.removedRecords.list(kind, { after: ids[kind] - 1, limit: 1 })).toEqual([found])
        const restore = () => opened.ports.transact((stores) => stores.removedRecords.restore(kind, ids[kind]))
        expect(await restore()).toBe(true)
        expect(await restore()).toBe(false)
        expect(await contentOf(opened.ports, site)).toEqual(before)
        expect(await opened.ports.removedRecords.find(kind, ids[kind])).toBeUndefined()
      },
    )

    test('lists come by id, in pages, and may leave out what was removed of late', async () => {
      await openFresh(open, async (ports) => {
        const ids: number[] = []
        for (const at of [NOW, LATER, NOW, NOW]) {
          const id = await storeOrganization(ports)
          await ports.transact((stores) => stores.organizations.remove(id, at))
          ids.push(id)
        }
        await storeOrganization(ports)
        const list = async (range: { after: number; limit: number; before?: string }) =>
          (await ports.removedRecords.list('organization', range)).map(({ id }) => ids.indexOf(id))
        expect(await list({ after: 0, limit: 10 })).toEqual([0, 1, 2, 3])
        expect(await list({ after: ids[0] ?? 0, limit: 2 })).toEqual([1, 2])
        expect(await list({ after: 0, limit: 10, before: LATER })).toEqual([0, 2, 3])
        expect(await list({ after: 0, limit: 10, before: NOW })).toEqual([])
        expect(await ports.removedRecords.list('vpn_profile', { after: 0, limit: 10 })).toEqual([])
      })
    })

    test.each(REMOVABLE_KINDS)('a %s is purged with all that hangs on it, and nothing else', async (kind) => {
      for (const limit of [1000, 2]) {
        const [site, other] = [await aSite(opened.ports), await aSite(opened.ports)]
        await remove(opened.ports, site, kind)
        const before = [await contentOf(opened.ports, site), await contentOf(opened.ports, other)]
        const { counts, files } = await purgeAll(opened.ports, kind, site.ids[kind], limit)
        expect(counts).toEqual(EXPECTED[kind])
        expect([await contentOf(opened.ports, site), await contentOf(opened.ports, other)]).toEqual(before)
        expect(await opened.ports.removedRecords.find(kind, site.ids[kind])).toBeUndefined()
        const { orphans } = await opened.ports.files.check(ALWAYS)
        expect(orphans.filter((file) => files.includes(file))).toEqual(files.toSorted((a, b) => a - b))
        expect(files).toHaveLength({ organization: 2, threat_blocker: 1, security_framework: 1 }[kind as string] ?? 0)
        for (const file of files) await opened.ports.files.discard(file)
        expect((await opened.ports.files.check(ALWAYS)).orphans).toEqual([])
      }
    })

    test.each(REMOVABLE_KINDS)('a %s that is not removed, or was of late, is not purged', async (kind) => {
      const site = await aSite(opened.ports)
      const purge = () =>
        opened.ports.transact((stores) => stores.removedRecords.purge(kind, site.ids[kind], LATER, 1000))
      expect(await purge()).toBeUndefined()
      await remove(opened.ports, site, kind, LATER)
      expect(await purge()).toBeUndefined()
      expect(await opened.ports.transact((stores) => stores.removedRecords.restore(kind, NO_ID))).toBe(false)
      expect(await opened.ports.removedRecords.find(kind, site.ids[kind])).toBeDefined()
    })

    test('the notifications of somebody who is a member again stay when the former membership goes', async () => {
      const site = await aSite(opened.ports)
      const { organization, ids } = site
      const user = await memberOf(opened.ports, organization)
      await remove(opened.ports, site, 'member')
      await opened.ports.transact(({ members }) => members.insert({ organization, user, role: 'viewer' }))
      const { counts } = await purgeAll(opened.ports, 'member', ids.member)
      expect(counts).toEqual({ member: 1, invitation: 1 })
      expect((await opened.ports.notifications.listOf(user, {}, all('id'))).total).toBe(1)
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const site = await aSite(opened.ports)
      const { threat_blocker } = site.ids
      await remove(opened.ports, site, 'threat_blocker')
      await remove(opened.ports, site, 'vpn_profile')
      await expectRolledBack(
        opened.ports,
        async ({ removedRecords }) => {
          await removedRecords.restore('vpn_profile', site.ids.vpn_profile)
          await removedRecords.purge('threat_blocker', threat_blocker, LATER, 1000)
        },
        async () => [
          await contentOf(opened.ports, site),
          await opened.ports.removedRecords.find('threat_blocker', threat_blocker),
          await opened.ports.traffic.listUploads(threat_blocker, all('id')),
        ],
      )
    })

    test('of restoring and purging at once, one wins, and nothing is half there', async () => {
      for (const kind of ['threat_blocker', 'security_framework'] as const) {
        const site = await aSite(opened.ports)
        const before = await contentOf(opened.ports, site)
        await remove(opened.ports, site, kind)
        const results = await tenAtOnce((index) =>
          opened.ports.transact<unknown>(({ removedRecords }) =>
            index % 2 === 0
              ? removedRecords.purge(kind, site.ids[kind], LATER, 1000)
              : removedRecords.restore(kind, site.ids[kind]),
          ),
        )
        const [winner, ...others] = fulfilled(results).filter(Boolean)
        expect(others).toEqual([])
        if (winner === true) expect(await contentOf(opened.ports, site)).toEqual(before)
        else expect(winner).toMatchObject({ isDone: true, counts: EXPECTED[kind] })
      }
    })
  })
}
