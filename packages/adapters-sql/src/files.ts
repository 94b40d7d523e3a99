import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DomainError, type FileStore, isUnavailable } from '@security-management/domain'
import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import { kindOf } from './column-types.ts'
import type { Database } from './database.ts'
import { numbers } from './expressions.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

/** Bytes of one chunk row. All but the last chunk of a file have just this size, so a position tells its chunk. */
export const CHUNK_SIZE = 256 * 1024

const insertChunk = hot((db, file: number, position: number, bytes: Uint8Array) =>
  db.insertInto('file_chunk').values({ file, position, bytes }),
)
const findChunk = hot((db, file: number, position: number) =>
  kindOf(db) === 'sqlite' ? chunkOf(db, file, position) : inSlices(db, file, position),
)
const findLastChunk = hot((db, file: number) =>
  db.selectFrom('file_chunk').select(sql<number | null>`max(position)`.as('last')).where('file', '=', file),
)
const findStaged = hot((db, file: number) => {
  const query = db.selectFrom('file').select('staged_at').where('id', '=', file)
  return kindOf(db) === 'postgres' ? query.forKeyShare() : query
})

function chunkOf(db: Kysely<Schema>, file: number, position: number) {
  return db.selectFrom('file_chunk').select('bytes').where('file', '=', file).where('position', '=', position)
}

/** Bytes of a row of the answer in which PostgreSQL sends a chunk. */
const SLICE_SIZE = 32 * 1024

/**
 * A chunk in rows that are small: the driver gathers each row in buffers that double until it fits, and lets go of them,
 * which for a whole chunk is ten times its size. The chunk is taken out of its row once, as plain bytes, for all slices.
 */
function inSlices(db: Kysely<Schema>, file: number, position: number) {
  return db
    .with(
      (cte) => cte('chunk').materialized(),
      () => chunkOf(db, file, position).clearSelect().select(sql<Uint8Array>`bytes || ''::bytea`.as('bytes')),
    )
    .selectFrom(['chunk', sql<number>`generate_series(1, length(bytes), ${sql.lit(SLICE_SIZE)})`.as<'start'>('start')])
    .select(sql<Uint8Array>`substring(bytes from start for ${sql.lit(SLICE_SIZE)})`.as('bytes'))
    .orderBy(sql`start`)
}

