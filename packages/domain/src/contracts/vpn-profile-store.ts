import { describe, expect, test } from 'vitest'
import { VPN_PROFILE_ORDER } from '../vpn-profiles/vpn-profile-store.ts'
import { aVpnProfile, NO_ID, ODD_TEXT, removeStoredOrganization, storeOrganization, storeUser } from './builders.ts'
import { NOW, type Open, openOnce } from './opened.ts'
import { all, expectOrderAndPages, expectRolledBack, fulfilled, tenAtOnce } from './paging.ts'

/** The suite that every adapter of `VpnProfileStore` must pass. `open` gives empty stores, new at every call. */
export function vpnProfileStoreContract(adapter: string, open: Open): void {
  describe(`VpnProfileStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function store(part: Parameters<typeof aVpnProfile>[0]): Promise<number> {
      return opened.ports.transact(({ vpnProfiles }) => vpnProfiles.insert(aVpnProfile(part)))
    }
    async function remove(id: number): Promise<boolean> {
      return opened.ports.transact(({ vpnProfiles }) => vpnProfiles.remove(id, NOW))
    }

    test('every field comes back as it was stored', async () => {
      const organization = await storeOrganization(opened.ports, { name: ODD_TEXT })
      const { id: user_id } = await storeUser(opened.ports)
      const profile = aVpnProfile({
        organization,
        user_id,
        email: 'Road.Warrior@Example.com',
        created_at: '2025-12-31T23:59:59.999Z',
      })
      const id = await store(profile)
      expect(id).toBeGreaterThanOrEqual(1)
      const summary = { id: organization, name: ODD_TEXT, logo: 'https://acme.example/logo.png' }
      const expected = { id, ...profile, organization: summary }
      expect(await opened.ports.vpnProfiles.findActive(id)).toEqual(expected)
      const page = await opened.ports.vpnProfiles.listActive([organization], all('id'))
      expect(page).toEqual({ total: 1, data: [expected] })
    })

    test('several profiles may have the same address', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user_id } = await storeUser(opened.ports)
      expect(await store({ organization, user_id })).not.toBe(await store({ organization, user_id }))
    })

    test('an id that nothing has finds nothing', async () => {
      expect(await opened.ports.vpnProfiles.findActive(NO_ID)).toBeUndefined()
      expect(await opened.ports.vpnProfiles.listActive([NO_ID], all('id'))).toEqual({ total: 0, data: [] })
      expect(await opened.ports.vpnProfiles.listActive([], all('id'))).toEqual({ total: 0, data: [] })
      expect(await remove(NO_ID)).toBe(false)
    })

    test('a removed profile leaves every read', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ organization, user_id })
      expect(await remove(id)).toBe(true)
      expect(await remove(id)).toBe(false)
      expect(await opened.ports.vpnProfiles.findActive(id)).toBeUndefined()
      expect((await opened.ports.vpnProfiles.listActive([organization], all('id'))).total).toBe(0)
    })

    test('the profiles of a removed organization leave every read', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ organization, user_id })
      await removeStoredOrganization(opened.ports, organization)
      expect(await opened.ports.vpnProfiles.findActive(id)).toBeUndefined()
      expect((await opened.ports.vpnProfiles.listActive([organization], all('id'))).total).toBe(0)
      expect(await remove(id)).toBe(false)
    })

    test('lists the profiles of these organizations in every order and by pages', async () => {
      const organizations = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const { id: user_id } = await storeUser(opened.ports)
      const rows = []
      for (let index = 0; index < 8; index += 1) {
        const organization = organizations[index % 2] ?? 0
        const email = `${index % 3 ? 'a' : 'B'}${index % 4}@example.com`
        const created_at = `2026-01-0${1 + (index % 3)}T00:00:00.000Z`
        const id = await store({ organization, user_id, email, created_at })
        rows.push({ id, organization, email, created_at })
      }
      await store({ organization: await storeOrganization(opened.ports), user_id })
      await expectOrderAndPages(
        VPN_PROFILE_ORDER,
        rows,
        (page) => opened.ports.vpnProfiles.listActive(organizations, page),
        ({ id }) => id,
      )
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ organization, user_id })
      const found = await opened.ports.vpnProfiles.findActive(id)
      if (found) {
        found.email = 'evil@example.com'
        found.organization.name = 'Evil'
      }
      expect(await opened.ports.vpnProfiles.findActive(id)).toMatchObject({
        email: 'road@acme.example',
        organization: { name: 'Acme' },
      })
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ organization, user_id })
      await expectRolledBack(
        opened.ports,
        async ({ vpnProfiles }) => {
          await vpnProfiles.insert(aVpnProfile({ organization, user_id }))
          await vpnProfiles.remove(id, NOW)
        },
        () => opened.ports.vpnProfiles.listActive([organization], all('id')),
      )
    })

    test('ten removals at once: exactly one wins', async () => {
      const organization = await storeOrganization(opened.ports)
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ organization, user_id })
      const results = fulfilled(await tenAtOnce(() => remove(id)))
      expect(results).toHaveLength(10)
      expect(results.filter(Boolean)).toHaveLength(1)
    })
  })
}
