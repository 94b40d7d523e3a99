import { describe, expect, test } from 'vitest'
import { CLOUD_DEFENSE_ORDER } from '../cloud-defenses/cloud-defense-store.ts'
import { aCloudDefense, NO_ID, ODD_TEXT, removeStoredOrganization, storeOrganization } from './builders.ts'
import { NOW, type Open, openOnce } from './opened.ts'
import { all, expectOrderAndPages, expectPageSizeBound, expectRolledBack, TEXTS_TO_SORT } from './paging.ts'

/** The suite that every adapter of `CloudDefenseStore` must pass. `open` gives empty stores, new at every call. */
export function cloudDefenseStoreContract(adapter: string, open: Open): void {
  describe(`CloudDefenseStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function store(part: Parameters<typeof aCloudDefense>[0]): Promise<number> {
      return opened.ports.transact(({ cloudDefenses }) => cloudDefenses.insert(aCloudDefense(part)))
    }

    test('every field comes back as it was stored', async () => {
      const organization = await storeOrganization(opened.ports, { name: ODD_TEXT, logo: '' })
      const defense = aCloudDefense({
        organization,
        fqdn: 'bücher.example',
        endpoint: '',
        services: ['WAF Protection', 'Service Domain Protection', 'Service IPv4 Protection'],
        check: {
          stat: { fqdn: 0, proxy: 1, endpoint: 0, datetime: '2026-01-01T00:00:00.001Z' },
          status: Number.MAX_SAFE_INTEGER,
          web_stat: [
            { datetime: NOW, waf_protection: 33.33, total_managed_requests: Number.MAX_SAFE_INTEGER },
            { datetime: NOW, waf_protection: 0, total_managed_requests: 0 },
          ],
        },
      })
      const id = await store(defense)
      expect(id).toBeGreaterThanOrEqual(1)
      const expected = { id, ...defense, organization: { id: organization, name: ODD_TEXT, logo: '' } }
      expect(await opened.ports.cloudDefenses.findActive(id)).toEqual(expected)
      const page = await opened.ports.cloudDefenses.listActive([organization], {}, all('id'))
      expect(page).toEqual({ total: 1, data: [expected] })
    })

    test('an id that nothing has finds nothing', async () => {
      expect(await opened.ports.cloudDefenses.findActive(NO_ID)).toBeUndefined()
      expect(await opened.ports.cloudDefenses.listActive([NO_ID], {}, all('id'))).toEqual({ total: 0, data: [] })
      expect(await opened.ports.cloudDefenses.listActive([], {}, all('id'))).toEqual({ total: 0, data: [] })
    })

    test('the records of a removed organization leave every read', async () => {
      const organization = await storeOrganization(opened.ports)
      const id = await store({ organization })
      await removeStoredOrganization(opened.ports, organization)
      expect(await opened.ports.cloudDefenses.findActive(id)).toBeUndefined()
      expect((await opened.ports.cloudDefenses.listActive([organization], {}, all('id'))).total).toBe(0)
    })

    test('lists the records of these organizations in every order and by pages', async () => {
      const organizations = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const rows = []
      for (const [index, fqdn] of TEXTS_TO_SORT.entries()) {
        const organization = organizations[index % 2] ?? 0
        const email = `${index % 2 ? 'a' : 'B'}${index % 4}@example.com`
        rows.push({ id: await store({ organization, fqdn, email }), organization, fqdn, email })
      }
      await store({ organization: await storeOrganization(opened.ports) })
      await expectOrderAndPages(
        CLOUD_DEFENSE_ORDER,
        rows,
        (page) => opened.ports.cloudDefenses.listActive(organizations, {}, page),
        ({ id }) => id,
      )
    })

    test('a page of records is bounded by their bytes', async () => {
      const organization = await storeOrganization(opened.ports)
      const { check } = aCloudDefense({ organization })
      const web_stat = [{ datetime: NOW, total_managed_requests: 3, waf_protection: 0.5 }]
      const parts = [{ services: [] }, { check: { ...check, web_stat } }, {}].map((part) => ({ organization, ...part }))
      for (const part of parts) await store(part)
      await expectPageSizeBound(
        (page) => opened.ports.cloudDefenses.listActive([organization], {}, page),
        'id',
        parts.map(aCloudDefense).map((record) => [record.check, record.services]),
      )
    })

    test('lists the records on which a service is enabled', async () => {
      const organization = await storeOrganization(opened.ports)
      const waf = await store({ organization, services: ['WAF Protection'] })
      const both = await store({ organization, services: ['Service IPv4 Protection', 'WAF Protection'] })
      await store({ organization, services: [] })
      const idsWith = async (service: string) => {
        const page = await opened.ports.cloudDefenses.listActive([organization], { service }, all('id'))
        expect(page.total).toBe(page.data.length)
        return page.data.map(({ id }) => id)
      }
      expect(await idsWith('WAF Protection')).toEqual([waf, both])
      expect(await idsWith('Service IPv4 Protection')).toEqual([both])
      expect(await idsWith('Protection')).toEqual([])
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const id = await store({ organization: await storeOrganization(opened.ports) })
      const found = await opened.ports.cloudDefenses.findActive(id)
      if (found) {
        found.services.length = 0
        found.check.stat.fqdn = 0
      }
      const again = await opened.ports.cloudDefenses.findActive(id)
      expect(again?.services).toEqual(['WAF Protection'])
      expect(again?.check.stat.fqdn).toBe(1)
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const organization = await storeOrganization(opened.ports)
      await expectRolledBack(
        opened.ports,
        ({ cloudDefenses }) => cloudDefenses.insert(aCloudDefense({ organization })),
        () => opened.ports.cloudDefenses.listActive([organization], {}, all('id')),
      )
    })
  })
}
