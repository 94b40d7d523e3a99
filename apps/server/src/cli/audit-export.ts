import { open } from 'node:fs/promises'
import { exportEvents, type Ports } from '@security-management/domain'
import type { Command } from './command.ts'
import type { OnProgress } from './progress.ts'

/** Where the lines go. */
type Sink = { write(text: string): Promise<unknown>; close(): Promise<void> }

/** Writes the audit trail as lines of JSON that can be checked without the database. */
export const auditExportCommand: Command = {
  name: 'audit export',
  about: 'writes the audit trail to a file, one JSON object a line, for audit verify or any other program',
  options: {
    since: { value: 'TIME', about: 'begins with the first row of this time (ISO 8601)' },
    out: { value: 'FILE.jsonl', about: 'where to; - is standard output', required: true },
    force: { about: 'replaces a file that is there' },
  },
  async run({ values: { since, out = '' }, flags, withPorts, print, progress, stdout }) {
    const toStandardOutput = out === '-'
    const result = await withPorts(async ({ ports }) => {
      const sink = toStandardOutput
        ? { write: async (text: string) => stdout.write(text), close: async () => {} }
        : await fileOf(out, flags.has('force'))
      try {
        return await write(ports, since, sink, progress('exporting the audit trail'))
      } finally {
        await sink.close()
      }
    })
    const { rows, hash } = result
    const text =
      rows === 0 ? 'there are no rows to export' : `exported ${rows} rows to ${out}; the newest has the hash ${hash}`
    if (!toStandardOutput) print({ text, json: { rows, hash: rows === 0 ? null : hash, out } })
  },
}

async function fileOf(path: string, mayReplace: boolean): Promise<Sink> {
  const file = await open(path, mayReplace ? 'w' : 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === 'EEXIST'
        ? `${path} is there already; --force replaces it`
        : `${path} cannot be written: ${error.message}`,
    )
  })
  return {
    write: (text) => file.appendFile(text),
    async close() {
      await file.sync()
      await file.close()
    },
  }
}

async function write(ports: Ports, since: string | undefined, sink: Sink, onProgress: OnProgress) {
  let rows = 0
  let hash = ''
  for await (const part of exportEvents(ports, since)) {
    await sink.write(`${part.lines.join('\n')}\n`)
    rows = part.done
    hash = part.hash
    onProgress(part.done, part.total)
  }
  return { rows, hash }
}
