import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Needs } from '../ports.ts'
import { aControl, aFramework, aThreatFeed, NO_ID, storeOrganization } from './builders.ts'
import { type Open, openFresh, openOnce } from './opened.ts'
import { fulfilled, tenAtOnce } from './paging.ts'

const MEGABYTE = 1024 * 1024
const ALWAYS = '9999-12-31T23:59:59.999Z'
const NEVER = '0000-01-01T00:00:00.000Z'

/** The suite that every adapter of `FileStore` must pass. `open` gives empty stores, new at every call. */
export function fileStoreContract(adapter: string, open: Open): void {
  describe(`FileStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
      for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
    }
    async function stage(bytes: Uint8Array, pieceSize = 1000, ports: Needs<'files'> = opened.ports) {
      return ports.files.stage(inPieces(bytes, pieceSize), bytes.length)
    }
    async function read(file: number, from: number, to: number, ports: Needs<'files'> = opened.ports) {
      const pieces: Uint8Array[] = []
      for await (const piece of ports.files.read(file, from, to)) pieces.push(piece)
      return Buffer.concat(pieces)
    }
    function someBytes(length: number): Buffer {
      const bytes = Buffer.alloc(length)
      for (let index = 0; index < length; index += 1) bytes[index] = index * 31 + (index >> 8)
      return bytes
    }

    test('the bytes come back as they came, whatever the pieces', async () => {
      const bytes = someBytes(MEGABYTE + 12_345)
      for (const pieceSize of [65_536, 100_003, 2 * MEGABYTE]) {
        const staged = await stage(bytes, pieceSize)
        const sha256 = createHash('sha256').update(bytes).digest('hex')
        expect(staged).toEqual({ file: expect.any(Number), size: bytes.length, sha256 })
        const found = await read(staged.file, 0, bytes.length - 1)
        expect(found.equals(bytes)).toBe(true)
      }
    })

    test('pieces of one byte, and empty ones, are pieces too', async () => {
      const bytes = someBytes(300)
      const { file } = await stage(bytes, 1)
      expect((await read(file, 0, 299)).equals(bytes)).toBe(true)
      async function* withEmptyPieces() {
        yield new Uint8Array()
        yield bytes
        yield new Uint8Array()
      }
      const staged = await opened.ports.files.stage(withEmptyPieces(), 300)
      expect((await read(staged.file, 0, 299)).equals(bytes)).toBe(true)
    })

    test('a check finds what no record names once it is old, and what is not as long as its record says', async () => {
      await openFresh(open, async (ports) => {
        const bytes = someBytes(MEGABYTE)
        const [whole, short, long, orphan] = [
          await stage(bytes, MEGABYTE, ports),
          await stage(bytes, MEGABYTE, ports),
          await stage(bytes, MEGABYTE, ports),
          await stage(bytes, MEGABYTE, ports),
        ]
        const organization = await storeOrganization(ports)
        await ports.transact(async ({ securityFrameworks, documents }) => {
          const framework = await securityFrameworks.insert(aFramework({ organization }))
          const place = { organization, framework, control: 'A.5.1', file_name: 'a', content_type: 'text/plain' }
          await documents.insert({ ...place, ...whole, name: '1' })
          await documents.insert({ ...place, ...short, name: '2', size: MEGABYTE + 1 })
          await documents.insert({ ...place, ...long, name: '3', size: MEGABYTE - 1 })
        })
        const damaged = [short.file, long.file]
        expect(await ports.files.check(ALWAYS)).toEqual({ damaged, orphans: [orphan.file] })
        expect(await ports.files.check(NEVER)).toEqual({ damaged, orphans: [] })
        expect(await ports.integrity()).toEqual([])
      })
    })

    test('the sender may use its buffer again', async () => {
      const buffer = new Uint8Array(4)
      async function* reused() {
        for (const value of [1, 2, 3]) yield buffer.fill(value)
      }
      const { file } = await opened.ports.files.stage(reused(), 100)
      expect([...(await read(file, 0, 11))]).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3])
    })

    test('an empty file is a file', async () => {
      const staged = await stage(new Uint8Array())
      expect(staged.size).toBe(0)
      expect(staged.sha256).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    })

    test('any part of a file can be read, both ends included', async () => {
      const bytes = someBytes(3 * 65_536 + 7)
      const { file } = await stage(bytes, 50_000)
      const edges = [0, 1, 49_999, 50_000, 65_535, 65_536, 65_537, 131_072, 196_607, 196_608, bytes.length - 1]
      for (const from of edges) {
        for (const to of edges.filter((edge) => edge >= from)) {
          const found = await read(file, from, to)
          expect({ from, to, same: found.equals(bytes.subarray(from, to + 1)) }).toEqual({ from, to, same: true })
        }
      }
    })

    test('no piece that is read is large', async () => {
      const { file, size } = await stage(Buffer.alloc(3 * MEGABYTE, 7), MEGABYTE)
      for await (const piece of opened.ports.files.read(file, 0, size - 1)) {
        expect(piece.length).toBeGreaterThan(0)
        expect(piece.length).toBeLessThanOrEqual(MEGABYTE)
      }
    })

    test('who stops reading early is let go', async () => {
      const { file, size } = await stage(someBytes(MEGABYTE), 10_000)
      for (let count = 0; count < 20; count += 1) {
        for await (const _ of opened.ports.files.read(file, 0, size - 1)) break
      }
      expect((await read(file, 0, 0)).length).toBe(1)
    })

    test('content larger than the limit is refused, and nothing of it is left', async () => {
      await openFresh(open, async (ports) => {
        await expect(ports.files.stage(inPieces(someBytes(1001), 100), 1000)).rejects.toMatchObject({
          code: 'too_large',
        })
        expect(await ports.files.sweep(ALWAYS)).toBe(0)
        expect((await ports.files.stage(inPieces(someBytes(1000), 100), 1000)).size).toBe(1000)
      })
    })

    test('content that fails on the way fails with its own error, and nothing of it is left', async () => {
      await openFresh(open, async (ports) => {
        const broken = new Error('connection reset')
        async function* failing() {
          for (let count = 0; count < 5; count += 1) yield new Uint8Array(100_000)
          throw broken
        }
        await expect(ports.files.stage(failing(), MEGABYTE)).rejects.toBe(broken)
        expect(await ports.files.sweep(ALWAYS)).toBe(0)
      })
    })

    test('a discarded file is gone; discarding what is not there does nothing', async () => {
      await openFresh(open, async (ports) => {
        const { file } = await stage(someBytes(100), 10, ports)
        const kept = await stage(someBytes(50), 10, ports)
        await ports.files.discard(file)
        await ports.files.discard(file)
        await ports.files.discard(NO_ID)
        expect((await read(kept.file, 0, 49, ports)).length).toBe(50)
        await expect(read(file, 0, 99, ports)).rejects.toThrow()
        expect(await ports.files.sweep(ALWAYS)).toBe(1)
      })
    })

    test('a sweep takes many files and large ones, and none that a record names', async () => {
      await openFresh(open, async (ports) => {
        const large = someBytes(9 * MEGABYTE)
        const named = await stage(large, MEGABYTE, ports)
        const kept = [await stage(someBytes(10), 10, ports)]
        for (let count = 0; count < 40; count += 1) await stage(someBytes(count), 100, ports)
        const gone = [await stage(large, MEGABYTE, ports), await stage(large, MEGABYTE, ports)]
        kept.push(await stage(someBytes(20), 10, ports), named)
        await ports.transact(async ({ threatFeeds }) => {
          for (const staged of kept) await threatFeeds.insert(aThreatFeed({ name: `feed-${staged.file}` }, staged))
        })
        expect(await ports.files.sweep(ALWAYS)).toBe(42)
        expect(await ports.files.sweep(ALWAYS)).toBe(0)
        expect(await ports.files.check(ALWAYS)).toEqual({ damaged: [], orphans: [] })
        expect((await read(named.file, 0, named.size - 1, ports)).equals(large)).toBe(true)
        for (const { file } of gone) await expect(read(file, 0, 0, ports)).rejects.toThrow()
      })
    })

    test('a large file is discarded whole, and none that a record names', async () => {
      await openFresh(open, async (ports) => {
        const large = someBytes(9 * MEGABYTE)
        const [named, useless] = [await stage(large, MEGABYTE, ports), await stage(large, MEGABYTE, ports)]
        await ports.transact(({ threatFeeds }) => threatFeeds.insert(aThreatFeed({ name: 'named' }, named)))
        await ports.files.discard(named.file)
        await ports.files.discard(useless.file)
        expect(await ports.files.check(ALWAYS)).toEqual({ damaged: [], orphans: [] })
        expect((await read(named.file, 0, named.size - 1, ports)).equals(large)).toBe(true)
        await expect(read(useless.file, 0, 0, ports)).rejects.toThrow()
      })
    })

    test('what no document names is swept away once it is old, and what one names is kept', async () => {
      await openFresh(open, async (ports) => {
        const bytes = someBytes(100_000)
        const named = await stage(bytes, 1000, ports)
        await stage(bytes, 1000, ports)
        await stage(new Uint8Array(), 1000, ports)
        const organization = await storeOrganization(ports)
        await ports.transact(async ({ securityFrameworks, documents }) => {
          const security_frameworks = [aControl({ id: 'a' })]
          const framework = await securityFrameworks.insert(aFramework({ organization, security_frameworks }))
          const names = { control: 'a', name: 'x.bin', file_name: 'x.bin', content_type: 'application/octet-stream' }
          await documents.insert({ organization, framework, ...names, ...named })
        })
        expect(await ports.files.sweep(NEVER)).toBe(0)
        expect(await ports.files.sweep(ALWAYS)).toBe(2)
        expect(await ports.files.sweep(ALWAYS)).toBe(0)
        expect((await read(named.file, 0, named.size - 1, ports)).equals(bytes)).toBe(true)
      })
    })

    test('a file can be staged and read while a unit of work is under way', async () => {
      const bytes = someBytes(200_000)
      const organization = await storeOrganization(opened.ports)
      const [{ file }] = await Promise.all([
        stage(bytes),
        opened.ports.transact(({ organizations }) => organizations.update(organization, { name: 'edited' })),
      ])
      expect((await read(file, 0, bytes.length - 1)).equals(bytes)).toBe(true)
    })

    test('ten files staged at once do not mix', async () => {
      const results = await tenAtOnce(async (index) => {
        const bytes = Buffer.alloc(100_000 + index, index)
        const { file } = await stage(bytes, 7_000)
        return (await read(file, 0, bytes.length - 1)).equals(bytes)
      })
      expect(fulfilled(results)).toEqual(Array.from({ length: 10 }, () => true))
    })
  })
}
