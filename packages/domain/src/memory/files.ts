import type { FileStore } from '../files/file-store.ts'
import type { Needs } from '../ports.ts'
import { bounded } from '../stream.ts'
import { compare } from './page-of.ts'
import type { State } from './state.ts'

type FileRow = { chunks: Uint8Array[]; staged_at: string }

/** Outside of `state`, since bytes are no part of a transaction; the records in it say which are still needed. */
export function memoryFiles(ports: Needs<'now' | 'newSha256'>, state: State): FileStore {
  const files = new Map<number, FileRow>()
  let last = 0

  /** The files that records name, with their sizes. */
  function namedFiles(): Map<number, number> {
    const documents = [...state.documents.values()].map(({ file, size }) => [file, size] as const)
    const snapshots = [...state.threatFeeds.values()].map(({ snapshot }) => [snapshot.file, snapshot.size] as const)
    const traffic = [...state.trafficUploads.values()].flatMap(({ raw }) =>
      raw ? [[raw.file, raw.size] as const] : [],
    )
    return new Map([...documents, ...snapshots, ...traffic])
  }
  function unnamedFiles(before: string): number[] {
    const named = namedFiles()
    return [...files].filter(([file, { staged_at }]) => staged_at < before && !named.has(file)).map(([file]) => file)
  }
  return {
    async stage(content, limit) {
      const hash = ports.newSha256()
      const chunks: Uint8Array[] = []
      let size = 0
      for await (const bytes of bounded(content, limit)) {
        hash.update(bytes)
        size += bytes.length
        chunks.push(new Uint8Array(bytes))
      }
      last += 1
      files.set(last, { chunks, staged_at: ports.now().toISOString() })
      return { file: last, size, sha256: hash.digest() }
    },

    async discard(file) {
      if (!namedFiles().has(file)) files.delete(file)
    },

    async *read(file, from, to) {
      let start = 0
      const { chunks } = files.get(file) ?? {}
      if (!chunks) throw new Error(`There is no file ${file}`)
      for (const chunk of chunks) {
        const bytes = chunk.slice(Math.max(0, from - start), Math.max(0, to + 1 - start))
        if (bytes.length > 0) yield bytes
        start += chunk.length
      }
    },

    async sweep(before) {
      const unnamed = unnamedFiles(before)
      for (const file of unnamed) files.delete(file)
      return unnamed.length
    },

    async check(before) {
      const damaged = [...namedFiles()].filter(([file, size]) => sizeOf(files.get(file)) !== size).map(([file]) => file)
      return { damaged: damaged.toSorted(compare), orphans: unnamedFiles(before).toSorted(compare) }
    },
  }
}

function sizeOf(row: FileRow | undefined): number | undefined {
  return row?.chunks.reduce((size, { length }) => size + length, 0)
}