/** Bytes in fixed-size chunk rows, each staged in a unit of its own and read alone. */
export function sqlFiles(database: Database): FileStore {
  const erase = createEraser(database)
  return {
    async stage(content, limit) {
      const staged_at = new Date().toISOString()
      const file = await database.stage(async (db) => {
        const { id } = await db.insertInto('file').values({ staged_at }).returning('id').executeTakeFirstOrThrow()
        return id
      })
      try {
        return { file, ...(await write(database, file, content, limit)) }
      } catch (error) {
        // What cannot be erased now is swept away later; the first error is the one to tell of.
        if (!isUnavailable(error)) await erase([file]).catch(() => {})
        throw error
      }
    },
    async discard(file) {
      await erase([file])
    },
    async *read(file, from, to) {
      for (let position = Math.floor(from / CHUNK_SIZE); position * CHUNK_SIZE <= to; position += 1) {
        const rows = await findChunk(database.reader, file, position)
        if (rows.length === 0) throw new Error(`File ${file} has no chunk ${position}`)
        let start = position * CHUNK_SIZE
        // Taken out one after the other, so that none is held longer than whoever reads needs it.
        for (let row = rows.shift(); row; row = rows.shift()) {
          const { length } = row.bytes
          const wanted = row.bytes.subarray(Math.max(0, from - start), Math.max(0, to - start + 1))
          if (wanted.length > 0) yield wanted
          start += length
        }
      }
    },
    async sweep(before) {
      let erased = 0
      for (let after = 0; ; ) {
        const looked = await database.reader
          .selectFrom('file')
          .select(['id', (is) => isUnnamed(is).as('is_unnamed')])
          .where('id', '>', after)
          .where('staged_at', '<', before)
          .orderBy('id')
          .limit(FILES_AT_ONCE)
          .execute()
        const last = looked.at(-1)
        if (!last) return erased
        after = last.id
        const unnamed = looked.filter((file) => file.is_unnamed).map(({ id }) => id)
        erased += await erase(unnamed)
        await nextTurn()
      }
    },
    check(before) {
      return database.patiently(async (db) => {
        const unnamed = await db
          .selectFrom('file')
          .select('id')
          .where('staged_at', '<', before)
          .where(isUnnamed)
          .execute()
        const strays = await db
          .selectFrom('file_chunk')
          .select('file as id')
          .distinct()
          .where((is) =>
            is.not(is.exists(is.selectFrom('file').select('id').whereRef('file.id', '=', 'file_chunk.file'))),
          )
          .execute()
        const orphans = [...unnamed, ...strays].map(({ id }) => id).toSorted((a, b) => a - b)
        return { damaged: await damagedFiles(db), orphans }
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
  let chunk: Buffer = Buffer.alloc(0)
  let filled = 0
  let position = 0
  const flush = async () => {
    const bytes = chunk.subarray(0, filled)
    await database.stage((db) => insertChunk(db, file, position, bytes))
    position += 1
    filled = 0
  }
  for await (const bytes of content) {
    if (position * CHUNK_SIZE + filled + bytes.length > limit) throw new DomainError('too_large')
    hash.update(bytes)
    for (let taken = 0; taken < bytes.length; ) {
      const part = bytes.subarray(taken, taken + CHUNK_SIZE - filled)
      if (chunk.length < filled + part.length) chunk = enlarged(chunk, filled, filled + part.length)
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

/** A buffer for at least `needed` bytes, with the first `filled` ones of `chunk`: no larger than what has come asks for. */
function enlarged(chunk: Buffer, filled: number, needed: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.min(CHUNK_SIZE, Math.max(needed, 2 * chunk.length)))
  chunk.copy(larger, 0, 0, filled)
  return larger
}

/** What `staged_at` is of a file that is being erased: earlier than any time, so that a sweep goes on with it. */
const GOING = ''

/** Files and chunks that are erased in one unit. */
const ERASED_AT_ONCE = 32

/**
 * Erases those of the files that no record names, a part at a time, each in a unit of its own; tells how many. The units do
 * not wait for the disk: what a crash brings back is marked as going, or is not, and is swept away later. However many
 * files are to go, one unit is run at a time: hundreds of uploads that end together would keep everybody else waiting.
 */
function createEraser(database: Database): (files: number[]) => Promise<number> {
  let last: Promise<void> | undefined
  const inTurn: Database['stage'] = (work) => {
    const result = last ? last.then(() => database.stage(work)) : database.stage(work)
    // Those that wait do not each find out that the database is gone.
    const ended = result.then(
      () => {},
      (error) => {
        if (isUnavailable(error)) throw error
      },
    )
    const forget = () => {
      if (last === ended) last = undefined
    }
    last = ended
    ended.then(forget, forget)
    return result
  }
  return async (files) => {
    if (files.length === 0) return 0
    let going = await inTurn((db) => markGoing(db, files))
    let erased = 0
    while (going.length > 0) {
      const part = going
      const { done, count } = await inTurn((db) => erasePart(db, part))
      going = going.slice(done)
      erased += count
    }
    return erased
  }
}

/** Marks those of the files that no record names, so that from then on none can: see `holdFile`. */
async function markGoing(db: Kysely<Schema>, files: number[]): Promise<number[]> {
  let ids = JSON.stringify(files)
  if (kindOf(db) === 'postgres') {
    // Whoever is naming a file has it locked. What they name is seen by the next statement only.
    const locked = db.selectFrom('file').select('id').where('id', 'in', numbers(db, ids)).forUpdate().skipLocked()
    ids = JSON.stringify((await locked.execute()).map(({ id }) => id))
  }
  const marked = await db
    .updateTable('file')
    .set({ staged_at: GOING })
    .where('id', 'in', numbers(db, ids))
    .where(isUnnamed)
    .returning('id')
    .execute()
  // In one order everywhere, so that two sweeps wait for each other and do not deadlock.
  return marked.map(({ id }) => id).toSorted((a, b) => a - b)
}

/** Erases a part of the marked files: the last chunks first, and the file itself when it has none left. */
async function erasePart(db: Kysely<Schema>, files: number[]): Promise<{ done: number; count: number }> {
  let [done, count, left] = [0, 0, ERASED_AT_ONCE]
  while (left > 0) {
    const file = files[done]
    if (file === undefined) break
    const [{ last } = { last: null }] = await findLastChunk(db, file)
    if (last === null) {
      const { numDeletedRows } = await db.deleteFrom('file').where('id', '=', file).executeTakeFirstOrThrow()
      done += 1
      count += Number(numDeletedRows)
      left -= 1
    } else {
      const end = db
        .deleteFrom('file_chunk')
        .where('file', '=', file)
        .where('position', '>', last - left)
      const { numDeletedRows } = await end.executeTakeFirstOrThrow()
      left -= Math.max(1, Number(numDeletedRows))
    }
  }
  return { done, count }
}

/**
 * Lets the running unit name a file: it is not erased until the unit has ended.
 *
 * @throws Error if the file is being erased, or gone.
 */
export async function holdFile(db: Kysely<Schema>, file: number): Promise<void> {
  const [found] = await findStaged(db, file)
  if (!found || found.staged_at === GOING) throw new Error(`File ${file} has been erased`)
}

/** Whether no record names the file. */
function isUnnamed(is: ExpressionBuilder<Schema, 'file'>) {
  return is.not(
    is.or([
      is.exists(is.selectFrom('document').select('file').whereRef('document.file', '=', 'file.id')),
      is.exists(is.selectFrom('threat_feed').select('file').whereRef('threat_feed.file', '=', 'file.id')),
      is.exists(is.selectFrom('traffic_upload').select('raw_file').whereRef('traffic_upload.raw_file', '=', 'file.id')),
    ]),
  )
}

/** Files that are looked at at a time. */
const FILES_AT_ONCE = 500

/** The named files whose chunks do not add up to what is said of them, or do not follow each other. */
async function damagedFiles(db: Kysely<Schema>): Promise<number[]> {
  const damaged: number[] = []
  for (let after = 0; ; ) {
    const { rows } = await sql<{ id: number; size: number; found: number; chunks: number; last: number }>`
      select id, size, (select coalesce(sum(length(bytes)), 0) from file_chunk where file = id) as found,
        (select count(*) from file_chunk where file = id) as chunks,
        (select coalesce(max(position), -1) from file_chunk where file = id) as last
      from (
        select file as id, size from document union all select file, size from threat_feed
        union all select raw_file, raw_size from traffic_upload where raw_file is not null
      ) as named where id > ${after} order by id limit ${FILES_AT_ONCE}
    `.execute(db)
    for (const row of rows) if (row.found !== row.size || row.last !== row.chunks - 1) damaged.push(row.id)
    const last = rows.at(-1)
    if (!last) return damaged
    after = last.id
  }
}
