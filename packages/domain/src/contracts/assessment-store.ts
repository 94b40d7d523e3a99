import { describe, expect, test } from 'vitest'
import { ASSESSMENT_ORDER, type AssessmentFilter } from '../assessments/assessment-store.ts'
import {
  anAssessment,
  NO_ID,
  ODD_FREE_TEXT,
  ODD_TEXT,
  removeStoredOrganization,
  storeOrganization,
} from './builders.ts'
import { type Open, openOnce } from './opened.ts'
import { all, expectOrderAndPages, expectPageSizeBound, expectRolledBack } from './paging.ts'

/** The suite that every adapter of `AssessmentStore` must pass. `open` gives empty stores, new at every call. */
export function assessmentStoreContract(adapter: string, open: Open): void {
  describe(`AssessmentStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function store(part: Parameters<typeof anAssessment>[0]): Promise<number> {
      return opened.ports.transact(({ assessments }) => assessments.insert(anAssessment(part)))
    }

    test('every field comes back as it was stored, and the interviewed person never', async () => {
      const organization = await storeOrganization(opened.ports)
      const { interviewed_user, ...assessment } = anAssessment({
        organization,
        created_at: '2025-12-31T23:59:59.999Z',
        score: 0,
        name: { en: ODD_TEXT, it: '' },
        description: { en: '', it: ODD_FREE_TEXT },
        interviewed_user: ODD_TEXT,
      })
      const id = await store({ ...assessment, interviewed_user })
      expect(id).toBeGreaterThanOrEqual(1)
      const { organization: _, ...shown } = assessment
      const expected = { id, ...shown }
      expect(await opened.ports.assessments.findActive(id)).toEqual({ assessment: expected, organization })
      const page = await opened.ports.assessments.listActive([organization], {}, all('id'))
      expect(page).toEqual({ total: 1, data: [expected] })
    })

    test('an id that nothing has finds nothing', async () => {
      expect(await opened.ports.assessments.findActive(NO_ID)).toBeUndefined()
      expect(await opened.ports.assessments.listActive([NO_ID], {}, all('id'))).toEqual({ total: 0, data: [] })
      expect(await opened.ports.assessments.listActive([], {}, all('id'))).toEqual({ total: 0, data: [] })
    })

    test('the assessments of a removed organization leave every read', async () => {
      const organization = await storeOrganization(opened.ports)
      const id = await store({ organization })
      await removeStoredOrganization(opened.ports, organization)
      expect(await opened.ports.assessments.findActive(id)).toBeUndefined()
      expect((await opened.ports.assessments.listActive([organization], {}, all('id'))).total).toBe(0)
    })

    test('a page of assessments is bounded by their bytes', async () => {
      const organization = await storeOrganization(opened.ports)
      const parts = [{ description: { en: ODD_TEXT, it: '' } }, { name: { en: '', it: 'à' } }, {}].map((part) => ({
        organization,
        ...part,
      }))
      for (const part of parts) await store(part)
      await expectPageSizeBound(
        (page) => opened.ports.assessments.listActive([organization], {}, page),
        'id',
        parts.map(anAssessment).map(({ name, description }) => [name, description]),
      )
    })

    test('lists the assessments of these organizations in every order and by pages', async () => {
      const organizations = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const rows = []
      for (let index = 0; index < 9; index += 1) {
        const created_at = `2026-01-0${1 + (index % 4)}T00:00:00.000Z`
        const score = [100, 9, 10, 9][index % 4] ?? 0
        const id = await store({ organization: organizations[index % 2] ?? 0, created_at, score })
        rows.push({ id, created_at, score })
      }
      await store({ organization: await storeOrganization(opened.ports) })
      await expectOrderAndPages(
        ASSESSMENT_ORDER,
        rows,
        (page) => opened.ports.assessments.listActive(organizations, {}, page),
        ({ id }) => id,
      )
    })

    test.each<[AssessmentFilter, number[]]>([
      [{}, [1, 2, 3]],
      [{ created_from: '2026-01-02T00:00:00.000Z' }, [2, 3]],
      [{ created_from: '2026-01-02T00:00:00.001Z' }, [3]],
      [{ created_to: '2026-01-02T00:00:00.000Z' }, [1, 2]],
      [{ created_to: '2026-01-01T23:59:59.999Z' }, [1]],
      [{ created_from: '2026-01-02T00:00:00.000Z', created_to: '2026-01-02T00:00:00.000Z' }, [2]],
      [{ created_from: '2026-01-03T00:00:00.000Z', created_to: '2026-01-01T00:00:00.000Z' }, []],
      [{ search: 'école' }, [1, 2]],
      [{ search: 'ÉCOLE' }, [1, 2]],
      [{ search: 'MARIO%' }, [3]],
      [{ search: '%' }, [3]],
      [{ search: '_' }, []],
      [{ search: 'ros' }, [2]],
      [{ search: 'Yearly' }, []],
      [{ search: '' }, [1, 2, 3]],
      [{ search: 'o', created_to: '2026-01-01T00:00:00.000Z' }, [1]],
    ])('the filter %j leaves the assessments %j', async (filter, expected) => {
      const [school, other] = [
        await storeOrganization(opened.ports, { name: 'L’École' }),
        await storeOrganization(opened.ports, { name: 'Acme' }),
      ]
      await store({ organization: school, score: 1, created_at: '2026-01-01T00:00:00.000Z' })
      await store({
        organization: school,
        score: 2,
        created_at: '2026-01-02T00:00:00.000Z',
        interviewed_user: 'Ada ROSSI',
      })
      await store({
        organization: other,
        score: 3,
        created_at: '2026-01-03T00:00:00.000Z',
        interviewed_user: 'Mario% Bianchi',
      })
      const page = await opened.ports.assessments.listActive([school, other], filter, all('score'))
      expect(page.data.map(({ score }) => score)).toEqual(expected)
      expect(page.total).toBe(expected.length)
    })

    test('a renamed organization is found by its new name', async () => {
      const organization = await storeOrganization(opened.ports, { name: 'Before' })
      await store({ organization })
      await opened.ports.transact(({ organizations }) => organizations.update(organization, { name: 'ÀFTER' }))
      const found = async (search: string) =>
        (await opened.ports.assessments.listActive([organization], { search }, all('id'))).total
      expect([await found('àfter'), await found('before')]).toEqual([1, 0])
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const id = await store({ organization: await storeOrganization(opened.ports) })
      const found = await opened.ports.assessments.findActive(id)
      if (found) found.assessment.name.en = 'Evil'
      expect((await opened.ports.assessments.findActive(id))?.assessment.name.en).toBe('Yearly review')
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const organization = await storeOrganization(opened.ports)
      await expectRolledBack(
        opened.ports,
        ({ assessments }) => assessments.insert(anAssessment({ organization })),
        () => opened.ports.assessments.listActive([organization], {}, all('id')),
      )
    })
  })
}
