import { describe, expect, test } from 'vitest'
import type { Ports } from '../ports.ts'
import type { Document } from '../security-frameworks/document-store.ts'
import { aControl, aFramework, NO_ID, ODD_TEXT, removeStoredOrganization, storeOrganization } from './builders.ts'
import { NOW, type Open, openOnce } from './opened.ts'
import { expectRolledBack } from './paging.ts'

/** The suite that every adapter of `DocumentStore` must pass. `open` gives empty stores, new at every call. */
export function documentStoreContract(adapter: string, open: Open): void {
  describe(`DocumentStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    const CONTROL = 'A/5.1 %_ "é" 🛡️'

    async function aStoredDocument(ports: Ports, part: Partial<Document> = {}): Promise<Document> {
      const organization = await storeOrganization(ports)
      const framework = await ports.transact(({ securityFrameworks }) =>
        securityFrameworks.insert(aFramework({ organization, security_frameworks: [aControl({ id: CONTROL })] })),
      )
      const document = await aDocument(ports, { organization, framework, ...part })
      await ports.transact(({ documents }) => documents.insert(document))
      return document
    }
    async function aDocument(
      ports: Ports,
      part: Partial<Document> & Pick<Document, 'organization' | 'framework'>,
    ): Promise<Document> {
      async function* content() {
        yield new Uint8Array([1, 2, 3])
      }
      const staged = await ports.files.stage(content(), 10)
      const names = { control: CONTROL, name: 'opaque.pdf', file_name: 'report.pdf', content_type: 'application/pdf' }
      return { ...names, ...staged, ...part }
    }

    test('every field comes back as it was stored', async () => {
      const names = { name: 'c0ffee.bin', file_name: ODD_TEXT, content_type: 'text/plain; charset="utf-8"' }
      const document = await aStoredDocument(opened.ports, { ...names, size: Number.MAX_SAFE_INTEGER })
      expect(await opened.ports.documents.findActive(document)).toEqual(document)
    })

    test('a document is found at its exact place alone', async () => {
      const document = await aStoredDocument(opened.ports)
      const other = await aStoredDocument(opened.ports)
      const { documents } = opened.ports
      for (const wrong of [
        { organization: other.organization },
        { framework: other.framework },
        { organization: other.organization, framework: other.framework, name: 'other.pdf' },
        { control: '%' },
        { name: 'OPAQUE.pdf' },
        { name: '' },
        { organization: NO_ID },
        { framework: NO_ID },
      ]) {
        expect(await documents.findActive({ ...document, ...wrong })).toBeUndefined()
      }
      expect((await documents.findActive(other))?.file).toBe(other.file)
    })

    test('a document stays when its control leaves the framework', async () => {
      const document = await aStoredDocument(opened.ports)
      const framework = { id: document.framework, title: 'x', security_frameworks: [] }
      await opened.ports.transact(({ securityFrameworks }) => securityFrameworks.update(framework))
      expect(await opened.ports.documents.findActive(document)).toEqual(document)
    })

    test('the documents of a removed framework or organization are not found', async () => {
      const [one, two] = [await aStoredDocument(opened.ports), await aStoredDocument(opened.ports)]
      await opened.ports.transact((stores) => stores.securityFrameworks.remove(one.organization, one.framework, NOW))
      await removeStoredOrganization(opened.ports, two.organization)
      expect(await opened.ports.documents.findActive(one)).toBeUndefined()
      expect(await opened.ports.documents.findActive(two)).toBeUndefined()
    })

    test('the bytes of all documents of an organization add up, with those of removed frameworks', async () => {
      const first = await aStoredDocument(opened.ports, { size: 5 })
      const { organization, framework } = first
      const second = await aDocument(opened.ports, { organization, framework, name: 'b.pdf', size: 2 ** 40 })
      await opened.ports.transact(({ documents }) => documents.insert(second))
      await aStoredDocument(opened.ports)
      await opened.ports.transact((stores) => stores.securityFrameworks.remove(organization, framework, NOW))
      expect(await opened.ports.documents.sizeOf(organization)).toBe(2 ** 40 + 5)
      expect(await opened.ports.documents.sizeOf(NO_ID)).toBe(0)
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const document = await aStoredDocument(opened.ports)
      const found = await opened.ports.documents.findActive(document)
      if (found) found.file_name = 'evil.exe'
      expect(await opened.ports.documents.findActive(document)).toEqual(document)
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const { organization, framework } = await aStoredDocument(opened.ports)
      const never = await aDocument(opened.ports, { organization, framework, name: 'never.pdf' })
      await expectRolledBack(
        opened.ports,
        ({ documents }) => documents.insert(never),
        () => opened.ports.documents.findActive(never),
      )
    })
  })
}
