import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aControl, aFramework, anEvidence, NO_ID } from '../contracts/builders.ts'
import { DomainError } from '../errors.ts'
import { removeMember } from '../members/remove-member.ts'
import type { MemoryPorts } from '../memory/index.ts'
import { anyText } from '../testing/any-text.ts'
import { asksFor, aWorld, expectRefused, happened, refusedPaths, type World } from '../testing/world.ts'
import { attachEvidence, type DocumentRef } from './attach-evidence.ts'
import { extensionOf, safeFileName } from './file-name.ts'
import type { ControlPath } from './find-security-framework.ts'
import { readDocument } from './read-document.ts'
import { readSecurityFramework } from './read-security-framework.ts'
import { removeSecurityFramework } from './remove-security-framework.ts'

const CONTROL = 'A/5 é%'

async function aControlPath({ ports, organization }: World, evidences = 0): Promise<ControlPath> {
  const control = aControl({ id: CONTROL, evidences: Array.from({ length: evidences }, () => anEvidence()) })
  const framework = await ports.transact(({ securityFrameworks }) =>
    securityFrameworks.insert(aFramework({ organization, security_frameworks: [aControl({ id: 'other' }), control] })),
  )
  return { organization, framework, control: CONTROL }
}

async function* inPieces(...pieces: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece)
}

function anUpload(part: { file_name?: string; content_type?: string; content?: AsyncIterable<Uint8Array> } = {}) {
  return { file_name: 'report.pdf', content_type: 'application/pdf', content: inPieces('evi', 'dence'), ...part }
}

/** The document that a path of the HTTP interface names. */
function refOf(path: ControlPath, file_path: string): DocumentRef {
  return { ...path, name: file_path.split('/').at(-1) ?? '' }
}

/** How many staged files no document names. */
async function strayFiles(ports: MemoryPorts): Promise<number> {
  return ports.files.sweep('9999-12-31T23:59:59.999Z')
}

