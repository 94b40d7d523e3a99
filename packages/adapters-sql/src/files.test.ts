import { randomBytes } from 'node:crypto'
import { createEventBus, DomainError, isUnavailable, type StagedFile } from '@security-management/domain'
import { aThreatFeed } from '@security-management/domain/contracts'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CHUNK_SIZE, sqlFiles } from './files.ts'
import { type Database, migrate, openDatabase, sqlPorts } from './index.ts'
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

    describe('that nothing names', () => {
      const ALWAYS = '9999-12-31T23:59:59.999Z'
      const CHUNKS = 100
      const large = () => sqlFiles(database).stage(whole(randomBytes(CHUNKS * CHUNK_SIZE)), CHUNKS * CHUNK_SIZE)
      const name = (staged: StagedFile, meanwhile = async () => {}) =>
        sqlPorts(database, createEventBus()).transact(async ({ threatFeeds }) => {
          await threatFeeds.insert(aThreatFeed({ name: 'named' }, staged))
          await meanwhile()
        })
      const chunksOf = async ({ file }: StagedFile) =>
        (await database.reader.selectFrom('file_chunk').select('position').where('file', '=', file).execute()).length
      /** The database, with `before` in front of the unit of that number, counted from 0. */
      function interrupted(before: (unit: number) => Promise<void>): Database {
        let units = 0
        return {
          ...database,
          async stage(work) {
            await before(units++)
            return database.stage(work)
          },
        }
      }

      test('are erased in parts; what is done stays done when a later one fails, and the next sweep goes on', async () => {
        const [one, other] = [await large(), await large()]
        const left: number[] = []
        const failing = interrupted(async () => {
          left.push((await chunksOf(one)) + (await chunksOf(other)))
          if (left.length === 6) throw new Error('out of reach')
        })
        await expect(sqlFiles(failing).sweep(ALWAYS)).rejects.toThrow('out of reach')
        const steps = left.slice(1).map((count, index) => (left[index] ?? 0) - count)
        expect(Math.max(...steps)).toBeLessThanOrEqual(32)
        expect(left.at(-1)).toBeLessThan(CHUNKS)
        expect(await chunksOf(other)).toBe(left.at(-1))
        expect((await sqlFiles(database).check('0000')).orphans).toEqual([other.file])
        await expect(name(other)).rejects.toThrow('has been erased')
        expect(await sqlFiles(database).sweep('0000')).toBe(1)
        expect(await chunksOf(other)).toBe(0)
        expect(await sqlFiles(database).check(ALWAYS)).toEqual({ damaged: [], orphans: [] })
      })

      test('are erased in one unit at a time, however many are discarded at once', async () => {
        const staged: StagedFile[] = []
        for (let index = 0; index < 10; index += 1) {
          staged.push(await sqlFiles(database).stage(whole(randomBytes(10)), CHUNK_SIZE))
        }
        let [running, most] = [0, 0]
        const { discard } = sqlFiles({
          ...database,
          async stage(work) {
            running += 1
            most = Math.max(most, running)
            return database.stage(work).finally(() => {
              running -= 1
            })
          },
        })
        await Promise.all(staged.map(({ file }) => discard(file)))
        expect(most).toBe(1)
        expect(await sqlFiles(database).check(ALWAYS)).toEqual({ damaged: [], orphans: [] })
      })

      test('are left to the sweep, all that wait, as soon as the database is gone', async () => {
        const staged: StagedFile[] = []
        for (let index = 0; index < 5; index += 1) {
          staged.push(await sqlFiles(database).stage(whole(randomBytes(10)), CHUNK_SIZE))
        }
        let [isGone, asked] = [true, 0]
        const files = sqlFiles({
          ...database,
          async stage(work) {
            asked += 1
            if (isGone) throw new DomainError('unavailable')
            return database.stage(work)
          },
        })
        const discarded = await Promise.allSettled(staged.map(({ file }) => files.discard(file)))
        expect(discarded.map((each) => each.status === 'rejected' && isUnavailable(each.reason))).toEqual(
          staged.map(() => true),
        )
        expect(asked).toBe(1)
        isGone = false
        for (const { file } of staged) await files.discard(file)
        expect(await sqlFiles(database).check(ALWAYS)).toEqual({ damaged: [], orphans: [] })
      })

      test('stay whole if they are named between being found and being marked', async () => {
        const staged = await large()
        const naming = interrupted(async (unit) => {
          if (unit === 0) await name(staged)
        })
        expect(await sqlFiles(naming).sweep(ALWAYS)).toBe(0)
        expect(await chunksOf(staged)).toBe(CHUNKS)
        expect(await sqlFiles(database).check(ALWAYS)).toEqual({ damaged: [], orphans: [] })
      })

      test('stay whole while a unit is naming them', async () => {
        const staged = await large()
        let goOn = () => {}
        const gate = new Promise<void>((resolve) => {
          goOn = resolve
        })
        let named: Promise<void> | undefined
        const naming = interrupted(async () => {
          await new Promise<void>((resolve) => {
            named = name(staged, async () => {
              resolve()
              await gate
            })
          })
          // There the sweep waits for the unit; elsewhere it passes by what the unit holds.
          if (database.kind === 'sqlite') goOn()
        })
        expect(await sqlFiles(naming).sweep(ALWAYS)).toBe(0)
        goOn()
        await named
        expect(await chunksOf(staged)).toBe(CHUNKS)
        expect(await sqlFiles(database).check(ALWAYS)).toEqual({ damaged: [], orphans: [] })
      })

      test('are erased once, however many sweep at once', async () => {
        const staged = [await large(), await large()]
        const counts = await Promise.all(Array.from({ length: 4 }, () => sqlFiles(database).sweep(ALWAYS)))
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2)
        for (const file of staged) expect(await chunksOf(file)).toBe(0)
      })
    })
  })
}
