import { createHash } from 'node:crypto'
import { DomainError, type FileStore } from '@security-management/domain'
import type { Kysely } from 'kysely'
import type { Database } from './database.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

/** Bytes of one chunk row. All but the last chunk of a file have just this size, so a position tells its chunk. */
export const CHUNK_SIZE = 256 * 1024

const insertChunk = hot((db, file: number, position: number, bytes: Uint8Array) =>
  db.insertInto('file_chunk').values({ file, position, bytes }),
)
const findChunk = hot((db, file: number, position: number) =>
  db.selectFrom('file_chunk').select('bytes').where('file', '=', file).where('position', '=', position),
)

/** Bytes in fixed-size chunk rows, each written in a unit of its own and read alone. */
export function sqlFiles(database: Database): FileStore {
  const erase = (file: number) =>
    database.unit(async (db) => {
      await db.deleteFrom('file').where('id', '=', file).execute()
    })
  return {
    async stage(content, limit) {
      const staged_at = new Date().toISOString()
      const file = await database.unit(async (db) => {
        const { id } = await db.insertInto('file').values({ staged_at }).returning('id').executeTakeFirstOrThrow()
        return id
      })
      try {
        return { file, ...(await write(database, file, content, limit)) }
      } catch (error) {
        // What cannot be erased now is swept away later; the first error is the one to tell of.
        await erase(file).catch(() => {})
        throw error
      }
    },
    discard: erase,
    async *read(file, from, to) {
      for (let position = Math.floor(from / CHUNK_SIZE); position * CHUNK_SIZE <= to; position += 1) {
        const [row] = await findChunk(database.reader, file, position)
        if (!row) throw new Error(`File ${file} has no chunk ${position}`)
        const start = position * CHUNK_SIZE
        yield row.bytes.subarray(Math.max(0, from - start), Math.min(row.bytes.length, to - start + 1))
      }
    },
    async sweep(before) {
      return database.unit(async (db) => {
        const { numDeletedRows } = await orphans(db, before).executeTakeFirstOrThrow()
        return Number(numDeletedRows)
      })
    },
  }
}

async function write(
  database: Database,
  file: number,
  content: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK_SIZE)
  let filled = 0
  let position = 0
  const flush = async () => {
    const bytes = Buffer.from(chunk.subarray(0, filled))
    await database.unit((db) => insertChunk(db, file, position, bytes))
    position += 1
    filled = 0
  }
  for await (const bytes of content) {
    if (position * CHUNK_SIZE + filled + bytes.length > limit) throw new DomainError('too_large')
    hash.update(bytes)
    for (let taken = 0; taken < bytes.length; ) {
      const part = bytes.subarray(taken, taken + CHUNK_SIZE - filled)
      chunk.set(part, filled)
      filled += part.length
      taken += part.length
      if (filled === CHUNK_SIZE) await flush()
    }
  }
  const size = position * CHUNK_SIZE + filled
  if (filled > 0) await flush()
  return { size, sha256: hash.digest('hex') }
}

function orphans(db: Kysely<Schema>, before: string) {
  return db
    .deleteFrom('file')
    .where('staged_at', '<', before)
    .where((is) =>
      is.not(is.exists(is.selectFrom('document').select('file').whereRef('document.file', '=', 'file.id'))),
    )
    .where((is) =>
      is.not(is.exists(is.selectFrom('threat_feed').select('file').whereRef('threat_feed.file', '=', 'file.id'))),
    )
    .where((is) =>
      is.not(
        is.exists(
          is.selectFrom('traffic_upload').select('raw_file').whereRef('traffic_upload.raw_file', '=', 'file.id'),
        ),
      ),
    )
}
