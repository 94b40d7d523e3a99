import { describe, expect, test } from 'vitest'
import { editOrganization } from '../organizations/edit-organization.ts'
import type { NewOrganization } from '../organizations/organization.ts'
import { ORGANIZATION_ORDER, type OrganizationFilter } from '../organizations/organization-store.ts'
import { readOrganization } from '../organizations/read-organization.ts'
import { removeOrganization } from '../organizations/remove-organization.ts'
import { versionOf } from '../version.ts'
import { anOrganization, NO_ID, ODD_FREE_TEXT, ODD_TEXT, storeMember, storeOrganization } from './builders.ts'
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

/** The suite that every adapter of `OrganizationStore` must pass. `open` gives empty stores, new at every call. */
export function organizationStoreContract(adapter: string, open: Open): void {
  describe(`OrganizationStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function store(...parts: Partial<NewOrganization>[]): Promise<number[]> {
      return opened.ports.transact(async ({ organizations }) => {
        const ids: number[] = []
        for (const part of parts) ids.push(await organizations.insert(anOrganization(part)))
        return ids
      })
    }

    async function remove(id: number) {
      return opened.ports.transact(({ organizations }) => organizations.remove(id, NOW))
    }

    test('every field comes back as it was stored', async () => {
      const organization = anOrganization({
        name: ODD_TEXT,
        description: ODD_FREE_TEXT,
        number_employees: Number.MAX_SAFE_INTEGER,
        website: 'https://münchen.example/?q=%20#x',
        logo: '',
        sectors: ['Health Care', 'Arts & Entertainment'],
        industries: ['Writing/Editing', 'Accounting'],
        contacts: [
          { name: ODD_TEXT, role: '', email: 'A.b+c@example.com', phone: '+39 02 1234', email_report: true },
          { name: 'Bo', role: ODD_TEXT, email: 'bo@example.com', phone: '', email_report: false },
        ],
        domains: ['b.example', 'a.example', 'bücher.example'],
        ips: ['2001:db8::1', '192.0.2.1'],
        infrastructure: 'on-prem',
      })
      const [id = 0] = await store(organization)
      expect(id).toBeGreaterThanOrEqual(1)
      expect(await opened.ports.organizations.findActive(id)).toEqual({ id, ...organization })
    })

    test('empty fields come back empty', async () => {
      const empty = { description: '', website: '', logo: '', sectors: [], industries: [], contacts: [] }
      const organization = anOrganization({
        ...empty,
        number_employees: 0,
        domains: [],
        ips: [],
        infrastructure: '',
      })
      const [id = 0] = await store(organization)
      expect(await opened.ports.organizations.findActive(id)).toEqual({ id, ...organization })
    })

    test('an id that nothing has finds nothing', async () => {
      const { organizations } = opened.ports
      expect(await organizations.findActive(NO_ID)).toBeUndefined()
      expect(await organizations.isActive(NO_ID)).toBe(false)
      expect(await organizations.listActive([NO_ID], {}, all('id'))).toEqual({ total: 0, data: [] })
      expect(await organizations.listActive([], {}, all('id'))).toEqual({ total: 0, data: [] })
      expect(await remove(NO_ID)).toBeUndefined()
      expect(await opened.ports.transact((stores) => stores.organizations.update(NO_ID, { name: 'x' }))).toBeUndefined()
      expect(await opened.ports.transact((stores) => stores.organizations.lock(NO_ID))).toBe(false)
    })

    test('an edit replaces what it names and leaves the rest', async () => {
      const [id = 0, other = 0] = await store({ name: 'before' }, { name: 'other' })
      const before = await opened.ports.organizations.findActive(id)
      const edit = { name: ODD_TEXT, ips: [], number_employees: 3, infrastructure: undefined }
      const after = await opened.ports.transact(({ organizations }) => organizations.update(id, edit))
      expect(after).toEqual({ ...before, name: ODD_TEXT, ips: [], number_employees: 3 })
      expect(await opened.ports.organizations.findActive(id)).toEqual(after)
      expect((await opened.ports.organizations.findActive(other))?.name).toBe('other')
      expect(await opened.ports.transact(({ organizations }) => organizations.update(id, {}))).toEqual(after)
    })

    test('a name that was edited is found by its new text', async () => {
      const [id = 0] = await store({ name: 'before' })
      await opened.ports.transact(({ organizations }) => organizations.update(id, { name: 'ÉTÉ' }))
      const found = await opened.ports.organizations.listActive([id], { name: 'été' }, all('id'))
      expect(found.total).toBe(1)
    })

    test('a removed organization is returned once and leaves every read', async () => {
      const [id = 0] = await store({ name: 'gone' })
      const before = await opened.ports.organizations.findActive(id)
      expect(await remove(id)).toEqual(before)
      expect(await remove(id)).toBeUndefined()
      expect(await opened.ports.organizations.findActive(id)).toBeUndefined()
      expect(await opened.ports.organizations.isActive(id)).toBe(false)
      expect((await opened.ports.organizations.listActive([id], {}, all('id'))).total).toBe(0)
      await opened.ports.transact(async ({ organizations }) => {
        expect(await organizations.lock(id)).toBe(false)
        expect(await organizations.update(id, { name: 'back' })).toBeUndefined()
      })
    })

    test('lists only the organizations asked for, in every order and by pages', async () => {
      const parts = TEXTS_TO_SORT.map((name, index) => ({ name, number_employees: index % 3 }))
      const ids = await store(...parts)
      await store({ name: 'not asked for' })
      const rows = parts.map((part, index) => ({ ...part, id: ids[index] ?? 0 }))
      await expectOrderAndPages(
        ORGANIZATION_ORDER,
        rows,
        (page) => opened.ports.organizations.listActive(ids, {}, page),
        ({ id }) => id,
      )
    })

    test('a page of organizations is bounded by their bytes', async () => {
      const parts = [{ description: ODD_TEXT }, { domains: ['é.example'], ips: [] }, { industries: [] }]
      const ids = await store(...parts)
      await expectPageSizeBound(
        (page) => opened.ports.organizations.listActive(ids, {}, page),
        'id',
        parts.map((part) => {
          const { description, sectors, industries, contacts, domains, ips } = anOrganization(part)
          return [description, sectors, industries, contacts, domains, ips]
        }),
      )
    })

    test('lists a caller with a thousand organizations', async () => {
      const ids = await store(...Array.from({ length: 1000 }, (_, index) => ({ name: `n${index}` })))
      const page = await opened.ports.organizations.listActive(ids, {}, { limit: 2, offset: 998, order: 'id' })
      expect(page.total).toBe(1000)
      expect(page.data.map(({ name }) => name)).toEqual(['n998', 'n999'])
    })

    test.each<[OrganizationFilter, string[]]>([
      [{}, ['50% Off_Co', 'École', 'İstanbul A.Ş.', '50 percent']],
      [{ name: '%' }, ['50% Off_Co']],
      [{ name: '_' }, ['50% Off_Co']],
      [{ name: '50%' }, ['50% Off_Co']],
      [{ name: '50' }, ['50% Off_Co', '50 percent']],
      [{ name: 'OFF_c' }, ['50% Off_Co']],
      [{ name: '\\' }, []],
      [{ name: 'éCOLE' }, ['École']],
      [{ name: 'e\u0301cole' }, ['École']],
      [{ name: 'a.ş' }, ['İstanbul A.Ş.']],
      [{ name: 'İST' }, ['İstanbul A.Ş.']],
      [{ name: 'istan' }, ['İstanbul A.Ş.']],
      [{ name: '' }, ['50% Off_Co', 'École', 'İstanbul A.Ş.', '50 percent']],
      [{ sectors: ['Energy'] }, ['50% Off_Co', 'École']],
      [{ sectors: ['Energy', 'Retail'] }, ['50% Off_Co', 'École', '50 percent']],
      [{ sectors: [] }, []],
      [{ sectors: ['Arts & Entertainment'] }, ['École']],
      [{ industries: ['Dairy'] }, ['École']],
      [{ industries: [] }, []],
      [{ industries: ['Dairy', 'Tobacco'], sectors: ['Retail'] }, []],
      [{ name: 'o', sectors: ['Energy'], industries: ['Dairy'] }, ['École']],
    ])('the filter %j leaves %j', async (filter, expected) => {
      const ids = await store(
        { name: '50% Off_Co', sectors: ['Energy', 'Retail'], industries: [] },
        { name: 'École', sectors: ['Arts & Entertainment', 'Energy'], industries: ['Dairy'] },
        { name: 'İstanbul A.Ş.', sectors: [], industries: ['Utilities'] },
        { name: '50 percent', sectors: ['Retail'], industries: [] },
      )
      const page = await opened.ports.organizations.listActive(ids, filter, all('id'))
      expect(page.data.map(({ name }) => name)).toEqual(expected)
      expect(page.total).toBe(expected.length)
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const sent = anOrganization({ contacts: [], sectors: ['Energy'] })
      const [id = 0] = await store(sent)
      sent.sectors.push('Retail')
      const first = await opened.ports.organizations.findActive(id)
      first?.sectors.push('Education')
      const [listed] = (await opened.ports.organizations.listActive([id], {}, all('id'))).data
      listed?.sectors.push('Media')
      expect((await opened.ports.organizations.findActive(id))?.sectors).toEqual(['Energy'])
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const [id = 0] = await store({ name: 'stays' })
      let inserted = 0
      await expectRolledBack(
        opened.ports,
        async ({ organizations }) => {
          inserted = await organizations.insert(anOrganization())
          await organizations.update(id, { name: 'edited' })
          await organizations.remove(id, NOW)
        },
        () => opened.ports.organizations.findActive(id),
      )
      expect(await opened.ports.organizations.findActive(inserted)).toBeUndefined()
    })

    test('ten removals at once: exactly one wins', async () => {
      const id = await storeOrganization(opened.ports)
      const results = fulfilled(await tenAtOnce(() => remove(id)))
      expect(results).toHaveLength(10)
      expect(results.filter(Boolean)).toHaveLength(1)
    })

    test('ten edits and removals at once that expect the same version: exactly one wins', async () => {
      const id = await storeOrganization(opened.ports, { name: 'before' })
      const owner = { user: (await storeMember(opened.ports, id, 'owner')).id }
      const expected = [await versionOf(opened.ports, await readOrganization(opened.ports, owner, id))]
      const results = await tenAtOnce((index) =>
        index < 8
          ? editOrganization(opened.ports, owner, id, { name: `edit ${index}` }, expected)
          : removeOrganization(opened.ports, owner, id, expected),
      )
      expect(fulfilled(results)).toHaveLength(1)
    })

    test('who holds the lock can read and then write: ten raises at once add up', async () => {
      const id = await storeOrganization(opened.ports, { number_employees: 0 })
      await tenAtOnce(() =>
        opened.ports.transact(async ({ organizations }) => {
          expect(await organizations.lock(id)).toBe(true)
          const { number_employees = 0 } = (await organizations.findActive(id)) ?? {}
          await organizations.update(id, { number_employees: number_employees + 1 })
        }),
      )
      expect((await opened.ports.organizations.findActive(id))?.number_employees).toBe(10)
    })
  })
}