async function contentOf(document: Awaited<ReturnType<typeof readDocument>>, from = 0, to = document.size - 1) {
  const pieces: Uint8Array[] = []
  for await (const piece of document.read(from, to)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

describe('attaching a document', () => {
  asksFor(
    'evidence.attach',
    aControlPath,
    ({ ports }, caller, path) => attachEvidence(ports, caller, path, anUpload()),
    ({ organization }) => ({ organization, framework: NO_ID, control: CONTROL }),
  )

  test('keeps the bytes, and appends evidence that names them', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const path = await aControlPath(world, 1)
    const answer = await attachEvidence(ports, as.security_officer, path, anUpload({ file_name: '../Q1 été.PDF' }))
    const place = `/api/v1/documents/organizations/${organization}/security-frameworks/${path.framework}/documents`
    expect(answer.file_name).toBe('Q1 été.pdf')
    expect(answer.file_path).toMatch(/\/[0-9a-f]{32}\.pdf$/)
    expect(answer.file_path.startsWith(`${place}/A%2F5%20%C3%A9%25/`)).toBe(true)

    const document = await readDocument(ports, as.viewer, refOf(path, answer.file_path))
    const sha256 = createHash('sha256').update('evidence').digest('hex')
    expect(document).toMatchObject({ file_name: 'Q1 été.pdf', content_type: 'application/pdf', size: 8, sha256 })
    expect(await contentOf(document)).toBe('evidence')
    expect(await contentOf(document, 2, 4)).toBe('ide')

    const { security_frameworks } = await readSecurityFramework(ports, as.viewer, path)
    const user = await ports.users.find(as.security_officer.user)
    expect(security_frameworks[0]?.evidences).toEqual([])
    expect(security_frameworks[1]?.evidences).toHaveLength(2)
    expect(security_frameworks[1]?.evidences.at(-1)).toEqual({
      files: [answer.file_path],
      details: '',
      datetime: '2026-03-01T12:00:00.000Z',
      completed: 0,
      residual_risk: 0,
      submitted_by: { user_id: user?.id, user_email: user?.email },
    })
    expect(happened(world)).toMatchObject([
      { type: 'evidence.attached', record: String(path.framework), details: { control: CONTROL, ...answer, sha256 } },
    ])
    expect(await strayFiles(ports)).toBe(0)
  })

  test('the same document twice is two documents', async () => {
    const world = await aWorld()
    const path = await aControlPath(world)
    const first = await attachEvidence(world.ports, world.as.owner, path, anUpload())
    const second = await attachEvidence(world.ports, world.as.owner, path, anUpload())
    expect(first.file_path).not.toBe(second.file_path)
  })

  test('an empty document is a document, and one without an extension has a neutral one', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await aControlPath(world)
    const upload = anUpload({ file_name: 'LICENSE', content: inPieces() })
    const { file_path } = await attachEvidence(ports, as.owner, path, upload)
    expect(file_path).toMatch(/\.bin$/)
    expect(await readDocument(ports, as.viewer, refOf(path, file_path))).toMatchObject({
      size: 0,
      file_name: 'LICENSE',
    })
  })

  test.each([
    ['text/plain; charset=utf-8', 'text/plain; charset=utf-8'],
    ['text/csv; header="present, yes"', 'text/csv; header="present, yes"'],
    ['', 'application/octet-stream'],
    ['text', 'application/octet-stream'],
    ['text/html\r\nSet-Cookie: a=b', 'application/octet-stream'],
    ['text/html, text/plain', 'application/octet-stream'],
    [`text/${'x'.repeat(101)}`, 'application/octet-stream'],
    [`text/plain; a="${'x'.repeat(300)}"`, 'application/octet-stream'],
    ['text/plain; a="\u0000"', 'application/octet-stream'],
  ])('the type %j is kept as %j', async (sent, kept) => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await aControlPath(world)
    const { file_path } = await attachEvidence(ports, as.owner, path, anUpload({ content_type: sent }))
    expect((await readDocument(ports, as.viewer, refOf(path, file_path))).content_type).toBe(kept)
  })

  test('who may not attach is refused before a byte is read', async () => {
    const world = await aWorld()
    const { ports, as, stranger } = world
    const path = await aControlPath(world)
    let wasRead = false
    async function* content() {
      wasRead = true
      yield Buffer.from('x')
    }
    for (const caller of [as.viewer, stranger]) {
      await expectRefused(world, 'forbidden', () =>
        attachEvidence(ports, caller, path, anUpload({ content: content() })),
      )
    }
    for (const wrong of [{ control: 'none' }, { control: '..' }, { control: 'a\u0000' }, { organization: NO_ID }]) {
      const attempt = () => attachEvidence(ports, as.owner, { ...path, ...wrong }, anUpload({ content: content() }))
      await expectRefused(world, 'not_found', attempt)
    }
    expect(
      await refusedPaths(attachEvidence(ports, as.owner, path, anUpload({ file_name: '', content: content() }))),
    ).toEqual([''])
    expect(wasRead).toBe(false)
    expect(await strayFiles(ports)).toBe(0)
  })

  test('a document that is too large, or breaks off, leaves nothing', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await aControlPath(world)
    await expectRefused(world, 'too_large', () => attachEvidence(ports, as.owner, path, anUpload(), 7))
    async function* breaking() {
      yield Buffer.from('x')
      throw new Error('connection reset')
    }
    await expect(attachEvidence(ports, as.owner, path, anUpload({ content: breaking() }))).rejects.toThrow('reset')
    expect(await strayFiles(ports)).toBe(0)
    expect((await readSecurityFramework(ports, as.viewer, path)).security_frameworks[1]?.evidences).toEqual([])
    await expect(attachEvidence(ports, as.owner, path, anUpload(), 8)).resolves.toBeDefined()
  })

  test('a control that has ten thousand pieces of evidence takes no more, and leaves nothing', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await aControlPath(world, 9_999)
    await attachEvidence(ports, as.owner, path, anUpload())
    expect(await refusedPaths(attachEvidence(ports, as.owner, path, anUpload()))).toEqual(['evidences'])
    expect(await strayFiles(ports)).toBe(0)
  })

  test('a framework that is removed, or a right that ends, while the bytes come in, leaves nothing', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const [removed, kept] = [await aControlPath(world), await aControlPath(world)]
    async function* removing() {
      yield Buffer.from('x')
      await removeSecurityFramework(ports, as.owner, removed)
    }
    await expect(attachEvidence(ports, as.owner, removed, anUpload({ content: removing() }))).rejects.toMatchObject({
      code: 'not_found',
    })
    async function* leaving() {
      yield Buffer.from('x')
      await removeMember(ports, as.owner, { organization, user: as.security_officer.user })
    }
    await expect(
      attachEvidence(ports, as.security_officer, kept, anUpload({ content: leaving() })),
    ).rejects.toMatchObject({ code: 'forbidden' })
    expect(await strayFiles(ports)).toBe(0)
    expect(happened(world, 'evidence.attached')).toEqual([])
  })

  test('if the bytes cannot be erased either, the first error is the one that is told', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await aControlPath(world, 10_000)
    const stuck = { ...ports.files, discard: () => Promise.reject(new Error('disk')) }
    const attempt = attachEvidence({ ...ports, files: stuck }, as.owner, path, anUpload())
    await expect(attempt).rejects.toBeInstanceOf(DomainError)
    expect(await strayFiles(ports)).toBe(1)
  })

  test('ten documents at once are ten pieces of evidence', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await aControlPath(world)
    await Promise.all(Array.from({ length: 10 }, () => attachEvidence(ports, as.owner, path, anUpload())))
    expect((await readSecurityFramework(ports, as.viewer, path)).security_frameworks[1]?.evidences).toHaveLength(10)
  })
})

