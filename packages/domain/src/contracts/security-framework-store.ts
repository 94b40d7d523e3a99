import { describe, expect, test } from 'vitest'
import { attachEvidence } from '../security-frameworks/attach-evidence.ts'
import { editSecurityFramework } from '../security-frameworks/edit-security-framework.ts'
import { readSecurityFramework } from '../security-frameworks/read-security-framework.ts'
import { removeSecurityFramework } from '../security-frameworks/remove-security-framework.ts'
import type { Evidence, SecurityFramework } from '../security-frameworks/security-framework.ts'
import { type ScheduledControl, SECURITY_FRAMEWORK_ORDER } from '../security-frameworks/security-framework-store.ts'
import { versionOf } from '../version.ts'
import {
  aControl,
  aFramework,
  anEvidence,
  NO_ID,
  ODD_FREE_TEXT,
  ODD_JSON,
  ODD_TEXT,
  removeStoredOrganization,
  storeMember,
  storeOrganization,
} from './builders.ts'
import { NOW, type Open, openFresh, openOnce } from './opened.ts'
import {
  all,
  expectOrderAndPages,
  expectPageSizeBound,
  expectRolledBack,
  fulfilled,
  TEXTS_TO_SORT,
  tenAtOnce,
} from './paging.ts'

/** The suite that every adapter of `SecurityFrameworkStore` must pass. `open` gives empty stores, new at every call. */
export function securityFrameworkStoreContract(adapter: string, open: Open): void {
  describe(`SecurityFrameworkStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function store(
      part: Partial<SecurityFramework> & { organization: number; created_at?: string },
      ports = opened.ports,
    ): Promise<number> {
      return ports.transact(({ securityFrameworks }) => securityFrameworks.insert(aFramework(part)))
    }
    async function update(framework: SecurityFramework): Promise<void> {
      await opened.ports.transact(({ securityFrameworks }) => securityFrameworks.update(framework))
    }
    async function remove(organization: number, id: number): Promise<boolean> {
      return opened.ports.transact(({ securityFrameworks }) => securityFrameworks.remove(organization, id, NOW))
    }

    const ODD_CONTROL = aControl({
      id: 'A/5.1 %_ "é" 🛡️',
      type: ODD_TEXT,
      title: ODD_TEXT,
      weight: 0.1,
      details: ODD_JSON,
      evidences: [
        anEvidence({ files: [], details: ODD_FREE_TEXT, completed: Number.MAX_SAFE_INTEGER, residual_risk: 1e21 }),
        anEvidence({ files: ['/api/v1/documents/a', ODD_TEXT], details: '', completed: 0, residual_risk: 0 }),
        anEvidence({ datetime: '2020-01-01T00:00:00.000Z' }),
      ],
      frequency: '*/5 0 1,15 * mon-fri',
      description: ODD_FREE_TEXT,
      evidence_type: 'automated',
    })

    test('every field comes back as it was stored', async () => {
      const organization = await storeOrganization(opened.ports)
      const security_frameworks = [ODD_CONTROL, aControl({ id: '__proto__' }), aControl({ id: 'constructor' })]
      const id = await store({ organization, title: ODD_TEXT, security_frameworks })
      expect(id).toBeGreaterThanOrEqual(1)
      const expected = { id, title: ODD_TEXT, security_frameworks }
      const found = await opened.ports.securityFrameworks.findActive(organization, id)
      expect(found).toEqual(expected)
      expect(JSON.stringify(found?.security_frameworks[0]?.details)).toBe(JSON.stringify(ODD_JSON))
      expect(await opened.ports.securityFrameworks.isActive(organization, id)).toBe(true)
      const page = await opened.ports.securityFrameworks.listActive(organization, all('id'))
      expect(page).toEqual({ total: 1, data: [expected] })
    })

    test('a framework may have no controls, and keeps the order of a thousand', async () => {
      const organization = await storeOrganization(opened.ports)
      const none = await store({ organization, security_frameworks: [] })
      expect((await opened.ports.securityFrameworks.findActive(organization, none))?.security_frameworks).toEqual([])
      const controls = Array.from({ length: 1000 }, (_, index) => aControl({ id: `${(index * 7) % 1000}` }))
      const many = await store({ organization, security_frameworks: controls })
      const found = await opened.ports.securityFrameworks.findActive(organization, many)
      expect(found?.security_frameworks.map(({ id }) => id)).toEqual(controls.map(({ id }) => id))
    })

    test('one control is found by its exact id', async () => {
      const organization = await storeOrganization(opened.ports)
      const id = await store({ organization, security_frameworks: [aControl({ id: 'a' }), ODD_CONTROL] })
      const { securityFrameworks } = opened.ports
      expect(await securityFrameworks.findControl(organization, id, ODD_CONTROL.id)).toEqual(ODD_CONTROL)
      expect(await securityFrameworks.findControl(organization, id, 'a')).toEqual(aControl({ id: 'a' }))
      expect(await securityFrameworks.findControl(organization, id, 'A')).toBeUndefined()
      expect(await securityFrameworks.findControl(organization, id, '%')).toBeUndefined()
      expect(await securityFrameworks.findControl(organization, NO_ID, 'a')).toBeUndefined()
      expect(await securityFrameworks.findControl(NO_ID, id, 'a')).toBeUndefined()
    })

    test('the size of all controls is that of their JSON', async () => {
      const organization = await storeOrganization(opened.ports)
      const sizeAfter = async (security_frameworks: SecurityFramework['security_frameworks']) => {
        const id = await store({ organization, security_frameworks })
        return opened.ports.securityFrameworks.controlsSize(id)
      }
      const controls = [ODD_CONTROL, aControl({ id: '\\"\\\\""\'' }), aControl({ evidences: [anEvidence()] })]
      const bytes = controls.map((control) => Buffer.byteLength(JSON.stringify(control)))
      expect(await sizeAfter(controls)).toBe(bytes.reduce((sum, size) => sum + size, 0))
      expect(await sizeAfter([])).toBe(0)
      expect(await opened.ports.securityFrameworks.controlsSize(NO_ID)).toBe(0)
    })

    test('a framework is found in its own organization alone', async () => {
      const [organization, other] = [await storeOrganization(opened.ports), await storeOrganization(opened.ports)]
      const id = await store({ organization })
      const { securityFrameworks } = opened.ports
      for (const [place, framework] of [
        [other, id],
        [organization, NO_ID],
        [NO_ID, id],
      ] as const) {
        expect(await securityFrameworks.findActive(place, framework)).toBeUndefined()
        expect(await securityFrameworks.isActive(place, framework)).toBe(false)
        expect(await securityFrameworks.findControl(place, framework, 'A.5.1')).toBeUndefined()
        expect(await opened.ports.transact((stores) => stores.securityFrameworks.lock(place, framework))).toBe(false)
        expect(await remove(place, framework)).toBe(false)
      }
      expect(await opened.ports.transact((stores) => stores.securityFrameworks.lock(organization, id))).toBe(true)
      expect(await securityFrameworks.listActive(NO_ID, all('id'))).toEqual({ total: 0, data: [] })
    })

    test('an update replaces the title and all controls', async () => {
      const organization = await storeOrganization(opened.ports)
      const [id, other] = [await store({ organization }), await store({ organization })]
      const after = { id, title: ODD_TEXT, security_frameworks: [aControl({ id: 'new' }), ODD_CONTROL] }
      await update(after)
      expect(await opened.ports.securityFrameworks.findActive(organization, id)).toEqual(after)
      await update({ ...after, security_frameworks: [] })
      expect(await opened.ports.securityFrameworks.findActive(organization, id)).toEqual({
        ...after,
        security_frameworks: [],
      })
      const untouched = await opened.ports.securityFrameworks.findActive(organization, other)
      expect(untouched?.security_frameworks).toEqual([aControl()])
    })

    test('the evidence of one control is replaced, and nothing else', async () => {
      const organization = await storeOrganization(opened.ports)
      const first = aControl({ id: 'a', evidences: [anEvidence()] })
      const id = await store({ organization, security_frameworks: [first, ODD_CONTROL] })
      const evidences = [anEvidence({ details: ODD_FREE_TEXT }), anEvidence()]
      await opened.ports.transact((stores) => stores.securityFrameworks.setEvidences(id, ODD_CONTROL.id, evidences))
      const found = await opened.ports.securityFrameworks.findActive(organization, id)
      expect(found?.security_frameworks).toEqual([first, { ...ODD_CONTROL, evidences }])
    })

    test('a removed framework leaves every read', async () => {
      const organization = await storeOrganization(opened.ports)
      const id = await store({ organization })
      expect(await remove(organization, id)).toBe(true)
      expect(await remove(organization, id)).toBe(false)
      const { securityFrameworks } = opened.ports
      expect(await securityFrameworks.findActive(organization, id)).toBeUndefined()
      expect(await securityFrameworks.findControl(organization, id, 'A.5.1')).toBeUndefined()
      expect(await securityFrameworks.isActive(organization, id)).toBe(false)
      expect((await securityFrameworks.listActive(organization, all('id'))).total).toBe(0)
      expect(await opened.ports.transact((stores) => stores.securityFrameworks.lock(organization, id))).toBe(false)
    })

    test('the frameworks of a removed organization leave every read', async () => {
      const organization = await storeOrganization(opened.ports)
      const id = await store({ organization })
      await removeStoredOrganization(opened.ports, organization)
      const { securityFrameworks } = opened.ports
      expect(await securityFrameworks.findActive(organization, id)).toBeUndefined()
      expect(await securityFrameworks.findControl(organization, id, 'A.5.1')).toBeUndefined()
      expect(await securityFrameworks.isActive(organization, id)).toBe(false)
      expect((await securityFrameworks.listActive(organization, all('id'))).total).toBe(0)
      expect(await opened.ports.transact((stores) => stores.securityFrameworks.lock(organization, id))).toBe(false)
      expect(await remove(organization, id)).toBe(false)
    })

    test('a page of frameworks is bounded by the bytes of their controls', async () => {
      const organization = await storeOrganization(opened.ports)
      const frameworks = [[ODD_CONTROL, aControl()], [], [aControl({ evidences: [anEvidence()] })]]
      for (const security_frameworks of frameworks) await store({ organization, security_frameworks })
      await expectPageSizeBound(
        (page) => opened.ports.securityFrameworks.listActive(organization, page),
        'id',
        frameworks,
      )
    })

    test('lists the frameworks of an organization in every order and by pages', async () => {
      const organization = await storeOrganization(opened.ports)
      const rows = []
      for (const title of TEXTS_TO_SORT) rows.push({ id: await store({ organization, title }), title })
      await store({ organization: await storeOrganization(opened.ports) })
      await expectOrderAndPages(
        SECURITY_FRAMEWORK_ORDER,
        rows,
        (page) => opened.ports.securityFrameworks.listActive(organization, page),
        ({ id }) => id,
      )
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const organization = await storeOrganization(opened.ports)
      const id = await store({ organization })
      const found = await opened.ports.securityFrameworks.findActive(organization, id)
      found?.security_frameworks[0]?.evidences.push(anEvidence())
      const control = await opened.ports.securityFrameworks.findControl(organization, id, 'A.5.1')
      if (control) control.details.changed = true
      const again = await opened.ports.securityFrameworks.findActive(organization, id)
      expect(again?.security_frameworks).toEqual([aControl()])
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const organization = await storeOrganization(opened.ports)
      const [edited, removed] = [await store({ organization }), await store({ organization })]
      await expectRolledBack(
        opened.ports,
        async ({ securityFrameworks }) => {
          await securityFrameworks.insert(aFramework({ organization }))
          await securityFrameworks.update({ id: edited, title: 'edited', security_frameworks: [ODD_CONTROL] })
          await securityFrameworks.setEvidences(edited, ODD_CONTROL.id, [])
          await securityFrameworks.noteTold(edited, ODD_CONTROL.id, NOW)
          await securityFrameworks.remove(organization, removed, NOW)
        },
        () => opened.ports.securityFrameworks.listActive(organization, all('id')),
      )
    })

    describe('scheduled controls', () => {
      const START = { framework: 0, position: 0 }

      test('are those with a frequency, of active frameworks of active organizations', async () => {
        await openFresh(open, async (ports) => {
          expect(await ports.securityFrameworks.listScheduled(START, 10)).toEqual([])
          const organization = await storeOrganization(ports)
          const created_at = '2026-01-01T00:00:00.000Z'
          const security_frameworks = [
            aControl({ id: 'none' }),
            aControl({
              id: 'open',
              frequency: '0 0 * * *',
              evidences: [anEvidence({ completed: 0, datetime: '2026-02-09T00:00:00.000Z' })],
            }),
            aControl({
              id: 'done',
              frequency: '0 0 1 * *',
              evidences: [
                anEvidence({ completed: 1, datetime: '2026-02-01T00:00:00.000Z' }),
                anEvidence({ completed: 2, datetime: '2026-02-03T00:00:00.000Z' }),
                anEvidence({ completed: 1, datetime: '2026-02-02T00:00:00.000Z' }),
                anEvidence({ completed: 0, datetime: '2026-02-04T00:00:00.000Z' }),
              ],
            }),
          ]
          const framework = await store({ organization, title: ODD_TEXT, security_frameworks, created_at }, ports)
          const scheduled = [aControl({ frequency: '0 0 * * *' })]
          const removed = await store({ organization, security_frameworks: scheduled }, ports)
          await ports.transact((stores) => stores.securityFrameworks.remove(organization, removed, NOW))
          const gone = await storeOrganization(ports)
          await store({ organization: gone, security_frameworks: scheduled }, ports)
          await removeStoredOrganization(ports, gone)

          const place = { organization, framework, title: ODD_TEXT, told: null }
          expect(await ports.securityFrameworks.listScheduled(START, 10)).toEqual([
            { ...place, control: 'open', position: 1, frequency: '0 0 * * *', since: created_at },
            { ...place, control: 'done', position: 2, frequency: '0 0 1 * *', since: '2026-02-03T00:00:00.000Z' },
          ])
        })
      })

      test('follow the edits of their framework', async () => {
        await openFresh(open, async (ports) => {
          const organization = await storeOrganization(ports)
          const control = aControl({ frequency: '0 0 * * *' })
          const id = await store({ organization, security_frameworks: [control] }, ports)
          const since = async () =>
            (await ports.securityFrameworks.listScheduled(START, 10)).map((found) => found.since)
          expect(await since()).toEqual([NOW])
          const evidences = [anEvidence({ datetime: '2026-04-01T00:00:00.000Z' })]
          await ports.transact((stores) => stores.securityFrameworks.setEvidences(id, control.id, evidences))
          expect(await since()).toEqual(['2026-04-01T00:00:00.000Z'])
          const framework = { id, title: 'x', security_frameworks: [aControl({ frequency: '' })] }
          await ports.transact((stores) => stores.securityFrameworks.update(framework))
          expect(await since()).toEqual([])
        })
      })

      test('are told of again once they were removed and came back', async () => {
        await openFresh(open, async (ports) => {
          const organization = await storeOrganization(ports)
          const controls = ['kept', 'removed'].map((id) => aControl({ id, frequency: '0 0 * * *' }))
          const id = await store({ organization, security_frameworks: controls }, ports)
          const put = (security_frameworks: SecurityFramework['security_frameworks']) =>
            ports.transact((stores) => stores.securityFrameworks.update({ id, title: 'x', security_frameworks }))
          const told = async () => (await ports.securityFrameworks.listScheduled(START, 10)).map((found) => found.told)
          for (const control of controls) {
            await ports.transact((stores) => stores.securityFrameworks.noteTold(id, control.id, NOW))
          }
          await put(controls)
          expect(await told()).toEqual([NOW, NOW])
          await put(controls.slice(0, 1))
          await put(controls)
          expect(await told()).toEqual([NOW, null])
          expect(await ports.transact((stores) => stores.securityFrameworks.noteTold(id, 'removed', NOW))).toBe(true)
        })
      })

      test('know the last completed one of any number of evidences, whichever way these were written', async () => {
        await openFresh(open, async (ports) => {
          const organization = await storeOrganization(ports)
          // Too large for a row among others, and for one turn.
          const many = (day: number, completed: number) =>
            Array.from({ length: 3000 }, (_, index) =>
              anEvidence({
                details: 'x'.repeat(100),
                datetime: new Date(Date.UTC(2026, 0, day, 0, 0, (index * 7) % 3000)).toISOString(),
                completed: index % 2 ? completed : 0,
              }),
            )
          const control = (id: string, evidences: Evidence[]) => aControl({ id, frequency: '0 0 * * *', evidences })
          const id = await store(
            {
              organization,
              security_frameworks: [control('large', many(1, 3)), control('open', many(2, 0)), control('none', [])],
            },
            ports,
          )
          const since = async () =>
            (await ports.securityFrameworks.listScheduled(START, 10)).map((found) => [found.control, found.since])
          expect(await since()).toEqual([
            ['large', '2026-01-01T00:49:59.000Z'],
            ['open', NOW],
            ['none', NOW],
          ])
          const small = [anEvidence({ datetime: '2026-01-05T00:00:00.000Z' })]
          await ports.transact((stores) =>
            stores.securityFrameworks.update({
              id,
              title: 'x',
              security_frameworks: [control('none', small), control('open', many(3, 1)), control('large', many(4, 0))],
            }),
          )
          expect(await since()).toEqual([
            ['none', '2026-01-05T00:00:00.000Z'],
            ['open', '2026-01-03T00:49:59.000Z'],
            ['large', NOW],
          ])
          await ports.transact((stores) => stores.securityFrameworks.setEvidences(id, 'open', []))
          expect((await since())[1]).toEqual(['open', NOW])
        })
      })

      test('come in pages of a fixed order, each once', async () => {
        await openFresh(open, async (ports) => {
          const wanted = new Set<string>()
          for (let count = 0; count < 3; count += 1) {
            const organization = await storeOrganization(ports)
            const security_frameworks = ['b', 'a', 'c'].map((id) => aControl({ id, frequency: '0 0 * * *' }))
            const framework = await store({ organization, security_frameworks }, ports)
            for (const { id } of security_frameworks) wanted.add(`${framework}/${id}`)
          }
          const pages: ScheduledControl[] = []
          for (let count = 0; count <= 10; count += 2) {
            const page = await ports.securityFrameworks.listScheduled(pages.at(-1) ?? START, 2)
            expect(page.length).toBe(Math.max(0, Math.min(2, 9 - count)))
            pages.push(...page)
          }
          expect(pages).toEqual(await ports.securityFrameworks.listScheduled(START, 100))
          expect(new Set(pages.map(({ framework, control }) => `${framework}/${control}`))).toEqual(wanted)
        })
      })

      test('are told of once for each due time, never for an earlier one', async () => {
        await openFresh(open, async (ports) => {
          const organization = await storeOrganization(ports)
          const controls = [
            aControl({ id: 'a', frequency: '0 0 * * *' }),
            aControl({ id: 'b', frequency: '0 0 * * *' }),
          ]
          const id = await store({ organization, security_frameworks: controls }, ports)
          const note = (control: string, due: string) =>
            ports.transact(({ securityFrameworks }) => securityFrameworks.noteTold(id, control, due))
          expect(await note('a', '2026-02-02T00:00:00.000Z')).toBe(true)
          expect(await note('a', '2026-02-02T00:00:00.000Z')).toBe(false)
          expect(await note('a', '2026-02-01T00:00:00.000Z')).toBe(false)
          expect(await note('a', '2026-02-03T00:00:00.000Z')).toBe(true)
          expect(await note('no such control', '2026-02-03T00:00:00.000Z')).toBe(false)
          const told = (await ports.securityFrameworks.listScheduled(START, 10)).map((found) => found.told)
          expect(told).toEqual(['2026-02-03T00:00:00.000Z', null])
        })
      })

      test('are not told of anew because their framework was edited', async () => {
        const organization = await storeOrganization(opened.ports)
        const control = aControl({ frequency: '0 0 * * *' })
        const id = await store({ organization, security_frameworks: [control] })
        const note = () =>
          opened.ports.transact(({ securityFrameworks }) => securityFrameworks.noteTold(id, control.id, NOW))
        expect(await note()).toBe(true)
        await update({ id, title: 'edited', security_frameworks: [aControl({ id: 'first' }), control] })
        expect(await note()).toBe(false)
      })

      test('ten that tell of the same due time at once: exactly one wins', async () => {
        const organization = await storeOrganization(opened.ports)
        const control = aControl({ frequency: '0 0 * * *' })
        const id = await store({ organization, security_frameworks: [control] })
        const results = await tenAtOnce(() =>
          opened.ports.transact(({ securityFrameworks }) => securityFrameworks.noteTold(id, control.id, NOW)),
        )
        expect(fulfilled(results).filter(Boolean)).toHaveLength(1)
        expect(fulfilled(results)).toHaveLength(10)
      })
    })

    test('ten removals at once: exactly one wins', async () => {
      const organization = await storeOrganization(opened.ports)
      const id = await store({ organization })
      const results = fulfilled(await tenAtOnce(() => remove(organization, id)))
      expect(results).toHaveLength(10)
      expect(results.filter(Boolean)).toHaveLength(1)
    })

    test('ten documents attached to one control at once: ten pieces of evidence', async () => {
      const organization = await storeOrganization(opened.ports)
      const owner = await storeMember(opened.ports, organization, 'owner')
      const framework = await store({ organization })
      const path = { organization, framework, control: 'A.5.1' }
      async function* content() {
        yield new TextEncoder().encode('evidence')
      }
      const results = await tenAtOnce((index) =>
        attachEvidence(opened.ports, { user: owner.id }, path, {
          file_name: `${index}.txt`,
          content_type: 'text/plain',
          content: content(),
        }),
      )
      expect(fulfilled(results)).toHaveLength(10)
      const control = await opened.ports.securityFrameworks.findControl(organization, framework, 'A.5.1')
      const files = control?.evidences.flatMap((evidence) => evidence.files)
      expect(files?.toSorted()).toEqual(
        fulfilled(results)
          .map(({ file_path }) => file_path)
          .toSorted(),
      )
    })

    test('controls of any size come back as they were stored, in their order, and are replaced', async () => {
      const organization = await storeOrganization(opened.ports)
      const evidences = Array.from({ length: 3000 }, (_, index) => anEvidence({ details: `${ODD_TEXT} ${index}` }))
      const details = { long: [ODD_FREE_TEXT.repeat(2000)] }
      const controls = [
        aControl({ id: 'small' }),
        aControl({ id: 'long', evidences }),
        aControl({ id: 'small too' }),
        aControl({ id: 'wide', details: { a: details, b: details, c: details } }),
        aControl({ id: 'long too', evidences }),
      ]
      const id = await store({ organization, title: 'Large', security_frameworks: controls })
      const found = () => opened.ports.securityFrameworks.findActive(organization, id)
      expect(await found()).toEqual({ id, title: 'Large', security_frameworks: controls })
      const edited = controls.toReversed().map((control, index) => ({ ...control, title: `edited ${index}` }))
      await update({ id, title: 'Large', security_frameworks: edited })
      expect(await found()).toEqual({ id, title: 'Large', security_frameworks: edited })
      const page = await opened.ports.securityFrameworks.listActive(organization, all('id'))
      expect(page.data).toEqual([{ id, title: 'Large', security_frameworks: edited }])
    })

    test('ten edits and removals at once that expect the same version: exactly one wins', async () => {
      const organization = await storeOrganization(opened.ports)
      const owner = { user: (await storeMember(opened.ports, organization, 'owner')).id }
      const path = { organization, framework: await store({ organization }) }
      const expected = [await versionOf(opened.ports, await readSecurityFramework(opened.ports, owner, path))]
      const results = await tenAtOnce((index) =>
        index < 8
          ? editSecurityFramework(opened.ports, owner, path, { title: `edit ${index}` }, expected)
          : removeSecurityFramework(opened.ports, owner, path, expected),
      )
      expect(fulfilled(results)).toHaveLength(1)
    })

    test('of ten documents at once as many are kept as the storage has room for', async () => {
      const organization = await storeOrganization(opened.ports)
      const owner = { user: (await storeMember(opened.ports, organization, 'owner')).id }
      // Frameworks of their own, so that no lock of a framework keeps them apart.
      const frameworks: number[] = []
      for (let count = 0; count < 10; count += 1) frameworks.push(await store({ organization }))
      async function* content() {
        yield new Uint8Array(100)
      }
      const results = await tenAtOnce((index) =>
        attachEvidence(
          opened.ports,
          owner,
          { organization, framework: frameworks[index] ?? 0, control: 'A.5.1' },
          { file_name: 'a.txt', content_type: 'text/plain', content: content() },
          100,
          { quota: 350 },
        ),
      )
      expect(fulfilled(results)).toHaveLength(3)
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' })
      }
      expect(await opened.ports.documents.sizeOf(organization)).toBe(300)
    })
  })
}
