import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { editThreatBlocker } from '../threat-blockers/edit-threat-blocker.ts'
import { readThreatBlocker } from '../threat-blockers/read-threat-blocker.ts'
import { removeThreatBlocker } from '../threat-blockers/remove-threat-blocker.ts'
import { editableState } from '../threat-blockers/threat-blocker.ts'
import { THREAT_BLOCKER_ORDER } from '../threat-blockers/threat-blocker-store.ts'
import { versionOf } from '../version.ts'
import {
  aBlocker,
  anUpload,
  aVpnProfile,
  eventsOf,
  NO_ID,
  ODD_JSON,
  ODD_TEXT,
  removeStoredOrganization,
  storeMember,
  storeOrganization,
  storeUser,
} from './builders.ts'
import { NOW, type Open, openOnce } from './opened.ts'
import {
  all,
  expectOrderAndPages,
  expectPageSizeBound,
  expectRolledBack,
  fulfilled,
  TEXTS_TO_SORT,
  tenAtOnce,
} from './paging.ts'

/** The suite that every adapter of `ThreatBlockerStore` must pass. `open` gives empty stores, new at every call. */
export function threatBlockerStoreContract(adapter: string, open: Open): void {
  describe(`ThreatBlockerStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function store(part: Parameters<typeof aBlocker>[0]): Promise<number> {
      return opened.ports.transact(({ threatBlockers }) => threatBlockers.insert(aBlocker(part)))
    }
    async function remove(id: number): Promise<boolean> {
      return opened.ports.transact(({ threatBlockers }) => threatBlockers.remove(id, NOW))
    }

    test('every field comes back as it was stored, by id and by key', async () => {
      const organization = await storeOrganization(opened.ports, { name: ODD_TEXT, logo: 'https://logo.example' })
      const blocker = {
        ...aBlocker({
          organization,
          device_id: ODD_TEXT,
          type: 'parallel',
          services: ['Service Domain Protection', 'Service IPv4 Protection'],
        }),
        created_at: '2025-12-31T23:59:59.999Z',
      }
      const id = await opened.ports.transact(({ threatBlockers }) => threatBlockers.insert(blocker))
      const expected = {
        ...blocker,
        id,
        organization: { id: organization, name: ODD_TEXT, logo: 'https://logo.example' },
        plugin: { name: 'none', config: {} },
        endpoint: '',
        privateIP: '',
        last_upload_at: null,
        has_vpn: false,
      }
      expect(id).toBeGreaterThanOrEqual(1)
      const { threatBlockers } = opened.ports
      expect(await threatBlockers.findActive(id)).toEqual(expected)
      expect(await threatBlockers.findActiveByKey(blocker.atb_key)).toEqual(expected)
      expect(await threatBlockers.listActive([organization], {}, all('id'))).toEqual({ total: 1, data: [expected] })
    })

    test('an id or key that nothing has finds nothing', async () => {
      const { threatBlockers } = opened.ports
      expect(await threatBlockers.findActive(NO_ID)).toBeUndefined()
      expect(await threatBlockers.findActiveByKey(randomUUID())).toBeUndefined()
      expect(await threatBlockers.findActiveByKey('')).toBeUndefined()
      expect(await threatBlockers.listActive([NO_ID], {}, all('id'))).toEqual({ total: 0, data: [] })
      expect(await threatBlockers.listActive([], {}, all('id'))).toEqual({ total: 0, data: [] })
      expect(await remove(NO_ID)).toBe(false)
      expect(
        await opened.ports.transact((stores) => stores.threatBlockers.update(NO_ID, { email: 'a@b.example' })),
      ).toBe(false)
    })

    test('an edit replaces what it names and leaves the rest', async () => {
      const id = await store({ organization: await storeOrganization(opened.ports) })
      const before = await opened.ports.threatBlockers.findActive(id)
      const edit = {
        plugin: { name: ODD_TEXT, config: ODD_JSON },
        endpoint: '2001:db8::1',
        services: [],
        privateIP: undefined,
      }
      expect(await opened.ports.transact(({ threatBlockers }) => threatBlockers.update(id, edit))).toBe(true)
      const after = await opened.ports.threatBlockers.findActive(id)
      expect(after).toEqual({ ...before, plugin: edit.plugin, endpoint: '2001:db8::1', services: [] })
      expect(JSON.stringify(after?.plugin.config)).toBe(JSON.stringify(ODD_JSON))
      expect(await opened.ports.transact(({ threatBlockers }) => threatBlockers.update(id, {}))).toBe(true)
      expect(await opened.ports.threatBlockers.findActive(id)).toEqual(after)
      const rest = { device_id: 'dev-2', email: 'x@acme.example', type: 'parallel', privateIP: '10.0.0.1' } as const
      await opened.ports.transact(({ threatBlockers }) => threatBlockers.update(id, rest))
      expect(await opened.ports.threatBlockers.findActive(id)).toEqual({ ...after, ...rest })
    })

    test('the newest upload is the last, in whatever order they came', async () => {
      const organization = await storeOrganization(opened.ports)
      const [id, other] = [await store({ organization }), await store({ organization })]
      for (const received of ['2026-02-01T00:00:00.000Z', '2026-02-03T00:00:00.000Z', '2026-02-02T00:00:00.000Z']) {
        await opened.ports.transact(({ traffic }) => traffic.insertUpload(anUpload({ threat_blocker: id, received })))
      }
      expect((await opened.ports.threatBlockers.findActive(id))?.last_upload_at).toBe('2026-02-03T00:00:00.000Z')
      expect((await opened.ports.threatBlockers.findActive(other))?.last_upload_at).toBeNull()
      const { data } = await opened.ports.threatBlockers.listActive([organization], {}, all('id'))
      expect(data.map(({ last_upload_at }) => last_upload_at)).toEqual(['2026-02-03T00:00:00.000Z', null])
    })

    test('it has a VPN while its organization has an active profile', async () => {
      const [organization, other] = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const { id: user_id } = await storeUser(opened.ports)
      const [here, there] = [await store({ organization }), await store({ organization: other })]
      const hasVpn = async (id: number) => (await opened.ports.threatBlockers.findActive(id))?.has_vpn
      const profiles = []
      for (let count = 0; count < 2; count += 1) {
        profiles.push(
          await opened.ports.transact(({ vpnProfiles }) => vpnProfiles.insert(aVpnProfile({ organization, user_id }))),
        )
      }
      expect([await hasVpn(here), await hasVpn(there)]).toEqual([true, false])
      const { total, data } = await opened.ports.threatBlockers.listActive([organization, other], {}, all('id'))
      expect([total, ...data.map(({ has_vpn }) => has_vpn)]).toEqual([2, true, false])
      for (const [index, profile] of profiles.entries()) {
        await opened.ports.transact(({ vpnProfiles }) => vpnProfiles.remove(profile, NOW))
        expect(await hasVpn(here)).toBe(index === 0)
      }
    })

    test('a removed blocker leaves every read', async () => {
      const organization = await storeOrganization(opened.ports)
      const atb_key = randomUUID()
      const id = await opened.ports.transact(({ threatBlockers }) =>
        threatBlockers.insert({ ...aBlocker({ organization }), atb_key }),
      )
      expect(await remove(id)).toBe(true)
      expect(await remove(id)).toBe(false)
      const { threatBlockers } = opened.ports
      expect(await threatBlockers.findActive(id)).toBeUndefined()
      expect(await threatBlockers.findActiveByKey(atb_key)).toBeUndefined()
      expect((await threatBlockers.listActive([organization], {}, all('id'))).total).toBe(0)
      expect(await threatBlockers.idsOf([organization])).toEqual([])
      expect(await opened.ports.transact((stores) => stores.threatBlockers.update(id, { services: [] }))).toBe(false)
    })

    test('the blockers of a removed organization leave every read', async () => {
      const organization = await storeOrganization(opened.ports)
      const id = await store({ organization })
      const { atb_key = '' } = (await opened.ports.threatBlockers.findActive(id)) ?? {}
      await removeStoredOrganization(opened.ports, organization)
      const { threatBlockers } = opened.ports
      expect(await threatBlockers.findActive(id)).toBeUndefined()
      expect(await threatBlockers.findActiveByKey(atb_key)).toBeUndefined()
      expect((await threatBlockers.listActive([organization], {}, all('id'))).total).toBe(0)
      expect(await opened.ports.transact((stores) => stores.threatBlockers.update(id, { services: [] }))).toBe(false)
      expect(await remove(id)).toBe(false)
    })

    test('names the blockers of these organizations by id, without the removed ones', async () => {
      const [one, other] = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const ids = [
        await store({ organization: one }),
        await store({ organization: other }),
        await store({ organization: one }),
      ]
      await store({ organization: await storeOrganization(opened.ports) })
      await remove(await store({ organization: one }))
      expect(await opened.ports.threatBlockers.idsOf([other, one, NO_ID])).toEqual(ids)
      expect(await opened.ports.threatBlockers.idsOf([])).toEqual([])
    })

    test('a page of blockers is bounded by their bytes', async () => {
      const organization = await storeOrganization(opened.ports)
      const plugins = [
        { name: 'a', config: ODD_JSON },
        { name: ODD_TEXT, config: {} },
      ]
      for (const plugin of plugins) {
        const id = await store({ organization })
        await opened.ports.transact(({ threatBlockers }) => threatBlockers.update(id, { plugin }))
      }
      await store({ organization })
      await expectPageSizeBound(
        (page) => opened.ports.threatBlockers.listActive([organization], {}, page),
        'id',
        [...plugins, { name: 'none', config: {} }].map((plugin) => [plugin]),
      )
    })

    test('lists the blockers of these organizations in every order and by pages', async () => {
      const organizations = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const rows = []
      for (const [index, device_id] of TEXTS_TO_SORT.entries()) {
        const organization = organizations[index % 2] ?? 0
        const type = index % 3 === 0 ? 'parallel' : 'series'
        const email = `${index % 2 ? 'a' : 'B'}${index % 4}@example.com`
        const id = await store({ organization, device_id, type, email })
        rows.push({ id, organization, device_id, type, email })
      }
      await store({ organization: await storeOrganization(opened.ports) })
      await expectOrderAndPages(
        THREAT_BLOCKER_ORDER,
        rows,
        (page) => opened.ports.threatBlockers.listActive(organizations, {}, page),
        ({ id }) => id,
      )
    })

    test('lists the blockers on which a service is enabled', async () => {
      const organization = await storeOrganization(opened.ports)
      const ipv4 = await store({ organization, services: ['Service IPv4 Protection'] })
      const domain = await store({ organization, services: ['Service Domain Protection'] })
      const both = await store({ organization, services: ['Service Domain Protection', 'Service IPv4 Protection'] })
      await store({ organization, services: [] })
      const idsWith = async (service: string) => {
        const page = await opened.ports.threatBlockers.listActive([organization], { service }, all('id'))
        expect(page.total).toBe(page.data.length)
        return page.data.map(({ id }) => id)
      }
      expect(await idsWith('Service IPv4 Protection')).toEqual([ipv4, both])
      expect(await idsWith('Service Domain Protection')).toEqual([domain, both])
      expect(await idsWith('Service')).toEqual([])
      expect(await idsWith('%')).toEqual([])
      const { total } = await opened.ports.threatBlockers.listActive([organization], {}, all('id'))
      expect(total).toBe(4)
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const id = await store({ organization: await storeOrganization(opened.ports) })
      const found = await opened.ports.threatBlockers.findActive(id)
      if (found) {
        found.services.push('Service Domain Protection')
        found.plugin.config.changed = true
        found.organization.name = 'Evil'
      }
      const again = await opened.ports.threatBlockers.findActive(id)
      expect(again?.services).toEqual(['Service IPv4 Protection'])
      expect(again?.plugin.config).toEqual({})
      expect(again?.organization.name).toBe('Acme')
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const organization = await storeOrganization(opened.ports)
      const id = await store({ organization })
      await expectRolledBack(
        opened.ports,
        async ({ threatBlockers }) => {
          await threatBlockers.insert(aBlocker({ organization }))
          await threatBlockers.update(id, { device_id: 'edited' })
          await threatBlockers.remove(id, NOW)
        },
        () => opened.ports.threatBlockers.listActive([organization], {}, all('id')),
      )
    })

    test('an active blocker alone can be locked', async () => {
      const id = await store({ organization: await storeOrganization(opened.ports) })
      const lock = (which: number) => opened.ports.transact(({ threatBlockers }) => threatBlockers.lock(which))
      expect([await lock(id), await lock(NO_ID)]).toEqual([true, false])
      await opened.ports.transact(({ threatBlockers }) => threatBlockers.remove(id, NOW))
      expect(await lock(id)).toBe(false)
    })

    test('ten edits at once that expect the same version: exactly one wins', async () => {
      const organization = await storeOrganization(opened.ports)
      const owner = { user: (await storeMember(opened.ports, organization, 'owner')).id }
      const id = await store({ organization })
      const before = await readThreatBlocker(opened.ports, owner, id)
      const expected = [await versionOf(opened.ports, editableState(before))]
      const results = await tenAtOnce((index) =>
        editThreatBlocker(opened.ports, owner, id, { device_id: `edit ${index}` }, expected),
      )
      const [winner, ...others] = fulfilled(results)
      expect(others).toEqual([])
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'outdated' })
      }
      expect((await opened.ports.threatBlockers.findActive(id))?.device_id).toBe(winner?.device_id)
    })

    test('an edit and a removal at once that expect the same version: exactly one wins', async () => {
      const organization = await storeOrganization(opened.ports)
      const owner = { user: (await storeMember(opened.ports, organization, 'owner')).id }
      for (let times = 0; times < 5; times += 1) {
        const id = await store({ organization })
        const before = await readThreatBlocker(opened.ports, owner, id)
        const expected = [await versionOf(opened.ports, editableState(before))]
        const results = await Promise.allSettled([
          editThreatBlocker(opened.ports, owner, id, { device_id: 'edited' }, expected),
          removeThreatBlocker(opened.ports, owner, id, expected),
        ])
        expect(fulfilled<object>(results)).toHaveLength(1)
      }
    })

    test('ten removals at once: exactly one wins, and one event tells of it', async () => {
      const organization = await storeOrganization(opened.ports)
      const owner = await storeMember(opened.ports, organization, 'owner')
      const id = await store({ organization })
      const results = await tenAtOnce(() => removeThreatBlocker(opened.ports, { user: owner.id }, id))
      expect(fulfilled(results)).toHaveLength(1)
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'not_found' })
      }
      const events = await eventsOf(opened.ports, organization)
      expect(events.map(({ type }) => type)).toEqual(['threat_blocker.removed'])
    })
  })
}