describe('reading a document', () => {
  async function attach(world: World): Promise<DocumentRef> {
    const path = await aControlPath(world)
    return refOf(path, (await attachEvidence(world.ports, world.as.owner, path, anUpload())).file_path)
  }

  asksFor(
    'evidence.read',
    attach,
    ({ ports }, caller, ref) => readDocument(ports, caller, ref),
    ({ organization }) => ({ organization, framework: NO_ID, control: CONTROL, name: `${'0'.repeat(32)}.pdf` }),
  )

  test('works at its own place alone', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const ref = await attach(world)
    const other = await attach(world)
    for (const wrong of [
      { control: 'other' },
      { control: '..' },
      { control: '\u0000' },
      { framework: other.framework },
      { name: other.name },
      { name: '../x' },
      { name: '' },
      { name: ref.name.toUpperCase() },
    ]) {
      await expectRefused(world, 'not_found', () => readDocument(ports, as.owner, { ...ref, ...wrong }))
    }
  })

  test('ends with the framework', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const ref = await attach(world)
    await removeSecurityFramework(ports, as.owner, ref)
    await expectRefused(world, 'not_found', () => readDocument(ports, as.owner, ref))
  })
})

describe('a safe file name', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['Q1 été (final) 日本 🛡.PDF', 'Q1 été (final) 日本 🛡.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\report.pdf', 'report.pdf'],
    ['..', 'file'],
    ['.', 'file'],
    ['/', 'file'],
    [' ', 'file'],
    ['\u0000', 'file'],
    ['.htaccess', 'htaccess'],
    ['...hidden.txt', 'hidden.txt'],
    ['a\r\nSet-Cookie: b.txt', 'a_Set-Cookie_ b.txt'],
    ['a\u0000.pdf', 'a_.pdf'],
    ['exe.\u202Efdp.txt', 'exe._fdp.txt'],
    ['a"b<c>d|e?f*g:h.txt', 'a_b_c_d_e_f_g_h.txt'],
    ['\uD800.txt', 'txt'],
    ['report.', 'report'],
    ['report.pdf.', 'report.pdf'],
    ['report. . .', 'report'],
    ['archive.tar.gz', 'archive.tar.gz'],
    ['no extension', 'no extension'],
    ['name.waytoolongext', 'name.waytoolongext'],
    [`${'x'.repeat(300)}.pdf`, `${'x'.repeat(196)}.pdf`],
    [`${'🛡'.repeat(300)}.pdf`, `${'🛡'.repeat(196)}.pdf`],
  ])('%j is %j', (sent, safe) => {
    expect(safeFileName(sent)).toBe(safe)
  })

  const pieces = fc.constantFrom(
    '..',
    '/',
    '\\',
    '.',
    ' ',
    '\u0000',
    '\u202E',
    '\r\n',
    '_',
    ':',
    'a',
    'é',
    '🛡',
    '.pdf',
    '\uD800',
  )
  const shortNames = fc.oneof(
    anyText(190),
    fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
  )
  const longNames = fc
    .tuple(
      fc.array(pieces, { maxLength: 5 }),
      fc.oneof(fc.integer({ min: 193, max: 203 }), fc.integer({ min: 1018, max: 1026 })),
      fc.array(pieces, { maxLength: 5 }),
    )
    .map(([before, count, after]) => before.join('') + 'x'.repeat(count) + after.join(''))

  test('is safe whatever was sent', () => {
    fc.assert(
      fc.property(fc.oneof(shortNames, longNames), (sent) => {
        const safe = safeFileName(sent)
        expect(safe).not.toMatch(/[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]/u)
        expect(safe).not.toMatch(/^[.\s]|[.\s]$/)
        expect([...safe].length).toBeGreaterThan(0)
        expect([...safe].length).toBeLessThanOrEqual(200)
      }),
      { numRuns: 1000 },
    )
  })

  test('is kept as it is when it comes again', () => {
    fc.assert(
      fc.property(shortNames, (sent) => {
        const safe = safeFileName(sent)
        expect(safeFileName(safe)).toBe(safe)
        expect(extensionOf(safe)).toMatch(/^[0-9a-z]{0,10}$/)
      }),
      { numRuns: 1000 },
    )
  })
})
