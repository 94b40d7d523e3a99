import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CHUNK_SIZE, sqlFiles } from './files.ts'
import { type Database, migrate, openDatabase } from './index.ts'
import { testDatabases } from './testing/databases.ts'

const MIB = 1024 * 1024

async function* whole(bytes: Uint8Array) {
  yield bytes
}

for (const { name, create, cleanUp } of testDatabases()) {
  describe(`the bytes of files on ${name}`, () => {
    let database: Database
    beforeEach(async () => {
      database = openDatabase(await create())
      await migrate(database)
    })
    afterEach(() => database.close())
    afterAll(cleanUp)

    test('that come slowly take as much memory as has come', async () => {
      const count = 200
      let arrived = 0
      let goOn = () => {}
      const gate = new Promise<void>((resolve) => {
        goOn = resolve
      })
      let allArrived = () => {}
      const waiting = new Promise<void>((resolve) => {
        allArrived = resolve
      })
      async function* slow() {
        yield new Uint8Array(1)
        yield new Uint8Array(100)
        arrived += 1
        if (arrived === count) allArrived()
        await gate
        yield new Uint8Array(CHUNK_SIZE)
      }
      const { stage } = sqlFiles(database)
      const before = process.memoryUsage().arrayBuffers
      const staging = Promise.all(Array.from({ length: count }, () => stage(slow(), MIB)))
      await waiting
      const during = process.memoryUsage().arrayBuffers
      goOn()
      const sizes = (await staging).map(({ size }) => size)
      expect(new Set(sizes)).toEqual(new Set([CHUNK_SIZE + 101]))
      // What has come, and what the driver keeps for a moment: with a whole chunk for each it would be 50 MiB.
      expect(during - before).toBeLessThan((count * CHUNK_SIZE) / 5)
    })

    test('are read in pieces, from and to any byte, and are whole at the seams of all pieces', async () => {
      const bytes = randomBytes(2 * CHUNK_SIZE + 40_000)
      const files = sqlFiles(database)
      const { file } = await files.stage(whole(bytes), MIB)
      const pieces: Uint8Array[] = []
      for await (const piece of files.read(file, 0, bytes.length - 1)) pieces.push(piece)
      expect(Buffer.concat(pieces).equals(bytes)).toBe(true)
      let seam = 0
      for (const { length } of pieces.slice(0, -1)) {
        seam += length
        for (const [from, to] of [
          [seam - 1, seam],
          [seam, seam],
          [seam - 1, seam - 1],
        ] as const) {
          const part: Uint8Array[] = []
          for await (const piece of files.read(file, from, to)) part.push(piece)
          expect(part.length).toBe(from < to ? 2 : 1)
          expect(Buffer.concat(part).equals(bytes.subarray(from, to + 1))).toBe(true)
        }
      }
    })

    test('belong to whoever reads them', async () => {
      const bytes = randomBytes(CHUNK_SIZE + 40_000)
      const files = sqlFiles(database)
      const { file } = await files.stage(whole(bytes), MIB)
      const read = async () => {
        const pieces: Buffer[] = []
        for await (const piece of files.read(file, 0, bytes.length - 1)) {
          pieces.push(Buffer.from(piece))
          // As an answer does with what it has sent.
          if (piece.buffer.byteLength === piece.byteLength) (piece.buffer as ArrayBuffer).transfer(0)
          else piece.fill(0)
        }
        return Buffer.concat(pieces)
      }
      expect((await read()).equals(bytes)).toBe(true)
      expect((await read()).equals(bytes)).toBe(true)
    })
  })
}
